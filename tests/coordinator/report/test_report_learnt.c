#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Their shares may add up to more than all. */
static void shares_are_of_each_tunable_alone(void **state)
{
    struct lessons_tunable tunables[] = { { .name = "BLOCK", .share = 0.8 },
                                          { .name = "UNROLL", .share = 0.7 } };
    struct lessons lessons = { .timed = 4,
                               .tunables = tunables,
                               .n_tunables = 2,
                               .importance = { .sd = 1 } };
    char *text;

    (void)state;
    setenv("COLUMNS", "100", 1);
    text = printed(&lessons);
    assert_string_equal(text, "\nWhat was learnt\n"
                              "BLOCK explains 80 %, UNROLL 70 % of the "
                              "variance of log time, each taken alone.\n");
    free(text);

    lessons.importance.adjusted = true;
    text = printed(&lessons);
    assert_non_null(strstr(text, "UNROLL 70 % of the variance of log time."));
    free(text);

    lessons.importance.adjusted = false;
    lessons.n_tunables = 1;
    text = printed(&lessons);
    assert_non_null(
        strstr(text, "BLOCK explains 80 % of the variance of log time."));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_of_each_tunable_alone),
        cmocka_unit_test(a_heading_stands_only_above_something),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
