/* The lines of several children. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "coordinator/model_sweeps/model_runs.h"

static void the_label_stands_behind_the_time(void **state)
{
    static const struct {
        const char *line, *want;
    } rows[] = {
        { "2026-11-24T01:02:03Z a: ready",
          "2026-11-24T01:02:03Z l4: a: ready\n" },
        { "2026-11-24T01:02:03 a", "l4: 2026-11-24T01:02:03 a\n" },
        { "2026-11-24T01:02:03Z", "l4: 2026-11-24T01:02:03Z\n" },
        { "fa-coord: no host", "l4: fa-coord: no host\n" },
        { "", "l4: \n" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buf out;

        buf_init(&out, 200);
        model_runs_line("l4", rows[i].line, strlen(rows[i].line), &out);
        assert_string_equal(buf_text(&out), rows[i].want);
        buf_fini(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_label_stands_behind_the_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
