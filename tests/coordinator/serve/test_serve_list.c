#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/serve/serve_list.h"
#include "coordinator/serve/serve_source.h"

static struct serve_summary summary_of(char *name, char *device, double best_s)
{
    return (struct serve_summary){ .name = name,
                                   .device = device,
                                   .arch = "sm_89",
                                   .shape = "S512",
                                   .sentence = "It is faster.",
                                   .best_key = "0123456789abcdef",
                                   .best_s = best_s,
                                   .baseline_s = 0.5,
                                   .hours = 1.5,
                                   .usd = (double)NAN,
                                   .settled = 30,
                                   .total = 40 };
}

static void only_like_is_compared_with_like(void **state)
{
    struct serve_summary first = summary_of("gemm", "cuda", 0.25),
                         slower = summary_of("gemm", "cuda", 0.3125),
                         other = summary_of("norm", "cuda", 0.3125),
                         emulated = summary_of("gemm", "cpu", 0.3125),
                         empty = { 0 };

    (void)state;
    assert_true(serve_list_ratio(&slower, &first) == 1.25);
    assert_true(isnan(serve_list_ratio(&other, &first)));
    assert_true(isnan(serve_list_ratio(&emulated, &emulated)));
    assert_true(isnan(serve_list_ratio(&empty, &first)));
    assert_true(isnan(serve_list_ratio(&first, &empty)));
}

static void a_list_is_asked_for_again_while_there_is_more_to_come(void **state)
{
    struct serve_source sources[2] = { { .path = "a.db" }, { .path = "b.db" } };

    (void)state;
    assert_false(serve_list_is_live(sources, 2));
    sources[1].stamp.running = true;
    assert_true(serve_list_is_live(sources, 2));
    sources[1].stamp.running = false;
    strcpy(sources[0].problem.text, "it is damaged");
    assert_true(serve_list_is_live(sources, 2));
}

static void a_list_links_compares_and_escapes(void **state)
{
    struct serve_source sources[3] = {
        { .path = "a<b>.db", .summary = summary_of("gemm", "cuda", 0.25) },
        { .path = "b.db",
          .summary = summary_of("gemm", "cuda", 0.3125),
          .problem = { "b.db was deleted" } },
        { .path = "c.db", .problem = { "there is no sweep yet" } },
    };
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    (void)state;
    sources[1].stamp.running = true;
    serve_list_write(sources, 3, to);
    fclose(to);
    assert_non_null(strstr(text, "<a href=\"1/\">a&lt;b&gt;.db</a>\n"));
    assert_non_null(strstr(text, "<a href=\"2/\">b.db</a> (running)"));
    assert_non_null(strstr(text, "<p>b.db was deleted</p>"));
    assert_non_null(strstr(text, "<p>there is no sweep yet</p>"));
    assert_non_null(strstr(text, ">1.250</td>"));
    assert_non_null(strstr(text, ">01234567</td>"));
    /* which may be wider than the window */
    assert_non_null(strstr(text, "<div class=\"scroll\" tabindex=\"0\">\n"
                                 "<div><table>"));
    assert_null(strstr(text, "<b>"));
    assert_null(strstr(text, "nan"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_like_is_compared_with_like),
        cmocka_unit_test(a_list_is_asked_for_again_while_there_is_more_to_come),
        cmocka_unit_test(a_list_links_compares_and_escapes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
