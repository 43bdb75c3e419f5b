#include "coordinator/report/report_sections.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/outcome.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_print.h"
#include "coordinator/inspect/profile.h"
#include "coordinator/lessons/lessons.h"
#include "coordinator/lessons/lessons_print.h"
#include "coordinator/report/report_internal.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/text/suggest.h"

#define NAMES_MAX 1024 /* bytes of text */

static bool always(const struct report_view *view)
{
    (void)view;
    return true;
}

static bool has_ranking(const struct report_view *view)
{
    return report_ranking_size(view->report) > 0;
}

static bool has_confirmation(const struct report_view *view)
{
    return has_ranking(view) && view->conclusion->state != CONCLUSION_NONE;
}

static void print_confirmation(const struct report_view *view, FILE *to)
{
    conclusion_tables_print(view->conclusion, to);
}

static bool has_gpus(const struct report_view *view)
{
    return has_ranking(view) && report_gpus_has(view->report);
}

static void print_gpus(const struct report_view *view, FILE *to)
{
    report_gpus_table(view->report, to);
}

static bool has_floors(const struct report_view *view)
{
    return has_ranking(view) && report_roofline_has(view->report);
}

static void print_floors(const struct report_view *view, FILE *to)
{
    report_roofline_table(view->report, to);
}

static bool has_profiles(const struct report_view *view)
{
    return has_ranking(view) && view->profiles && view->profiles->n > 0;
}

static void print_profiles(const struct report_view *view, FILE *to)
{
    profile_print(view->profiles, view->report, to);
}

static bool has_failures(const struct report_view *view)
{
    const int64_t *outcomes = view->report->counts.outcomes;

    for (int i = 0; i < OUTCOMES_OF_CONFIG; i++) {
        int64_t of_gates =
            i == OUTCOME_CONSTRAINTS ? report_rejected(view->report) : 0;

        if (outcomes[i] > of_gates && i != OUTCOME_CORRECT &&
            i != OUTCOME_PENDING)
            return true;
    }
    return false;
}

static bool has_lessons(const struct report_view *view)
{
    return view->lessons && view->lessons->timed + view->lessons->failed > 0;
}

static void print_lessons(const struct report_view *view, FILE *to)
{
    lessons_table(view->lessons, to);
}

/* Gates are of interest where they rejected something, or all failed. */
static bool has_gates(const struct report_view *view)
{
    const struct report *report = view->report;

    return report->n_gates > 0 &&
           (!has_ranking(view) || report_rejected(report) > 0);
}

static const struct section {
    const char *name;
    bool (*has)(const struct report_view *view);
    void (*print)(const struct report_view *view, FILE *to);
} sections[] = {
    { "ranking", always, report_ranking_print },
    { "confirmation", has_confirmation, print_confirmation },
    { "gpus", has_gpus, print_gpus },
    { "floors", has_floors, print_floors },
    { "profiles", has_profiles, print_profiles },
    { "failures", has_failures, report_failures_print },
    { "lessons", has_lessons, print_lessons },
    { "gates", has_gates, report_gates_print },
    { "cost", always, report_cost_table },
};

enum {
    N_SECTIONS = sizeof(sections) / sizeof(sections[0])
};

static size_t find(const char *name, size_t len)
{
    size_t i = 0;

    while (i < N_SECTIONS && (strlen(sections[i].name) != len ||
                              memcmp(sections[i].name, name, len) != 0))
        i++;
    return i;
}

static int unknown(const char *name, size_t len, struct err *err)
{
    const char *names[N_SECTIONS + 1], *near;
    char *all = report_sections_names(REPORT_SECTIONS_ALL);
    int rc;

    for (size_t i = 0; i < N_SECTIONS; i++)
        names[i] = sections[i].name;
    names[N_SECTIONS] = "all";
    near = suggest_name(name, len, names, N_SECTIONS + 1);
    rc = err_set(err, ERR_INPUT,
                 "--show: there is no section '%.*s'; %s%s%sthere are %s, all",
                 len < 64 ? (int)len : 64, name, near ? "did you mean '" : "",
                 near ? near : "", near ? "'? " : "", all);
    free(all);
    return rc;
}

int report_sections_parse(const char *names, report_sections_set *out,
                          struct err *err)
{
    *out = 0;
    for (;;) {
        size_t len = strcspn(names, ","), i = find(names, len);

        if (len == 3 && memcmp(names, "all", 3) == 0)
            *out = REPORT_SECTIONS_ALL;
        else if (i < N_SECTIONS)
            *out |= 1U << i;
        else
            return unknown(names, len, err);
        if (!names[len])
            return 0;
        names += len + 1;
    }
}

report_sections_set report_sections_of(const char *name)
{
    size_t i = find(name, strlen(name));

    assert(i < N_SECTIONS);
    return 1U << i;
}

report_sections_set report_sections_present(const struct report_view *view)
{
    report_sections_set set = 0;

    for (size_t i = 0; i < N_SECTIONS; i++)
        if (sections[i].has(view))
            set |= 1U << i;
    return set;
}

char *report_sections_names(report_sections_set set)
{
    struct buf names;

    buf_init(&names, NAMES_MAX);
    for (size_t i = 0; i < N_SECTIONS; i++)
        if (set & (1U << i))
            buf_printf(&names, "%s%s", names.len ? ", " : "", sections[i].name);
    return names.bytes;
}

void report_sections_print(const struct report_view *view,
                           report_sections_set set, FILE *to)
{
    report_sections_set shown = set & report_sections_present(view);

    for (size_t i = 0; i < N_SECTIONS; i++)
        if (shown & (1U << i))
            sections[i].print(view, to);
}

void report_table(const struct report_view *view, FILE *to)
{
    report_head_print(view->report, to);
    if (view->conclusion->state != CONCLUSION_NONE)
        conclusion_sentences_print(view->conclusion, to);
    report_head_counts(view->report, to);
    report_sections_print(
        view, REPORT_SECTIONS_ALL & ~report_sections_of("cost"), to);
}
