#include "coordinator/print/html_page.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/print/table.h"
#include "coordinator/text/terminal.h"

struct html_page {
    FILE *out, *stream;
    char *text; /* of the stream */
    size_t len, taken;
};

static struct html_page *the_page; /* the one that is open */

void html_page_escape(const char *text, FILE *out)
{
    char *clean = terminal_clean(mem_strdup(text), true);

    for (const char *c = clean; *c; c++)
        switch (*c) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            fputc(*c, out);
        }
    free(clean);
}

/* One paragraph for each run of non-empty lines. */
static void put_paragraphs(char *text, FILE *out)
{
    while (*text) {
        char *end;

        text += strspn(text, "\n");
        end = strstr(text, "\n\n");
        if (!end)
            end = text + strlen(text);
        if (end > text) {
            size_t len = (size_t)(end - text);
            char *block = mem_dup(text, len - (end[-1] == '\n'));

            fputs("<p>", out);
            html_page_escape(block, out);
            fputs("</p>\n", out);
            free(block);
        }
        text = end;
    }
}

/* Convert what was printed since the last call. */
static void take_text(struct html_page *page)
{
    char *text;

    fflush(page->stream);
    text = mem_dup(page->text + page->taken, page->len - page->taken);
    page->taken = page->len;
    put_paragraphs(text, page->out);
    free(text);
}

struct html_page *html_page_open(FILE *out, const struct html_page_head *head)
{
    struct html_page *page = mem_new(1, sizeof(*page));

    assert(!the_page);
    page->out = out;
    page->stream = mem_stream(&page->text, &page->len);
    fprintf(out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n"
            "<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n"
            "<meta name=\"viewport\""
            " content=\"width=device-width, initial-scale=1\">\n"
            "<style>%s</style>\n<title>",
            head->policy, head->style);
    html_page_escape(head->title, out);
    fputs("</title>\n</head>\n<body>\n<h1>", out);
    html_page_escape(head->title, out);
    fputs("</h1>\n", out);
    the_page = page;
    return page;
}

FILE *html_page_stream(struct html_page *page)
{
    return page->stream;
}

FILE *html_page_markup(struct html_page *page)
{
    take_text(page);
    return page->out;
}

void html_page_close(struct html_page *page)
{
    take_text(page);
    fputs("</body>\n</html>\n", page->out);
    mem_stream_close(page->stream, &page->text);
    free(page->text);
    free(page);
    the_page = NULL;
}

bool html_page_took(FILE *to, const struct table *table)
{
    if (!the_page || the_page->stream != to)
        return false;
    take_text(the_page);
    table_html(table, the_page->out);
    return true;
}
