#include "coordinator/page/page.h"

#include <stdlib.h>
#include <string.h>

#include "common/embed.h"
#include "common/mem.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/page/page_data.h"
#include "coordinator/page/page_plot.h"
#include "coordinator/page/page_policy.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"
#include "coordinator/print/html_page.h"

#define SCRIPTS_MAX 32

/* Made by the build.  The library is D3's copyright and D3, or nothing. */
extern const struct embed page_files[], page_library[];

struct scripts {
    struct page_policy_text texts[SCRIPTS_MAX];
    size_t n;
};

static const char *text_of(const struct embed *file)
{
    return (const char *)file->bytes;
}

const char *page_style(void)
{
    for (const struct embed *file = page_files; file->name; file++)
        if (strstr(file->name, ".css"))
            return text_of(file);
    return "";
}

bool page_has_pictures(void)
{
    return page_library[0].name && page_library[1].name;
}

static void choose_scripts(struct scripts *scripts)
{
    scripts->n = 0;
    if (!page_has_pictures())
        return;
    scripts->texts[scripts->n++] =
        (struct page_policy_text){ { "/*\n", text_of(&page_library[0]), "*/\n",
                                     text_of(&page_library[1]) } };
    for (const struct embed *file = page_files;
         file->name && scripts->n < SCRIPTS_MAX; file++)
        if (strstr(file->name, ".js"))
            scripts->texts[scripts->n++] =
                (struct page_policy_text){ { text_of(file) } };
}

static void put_scripts(const struct scripts *scripts, FILE *to)
{
    for (size_t i = 0; i < scripts->n; i++) {
        fputs("<script>", to);
        for (size_t p = 0; p < 4 && scripts->texts[i].parts[p]; p++)
            fputs(scripts->texts[i].parts[p], to);
        fputs("</script>\n", to);
    }
}

/* The JSON without the blanks and line ends between its tokens, which would be
 * a twelfth of the page.  '<' stands in texts only, and an escaped one cannot
 * end a script. */
static void put_compact(const char *json, FILE *to)
{
    bool in_text = false;

    for (const char *at = json; *at; at++) {
        if (!in_text && (*at == ' ' || *at == '\n'))
            continue;
        if (*at == '<')
            fputs("\\u003c", to);
        else
            fputc(*at, to);
        if (in_text && *at == '\\')
            fputc(*++at, to);
        else if (*at == '"')
            in_text = !in_text;
    }
}

static void put_data(const struct report_view *view,
                     const struct page_history *history, FILE *to)
{
    char *json;
    size_t len;
    FILE *memory = mem_stream(&json, &len);

    page_data_json(view, history, memory);
    fclose(memory);
    fputs("<script type=\"application/json\" id=\"data\">", to);
    put_compact(json, to);
    fputs("</script>\n", to);
    free(json);
}

static void put_top(const struct report_view *view, FILE *to)
{
    fputs("<p id=\"answer\">", to);
    html_page_escape(view->conclusion->sentence, to);
    fputs("</p>\n", to);
    if (page_has_pictures())
        fputs("<noscript><p class=\"note\">Scripts are off: this is the whole"
              " report, with one picture; the others need scripts."
              "</p></noscript>\n",
              to);
    else
        fputs("<p class=\"note\">This fa-coord was built without D3 (Debian's"
              " package node-d3), so the page has one picture and the"
              " tables.</p>\n",
              to);
    page_plot_ranking(view->report, view->conclusion, to);
    fputs("<section id=\"report\"><h2>Report in full</h2>\n", to);
}

void page_write(const struct report_view *view,
                const struct page_history *history, const char *version,
                FILE *to)
{
    char *title =
        mem_printf("%s on %s", view->report->name, view->report->arch);
    struct scripts scripts;
    struct page_policy_text css = { { page_style() } };
    char *policy;
    struct html_page *page;
    FILE *markup;

    choose_scripts(&scripts);
    policy = page_policy(scripts.texts, scripts.n, &css, version);
    page = html_page_open(
        to, &(struct html_page_head){ title, policy, css.parts[0] });
    put_top(view, html_page_markup(page));
    report_table(view, html_page_stream(page));
    report_cost_table(view, html_page_stream(page));
    markup = html_page_markup(page);
    fputs("</section>\n", markup);
    if (version)
        fprintf(markup, "<p id=\"live\" data-version=\"%s\"></p>\n", version);
    if (page_has_pictures())
        put_data(view, history, markup);
    put_scripts(&scripts, markup);
    html_page_close(page);
    free(policy);
    free(title);
}
