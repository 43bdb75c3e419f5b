/* The report at a glance: the answer, what it rests on and what it cost. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/mem.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_external.h"
#include "coordinator/conclusion/conclusion_print.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/screen.h"
#include "coordinator/report/report_internal.h"
#include "coordinator/report/report_print.h"
#include "coordinator/report/report_sections.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/report_gpus.h"

#define LABEL 10       /* columns */
#define TEXT_MAX 65536 /* bytes of text */

/* The model, if all that measured are of one; else NULL. */
static const char *model_of(const struct report *report)
{
    const char *name = report->n_gpus ? report->gpus[0].name : NULL;

    for (size_t i = 1; name && i < report->n_gpus; i++)
        if (!report->gpus[i].name || strcmp(report->gpus[i].name, name) != 0)
            return NULL;
    return name && *name ? name : NULL;
}

static void put_title(const struct report *report, FILE *to)
{
    const char *model = model_of(report);
    char *title =
        model ? mem_printf("%s on %s (%s)", report->name, model, report->arch)
              : mem_printf("%s on %s", report->name, report->arch);

    screen_put(to, SCREEN_STRONG, title);
    fputs("\n\n", to);
    free(title);
}

/* ---- the answer */

/* The tunables in which a configuration differs from the baseline. */
static char *difference(const struct report_config *config,
                        const struct report_config *baseline)
{
    struct buf text;

    buf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < config->params.n; i++) {
        const struct stored_param *is = &config->params.items[i];
        const struct stored_param *was =
            stored_params_find(&baseline->params, is->name);

        if (!was || strcmp(is->text, was->text) != 0)
            buf_printf(&text, "%s%s=%s", text.len ? " " : "", is->name,
                       is->text);
    }
    return text.len ? text.bytes : NULL;
}

/* The name of each entry, by what it changes in the baseline. */
static char **names_of(const struct conclusion *c)
{
    char **names = mem_new(c->n + 1, sizeof(*names));

    for (size_t i = 0; i < c->n; i++) {
        if (i > 0 && c->entries[i].config && c->entries[0].config)
            names[i] = difference(c->entries[i].config, c->entries[0].config);
        if (!names[i])
            names[i] = mem_strdup(c->entries[i].name);
    }
    return names;
}

static enum screen_style style_of(const struct conclusion *c)
{
    return c->state != CONCLUSION_DONE ? SCREEN_DOUBT
           : c->success                ? SCREEN_GOOD
                                       : SCREEN_PLAIN;
}

static void put_sentences(const struct conclusion *c, FILE *to)
{
    char **names = names_of(c);
    const char *const *given = (const char *const *)names;
    char *text = conclusion_sentence_of(c, NULL, given), *sentence;

    screen_put(to, style_of(c), "Answer");
    fprintf(to, "%*s", LABEL - (int)strlen("Answer"), "");
    sentence = mem_printf("%s.", text);
    paragraph_put(to, LABEL, LABEL, sentence);
    free(sentence);
    free(text);
    for (size_t i = 1; c->blocks.complete > 0 && i < c->n_shapes; i++) {
        text = conclusion_sentence_of(c, &c->shapes[i], given);
        if (text)
            paragraph_labelled(to, LABEL, "", "At %s: %s.", c->shapes[i].name,
                               text);
        free(text);
    }
    for (size_t i = 0; i < c->n; i++)
        free(names[i]);
    free(names);
}

static void put_screened(const struct report *report, FILE *to)
{
    char *text = NULL;
    size_t len = 0;
    FILE *memory = mem_stream(&text, &len);

    if (report_ranking_size(report))
        report_ranking_screening(report, memory);
    else
        fputs("No configuration has a correct result and a time.", memory);
    mem_stream_close(memory, &text);
    paragraph_labelled(to, LABEL, "Answer", "%s", text);
    free(text);
}

static void put_evidence(const struct conclusion *c, FILE *to)
{
    const char *checked = c->n_shapes > 0 ? c->shapes[0].checked : NULL;
    char *missing = conclusion_external_missing(c);

    if (c->blocks.complete > 0)
        paragraph_labelled(
            to, LABEL, "Rests on",
            "%d blocks of %d samples on %zu GPU%s, %d dropped.%s%s%s",
            c->blocks.complete, c->confirmation.samples, c->n_gpus,
            c->n_gpus == 1 ? "" : "s", c->blocks.broken, checked ? " " : "",
            checked ? checked : "", checked ? "." : "");
    if (c->blocks.complete > 0 && missing)
        paragraph_labelled(to, LABEL, "Without", "%s.", missing);
    free(missing);
}

/* ---- what was done for it */

static void put_tried(const struct report *report, FILE *to)
{
    int64_t passed = report->counts.passed, tried = report_tried(report);
    char *strategy = report_head_strategy(report);
    const char *outside =
        report->counts.outside ? ", and a baseline outside the axes" : "";
    bool named = strategy && *strategy;

    if (tried < passed)
        paragraph_labelled(to, LABEL, "Tried",
                           "%" PRId64 " of the %" PRId64
                           " configurations that pass the gates%s%s%s%s; "
                           "nothing is known of the other %" PRId64 ".",
                           tried, passed, named ? " (" : "",
                           named ? strategy : "", named ? ")" : "", outside,
                           passed - tried);
    else
        paragraph_labelled(
            to, LABEL, "Tried",
            "%s %" PRId64 " configuration%s, of %" PRId64 "%s%s%s%s.",
            passed == 1 ? "the" : "all", passed,
            passed == 1 ? " that passes the gates" : "s that pass the gates",
            report->counts.configurations, named ? " (" : "",
            named ? strategy : "", named ? ")" : "", outside);
    free(strategy);
}

static void put_outcomes(const struct report *report, FILE *to)
{
    struct buf text;

    buf_init(&text, TEXT_MAX);
    for (int i = 0; i < REPORT_SHOWN_COUNTS; i++) {
        int64_t count;
        const char *name = report_shown_count(report, i, &count);

        if (count)
            buf_printf(&text, "%s%" PRId64 " %s", text.len ? ", " : "", count,
                       name);
    }
    if (text.len)
        paragraph_labelled(to, LABEL, "Results", "%s.", text.bytes);
    buf_fini(&text);
}

static void put_cost(const struct report_view *view, FILE *to)
{
    const struct report_cost *cost = view->cost;
    bool apart = view->conclusion->confirmation.proof.hours > 0 &&
                 cost->proof.held_ns == 0;
    char *dollars = NULL;

    if (cost->total_hours <= 0)
        return;
    if (cost->unpriced == 0)
        dollars = mem_printf("$%.4f", cost->total_usd);
    else if (cost->unpriced < cost->n_hosts)
        dollars = mem_printf("$%.4f and what %zu unpriced host%s cost%s",
                             cost->priced_usd, cost->unpriced,
                             cost->unpriced == 1 ? "" : "s",
                             cost->unpriced == 1 ? "s" : "");
    else
        dollars = mem_strdup("unpriced");
    paragraph_labelled(to, LABEL, "Cost", "%.4f h of hosts, %s%s.",
                       cost->total_hours, dollars,
                       apart ? "; the proof at the fuzz shapes has a "
                               "database and a cost of its own"
                             : "");
    free(dollars);
}

static void put_foreseen(const struct report_view *view, FILE *to)
{
    char *text = report_foreseen_text(view);

    if (text)
        paragraph_labelled(to, LABEL, "Estimated", "%s.", text);
    free(text);
}

static void put_notes(const struct report *report, FILE *to)
{
    char begun[CLOCK_ISO_BYTES];

    clock_iso(report->sweep.created_utc, begun);
    paragraph_labelled(to, LABEL, "Begun", "%.19sZ%s%s", begun,
                       report->sweep.ending[0] ? "; the last run ended: " : "",
                       report->sweep.ending);
    if (report->sweep.recorded_on)
        paragraph_labelled(to, LABEL, "Note",
                           "The times were recorded on %s and are replayed; "
                           "nothing was measured on these hosts.",
                           report->sweep.recorded_on[0]
                               ? report->sweep.recorded_on
                               : "an unnamed device");
    if (report_is_emulated(report))
        paragraph_labelled(to, LABEL, "Note", "%s", REPORT_HEAD_EMULATED);
    if (report->counts.stale)
        paragraph_labelled(to, LABEL, "Note",
                           "%" PRId64 " older results, of other sources or "
                           "another way of measuring, are not compared.",
                           report->counts.stale);
}

static void put_more(const struct report_view *view, FILE *to)
{
    char *names = report_sections_names(report_sections_present(view));

    fputc('\n', to);
    paragraph_print(to, 2, "More: --show %s or all (fa-coord report --help).",
                    names);
    free(names);
}

void report_summary_answer(const struct report_view *view, FILE *to)
{
    if (view->conclusion->state != CONCLUSION_NONE)
        put_sentences(view->conclusion, to);
    else
        put_screened(view->report, to);
}

void report_summary(const struct report_view *view, FILE *to)
{
    put_title(view->report, to);
    report_summary_answer(view, to);
    put_evidence(view->conclusion, to);
    put_tried(view->report, to);
    put_outcomes(view->report, to);
    put_cost(view, to);
    put_foreseen(view, to);
    put_notes(view->report, to);
    report_best_print(view, to);
    report_learnt_print(view, to);
    put_more(view, to);
}
