#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "coordinator/lessons/lessons.h"
#include "coordinator/report/report_internal.h"
#include "coordinator/report/report_print.h"

static char *printed(struct lessons *lessons)
{
    struct report_view view = { .lessons = lessons };
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    report_learnt_print(&view, to);
    fclose(to);
    return text;
}

static void a_heading_stands_only_above_something(void **state)
{
    struct lessons_tunable tunable = { .name = "BLOCK", .share = 0.005 };
    struct lessons lessons = { .timed = 4,
                               .tunables = &tunable,
                               .n_tunables = 1,
                               .importance = { .sd = 1 } };
    char *text = printed(&lessons);

    (void)state;
    assert_string_equal(text, "");
    free(text);

    tunable.dead = DEAD_TUNABLES_YES;
    text = printed(&lessons);
    assert_string_equal(text, "\nWhat was learnt\n"
                              "Without effect on the machine code: BLOCK.\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heading_stands_only_above_something),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
