#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/print/html_page.h"
#include "coordinator/print/table.h"

static const struct html_page_head plain = { .title = "t",
                                             .policy = "default-src 'none'",
                                             .style = "p { margin: 0 }" };

static const char *body_of(const char *html)
{
    const char *body = strstr(html, "</h1>\n");

    assert_non_null(body);
    return body + strlen("</h1>\n");
}

static struct table *small_table(void)
{
    struct table *table = table_new();

    table_column(table, 'l', "<name>");
    table_column(table, 'r', "n");
    table_cell(table, "a & \"b\"");
    table_cell(table, "1");
    return table;
}

static void lines_and_tables_keep_their_order(void **state)
{
    struct table *table = small_table();
    char *html;
    size_t len;
    FILE *out = open_memstream(&html, &len);
    struct html_page *page = html_page_open(out, &plain);
    FILE *to = html_page_stream(page);

    (void)state;
    fprintf(to, "first\nsecond\n\nthird\n\n");
    table_print(table, to);
    fprintf(to, "last\n");
    html_page_close(page);
    fclose(out);
    assert_string_equal(
        body_of(html),
        "<p>first\nsecond</p>\n<p>third</p>\n"
        "<div><table>\n<thead><tr><th>&lt;name&gt;</th>"
        "<th class=\"r\">n</th></tr></thead>\n<tbody>\n"
        "<tr><td>a &amp; &quot;b&quot;</td><td class=\"r\">1</td></tr>\n"
        "</tbody>\n</table></div>\n<p>last</p>\n</body>\n</html>\n");
    free(html);
    table_free(table);
}

static void nothing_that_is_printed_is_markup(void **state)
{
    char *html;
    size_t len;
    FILE *out = open_memstream(&html, &len);
    struct html_page *page = html_page_open(
        out, &(struct html_page_head){ .title = "</title><script>x()</script>",
                                       .policy = "default-src 'none'",
                                       .style = "" });

    (void)state;
    fprintf(html_page_stream(page),
            "<script src='http://x'>\033[31m\x01\x7f\xff\xc2\x9b</script>");
    html_page_close(page);
    fclose(out);
    assert_null(strstr(html, "<script"));
    assert_non_null(strstr(html, "<title>&lt;/title&gt;&lt;script&gt;x()"));
    assert_string_equal(body_of(html),
                        "<p>&lt;script src=&#39;http://x&#39;&gt;?[31m????"
                        "&lt;/script&gt;</p>\n</body>\n</html>\n");
    free(html);
}

static void markup_keeps_its_place_and_the_head_is_the_callers(void **state)
{
    char *html;
    size_t len;
    FILE *out = open_memstream(&html, &len);
    struct html_page *page = html_page_open(out, &plain);

    (void)state;
    fprintf(html_page_stream(page), "before\n");
    fputs("<hr>\n", html_page_markup(page));
    fprintf(html_page_stream(page), "behind\n");
    html_page_close(page);
    fclose(out);
    assert_non_null(strstr(html, "content=\"default-src 'none'\">"));
    assert_non_null(strstr(html, "<style>p { margin: 0 }</style>"));
    assert_string_equal(
        body_of(html),
        "<p>before</p>\n<hr>\n<p>behind</p>\n</body>\n</html>\n");
    free(html);
}

static void other_streams_get_text_while_a_page_is_open(void **state)
{
    struct table *table = small_table();
    char *html, *text;
    size_t html_len, text_len;
    FILE *out = open_memstream(&html, &html_len);
    FILE *to = open_memstream(&text, &text_len);
    struct html_page *page = html_page_open(out, &plain);

    (void)state;
    table_print(table, to);
    html_page_close(page);
    fclose(out);
    fclose(to);
    assert_string_equal(text, "<name>   n\na & \"b\"  1\n");
    assert_string_equal(body_of(html), "</body>\n</html>\n");
    free(html);
    free(text);
    table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_tables_keep_their_order),
        cmocka_unit_test(nothing_that_is_printed_is_markup),
        cmocka_unit_test(markup_keeps_its_place_and_the_head_is_the_callers),
        cmocka_unit_test(other_streams_get_text_while_a_page_is_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
