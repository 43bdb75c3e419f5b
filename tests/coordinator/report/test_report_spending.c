/* test_report_spending.c - what is not known is not called unpriced */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <math.h>

#include <cmocka.h>

#include "coordinator/costs/costs.h"
#include "coordinator/report/report_print.h"

static void only_a_known_duration_can_lack_a_price(void **state)
{
    char none[] = "";
    struct costs_line lines[] = {
        { COSTS_SPENT, none, "failures", -1, 12, NAN },
        { COSTS_SAVED, none, "gates", 10, NAN, NAN },
    };
    const struct costs costs = { lines, 2 };
    const struct report_view view = { .costs = &costs };
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    (void)state;
    assert_non_null(to);
    report_spending_table(&view, to);
    fclose(to);
    assert_string_equal(text,
                        "\n"
                        "spent on                     n  seconds       USD\n"
                        "configurations that failed        12.00  unpriced\n"
                        "saved by gates              10        -         -\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_known_duration_can_lack_a_price),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
