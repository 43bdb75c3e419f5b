#include "tests/coordinator/compare/compare_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/mem.h"
#include "coordinator/compare/compare.h"

static void open_side(const char *path, struct compare_side *side,
                      const char *remedy)
{
    struct err err = { "" };

    if (compare_side_open(path, side, &err) < 0)
        fail_msg("%s%s", err.text, remedy);
}

void compare_pair_open_fixture(const char *name, struct compare_side *side)
{
    char *path =
        mem_printf(FA_SOURCE_DIR "/tests/fixtures/compare/%s.db", name);

    open_side(path, side,
              "; make it again: build/dev/tests/compare_fixtures "
              "tests/fixtures/compare");
    free(path);
}

void compare_pair_make_side(const struct compare_plan *plan,
                            struct compare_side *side)
{
    static const char *const ends[] = { "", "-wal", "-shm", ".lock" };
    char folder[] = "/tmp/fa_compare_XXXXXX";
    char *path;

    assert_non_null(mkdtemp(folder));
    path = mem_printf("%s/%s", folder, "side.db");
    compare_fixture(path, plan);
    open_side(path, side, "");
    side->file.path = "side.db";
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char *name = mem_printf("%s%s", path, ends[i]);

        (void)unlink(name); /* not all of them are there */
        free(name);
    }
    rmdir(folder);
    free(path);
}

void compare_pair_make(struct compare_plan a, struct compare_plan b,
                       struct compare_pair *out)
{
    const struct compare_rules rules = COMPARE_RULES;

    *out = (struct compare_pair){ .rc = 0 };
    compare_pair_make_side(&a, &out->a);
    compare_pair_make_side(&b, &out->b);
    out->rc = compare_make(&out->a, &out->b, &rules, &out->compare, &out->err);
}

void compare_pair_end(struct compare_pair *pair)
{
    compare_free(pair->compare);
    compare_side_close(&pair->a);
    compare_side_close(&pair->b);
}

const struct compare_plan compare_pair_calm = {
    .seed = 11, .factor = 1, .noise = 0.005, .blocks = 8
};
const struct compare_plan compare_pair_calm_too = {
    .seed = 12, .factor = 1, .noise = 0.005, .blocks = 8
};
