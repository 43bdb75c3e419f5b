/* What a sweep shows beside its fastest configuration, in a few lines. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "coordinator/lessons/lessons.h"
#include "coordinator/lessons/lessons_print.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/screen.h"
#include "coordinator/report/report_internal.h"
#include "coordinator/report/report_print.h"

#define TUNABLES 3     /* that are named */
#define LEAST 0.01     /* share of the variance */
#define KINDS 3        /* of failures */
#define TEXT_MAX 65536 /* bytes of text */

/* The heading is printed with the first line below it, and not without one. */
struct learnt {
    FILE *to;
    bool begun;
};

static FILE *learnt_line(struct learnt *learnt)
{
    if (!learnt->begun)
        screen_heading(learnt->to, "What was learnt");
    learnt->begun = true;
    return learnt->to;
}

/* The tunable with the largest share that is below that of 'before', which
 * comes first among equals; n_tunables if there is none. */
static size_t next_share(const struct lessons *lessons, size_t before)
{
    size_t next = lessons->n_tunables;

    for (size_t a = 0; a < lessons->n_tunables; a++) {
        double share = lessons->tunables[a].share;

        if (before < lessons->n_tunables &&
            (share > lessons->tunables[before].share ||
             (share >= lessons->tunables[before].share && a <= before)))
            continue;
        if (next == lessons->n_tunables ||
            share > lessons->tunables[next].share)
            next = a;
    }
    return next;
}

static void put_important(const struct lessons *lessons, struct learnt *learnt)
{
    size_t n = lessons->n_tunables, at = n, named = 0;
    struct buf text;

    if (!(lessons->importance.sd > 0))
        return;
    buf_init(&text, TEXT_MAX);
    for (; named < TUNABLES; named++) {
        const struct lessons_tunable *tunable;

        at = next_share(lessons, at);
        if (at == n || !(lessons->tunables[at].share >= LEAST))
            break;
        tunable = &lessons->tunables[at];
        buf_printf(&text, "%s%s%s %.0f %%", named ? ", " : "", tunable->name,
                   named ? "" : " explains", 100 * tunable->share);
        if (tunable->best < tunable->n)
            buf_printf(&text, " (best: %s)",
                       tunable->values[tunable->best].text);
    }
    /* Without pairs, tunables that act together share what they explain. */
    if (text.len)
        paragraph_print(learnt_line(learnt), 2,
                        "%s of the variance of log time%s.", text.bytes,
                        named > 1 && !lessons->importance.adjusted
                            ? ", each taken alone"
                            : "");
    buf_fini(&text);
}

static void put_dead(const struct lessons *lessons, struct learnt *learnt)
{
    struct buf text;

    buf_init(&text, TEXT_MAX);
    for (size_t a = 0; a < lessons->n_tunables; a++)
        if (lessons->tunables[a].dead == DEAD_TUNABLES_YES)
            buf_printf(&text, "%s%s", text.len ? ", " : "",
                       lessons->tunables[a].name);
    if (text.len)
        paragraph_print(learnt_line(learnt), 2,
                        "Without effect on the machine code: %s.", text.bytes);
    buf_fini(&text);
}

/* "6 failed as runtime, all with BLOCK=256: out of bounds ..." */
static void put_failure(const struct lessons *lessons,
                        const struct lessons_failure *failure,
                        struct learnt *learnt)
{
    const struct failure_pattern *common = &failure->common;
    bool has_reason = failure->reason && *failure->reason;
    struct buf text;

    buf_init(&text, TEXT_MAX);
    buf_printf(&text, "%zu failed as %s", common->failures, failure->outcome);
    if (common->n_terms && common->failures > 1) {
        buf_printf(&text, ", all with");
        lessons_put_terms(lessons, common->terms, common->n_terms, &text);
    }
    if (has_reason)
        buf_printf(&text, ": %s", failure->reason);
    paragraph_put(learnt_line(learnt), 0, 2, text.bytes);
    buf_fini(&text);
}

static void put_failures(const struct lessons *lessons, struct learnt *learnt)
{
    size_t n = lessons->n_failures, shown = n < KINDS ? n : KINDS;
    size_t more = n - shown + lessons->other_failures;

    for (size_t i = 0; i < shown; i++)
        put_failure(lessons, &lessons->failures[i], learnt);
    if (more)
        paragraph_print(learnt_line(learnt), 2, "%zu more kind%s of failure.",
                        more, more == 1 ? "" : "s");
}

static void put_warnings(const struct lessons *lessons,
                         enum lessons_truth truth, const char *says,
                         struct learnt *learnt)
{
    struct buf text;

    buf_init(&text, TEXT_MAX);
    for (size_t g = 0; g < lessons->n_gates; g++)
        if (lessons->gates[g].truth == truth)
            buf_printf(&text, "%s%s", text.len ? ", " : "",
                       lessons->gates[g].name);
    if (text.len)
        paragraph_print(learnt_line(learnt), 2, "%s: %s.", says, text.bytes);
    buf_fini(&text);
}

void report_learnt_print(const struct report_view *view, FILE *to)
{
    const struct lessons *lessons = view->lessons;
    struct learnt learnt = { .to = to };

    if (!lessons || lessons->timed + lessons->failed == 0)
        return;
    put_important(lessons, &learnt);
    put_dead(lessons, &learnt);
    put_warnings(lessons, LESSONS_TRUE, "Gates that warn of slower ones",
                 &learnt);
    put_warnings(lessons, LESSONS_FALSE, "Gates that warn of faster ones",
                 &learnt);
    put_failures(lessons, &learnt);
}
