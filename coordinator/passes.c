#include "coordinator/passes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/choice.h"
#include "coordinator/cmd.h"
#include "coordinator/cmd_run.h"
#include "coordinator/conclusion.h"
#include "coordinator/fuzz.h"
#include "coordinator/plan.h"
#include "coordinator/report.h"
#include "coordinator/report_cost.h"
#include "coordinator/screening.h"
#include "coordinator/spec.h"
#include "coordinator/sql.h"
#include "coordinator/store.h"

/* Of the cpu device: enough to see that all of it works. */
#define EMULATED_BLOCKS 3
#define EMULATED_SAMPLES 2
#define EMULATED_FINALISTS 3

/* Each time somebody was wrong and the next ones moved up. */
#define PROOFS_MAX 20

struct pass {
    struct run *run;
    struct report *report;
    struct cost *cost;
    struct contest contest;
    bool *chosen, *proved, *wrong; /* configurations of the report */
    char **reasons;                /* of the wrong ones */
};

static bool is_emulated(const struct run *run)
{
    return strcmp(run->set.device, "cpu") == 0;
}

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int passes_look(const char *db, struct report **report, struct cost **cost,
                struct err *err)
{
    struct store *store;
    int rc = store_open(db, STORE_READ, &store, err);

    *report = NULL;
    *cost = NULL;
    if (rc < 0)
        return rc;
    rc = report_load(store, report, err);
    if (rc == 0)
        rc = cost_load(store, cost, err);
    store_close(store);
    return rc;
}

void passes_rules(const struct run *run, const struct report *report,
                  struct contest *out)
{
    const struct spec_confirm *spec = &run->spec->confirm;
    bool emulated = is_emulated(run);

    *out = (struct contest){
        .sweep = report->sweep,
        .seed = run->spec->measure.seed,
        .blocks = (int)(emulated ? less(spec->blocks, EMULATED_BLOCKS)
                                 : spec->blocks),
        .samples = (int)(emulated ? less(spec->samples, EMULATED_SAMPLES)
                                  : spec->samples),
        .rules = { spec->alpha, spec->floor, spec->target },
        .cut = (double)NAN,
    };
}

void passes_enough_blocks(const struct run *run, struct contest *contest)
{
    size_t needed = verdict_blocks_needed(contest->n_running, &contest->rules);

    if (!is_emulated(run) && (size_t)contest->blocks < needed)
        contest->blocks = (int)needed;
}

/* ---- the proof ---- */

static void note_wrong(struct pass *pass, const struct fuzz_finding *finding)
{
    for (size_t i = 0; i < pass->report->n_configs; i++) {
        if (strcmp(pass->report->configs[i].key, finding->key) != 0 ||
            pass->wrong[i])
            continue;
        pass->wrong[i] = true;
        pass->reasons[i] =
            mem_printf("%s at the fuzz shape %s: %s", finding->outcome,
                       finding->shape, finding->reason);
        if (!pass->run->set.quiet)
            fprintf(stderr, "%s is out: %s\n", finding->config,
                    pass->reasons[i]);
    }
}

/* The baseline is measured beside them, and is what remains when nothing
 * beats it. */
static bool is_to_be_proved(const struct pass *pass, size_t i)
{
    return (pass->chosen[i] || pass->report->configs[i].baseline) &&
           !pass->proved[i];
}

/* Prove those that are not proved yet.  0, or the exit code of what ended
 * it. */
static int prove(struct pass *pass)
{
    struct run *run = pass->run;
    struct choice choice = { 0 };
    struct plan_ask ask = { .choice = &choice };
    struct fuzz fuzz = { 0 };
    bool judged = false;
    int code;

    for (size_t i = 0; i < pass->report->n_configs; i++)
        if (is_to_be_proved(pass, i))
            pass->proved[i] = choice_params(&choice, run->spec,
                                            &pass->report->configs[i].params);
    ask.shapes = spec_fuzz_shapes(run->spec, run->set.device, &ask.n_shapes);
    if (!run->set.quiet)
        fprintf(stderr, "proving %zu configuration%s right at %zu shape%s\n",
                choice.n, choice.n == 1 ? "" : "s", ask.n_shapes,
                ask.n_shapes == 1 ? "" : "s");
    code = run_fuzz(run, &ask, pass->cost->priced_usd, &fuzz, &judged);
    if (code == 0 && !judged)
        code = 1;
    for (size_t i = 0; code == 0 && i < fuzz.n_findings; i++)
        if (fuzz.findings[i].verdict == FUZZ_WRONG)
            note_wrong(pass, &fuzz.findings[i]);
    choice_fini(&choice);
    fuzz_fini(&fuzz);
    return code;
}

static bool all_are_proved(const struct pass *pass)
{
    for (size_t i = 0; i < pass->report->n_configs; i++)
        if (is_to_be_proved(pass, i))
            return false;
    return true;
}

static void choose(struct pass *pass, struct finalists *finalists)
{
    const struct spec_confirm *spec = &pass->run->spec->confirm;
    const struct screening_rules rules = {
        .alpha = spec->alpha,
        .cap = (size_t)(is_emulated(pass->run)
                            ? less(spec->finalists_max, EMULATED_FINALISTS)
                            : spec->finalists_max),
    };

    screening_choose(pass->report, &rules, pass->wrong, pass->chosen,
                     finalists);
}

/* Who goes on: chosen and proved.  Those that turn out wrong make room. */
static int choose_and_prove(struct pass *pass, struct finalists *finalists)
{
    /* A record has no kernels that could be run. */
    bool proof = !pass->run->spec->confirm.unproved && !pass->run->replay;
    int code = 0;

    choose(pass, finalists);
    for (int i = 0; code == 0 && proof && i < PROOFS_MAX; i++) {
        if (all_are_proved(pass))
            return 0;
        code = prove(pass);
        if (code == 0)
            choose(pass, finalists);
    }
    for (size_t i = 0; proof && i < pass->report->n_configs; i++)
        pass->chosen[i] = pass->chosen[i] && pass->proved[i];
    return code;
}

/* What the proofs cost, from their own database. */
static int count_proof(const struct run *run, double *hours, double *usd)
{
    char *db = fuzz_path(run->db);
    struct store *store = NULL;
    struct cost *cost = NULL;
    struct err err;
    int rc = 0;

    *hours = *usd = 0;
    if (access(db, F_OK) == 0) {
        rc = store_open(db, STORE_READ, &store, &err);
        if (rc == 0)
            rc = cost_load(store, &cost, &err);
        if (rc == 0) {
            *hours = cost->total_hours;
            *usd = cost->total_usd;
        }
    }
    cost_free(cost);
    store_close(store);
    free(db);
    return rc < 0 ? cmd_fail(rc, &err) : 0;
}

/* ---- the blocks ---- */

/* Why the baseline is out; "" while it is not. */
static const char *baseline_flaw(const struct contest *contest)
{
    return contest->n > 0 ? contest->contestants[0].reason : "";
}

/* Nobody is there to be compared: that is all there is to write down.  A
 * baseline that is wrong is a failure. */
static int put_alone(struct run *run, struct contest *contest)
{
    const char *why = baseline_flaw(contest);
    struct store *store;
    struct err err;
    int rc = store_open(run->db, STORE_WRITE, &store, &err);

    if (rc < 0)
        return cmd_fail(rc, &err);
    rc = contest_put(store, contest, &err);
    if (rc == 0)
        rc = contest_put_end(store, contest, *why != '\0', &err);
    if (rc == 0)
        rc = store_commit(store, &err);
    store_close(store);
    if (rc < 0)
        return cmd_fail(rc, &err);
    if (!*why)
        return 0;
    return cmd_fail(err_set(&err, ERR_DEVICE,
                            "nothing can be confirmed: the baseline is wrong, "
                            "%.256s; mend it, or choose another one in %s",
                            why, run->sweep),
                    &err);
}

int passes_contest(struct run *run, const struct report *report,
                   struct contest *contest, const struct spec_shape *shapes,
                   size_t n_shapes)
{
    struct choice choice = { 0 };
    const struct plan_ask ask = { &choice, shapes, n_shapes };
    struct sweep_options options = {
        .command = contest->kind == CONTEST_BENCH ? "bench" : "confirm",
        .ask = &ask,
        .contest = contest,
    };
    double hours;
    struct err err;
    int code = 0;

    for (size_t i = 0; code == 0 && i < contest->n_running; i++) {
        const struct report_config *config =
            report_find(report, contest->contestants[i].key);

        if (!config || !choice_params(&choice, run->spec, &config->params))
            code = cmd_fail(
                err_set(&err, ERR_INPUT,
                        "the tunables of %s changed since the sweep: run "
                        "fa-coord sweep first",
                        run->sweep),
                &err);
    }
    if (code == 0)
        code = count_proof(run, &hours, &options.usd_before);
    if (isnan(options.usd_before))
        options.usd_before = 0; /* unpriced: there is no budget to count for */
    if (code == 0 && !run->set.quiet)
        fprintf(stderr,
                "comparing %zu configuration%s with the baseline in %d "
                "blocks of %d samples\n",
                contest->n_running - 1, contest->n_running == 2 ? "" : "s",
                contest->blocks, contest->samples);
    if (code == 0)
        code = run_engine(run, &options, &err);
    choice_fini(&choice);
    return code;
}

/* ---- the whole ---- */

static int make_contest(struct pass *pass)
{
    const struct report *report = pass->report;
    struct contest *contest = &pass->contest;
    const struct report_config *baseline = report_baseline(report);
    struct finalists finalists = { 0 };
    size_t at = (size_t)(baseline - report->configs);
    int code = choose_and_prove(pass, &finalists);

    if (code != 0)
        return code;
    passes_rules(pass->run, report, contest);
    contest->possible = (int64_t)finalists.n_possible;
    contest->cut = finalists.next;
    contest_add(contest, baseline->key, CONTEST_BASELINE,
                pass->wrong[at] ? pass->reasons[at] : "");
    for (size_t i = 0; i < report->n_configs; i++)
        if (pass->chosen[i] && !pass->wrong[at])
            contest_add(contest, report->configs[i].key, CONTEST_FINALIST, "");
    for (size_t i = 0; i < report->n_configs; i++)
        if (pass->wrong[i] && i != at)
            contest_add(contest, report->configs[i].key, CONTEST_REJECTED,
                        pass->reasons[i]);
    passes_enough_blocks(pass->run, contest);
    return count_proof(pass->run, &contest->proof_hours, &contest->proof_usd);
}

static int run_contest(struct pass *pass)
{
    size_t n;
    const struct spec_shape *shapes =
        spec_shapes(pass->run->spec, pass->run->set.device, &n);

    if (pass->contest.n_running < 2 || *baseline_flaw(&pass->contest))
        return put_alone(pass->run, &pass->contest);
    return passes_contest(pass->run, pass->report, &pass->contest, shapes, n);
}

/* Was anything measured for the sweep after the contest began? */
static int is_outdated(struct store *store, const struct contest *contest,
                       struct err *err)
{
    static const char text[] =
        "SELECT coalesce(max(o.settled_utc), 0) FROM outcome o JOIN config c"
        " ON c.key=o.config AND c.source_key=o.source_key"
        " WHERE c.sweep=(SELECT id FROM sweep ORDER BY created_utc DESC,"
        "  id DESC LIMIT 1)";
    int64_t newest;
    int rc = sql_number(store_db(store), text, &newest, err);

    return rc < 0 ? rc : newest > contest->started_utc;
}

enum {
    GO_ON = 1, /* with pass->contest */
    THERE = 2, /* it has its end */
};

/* What there is of a confirmation already: 0, GO_ON, THERE or an error. */
static int find_contest(struct pass *pass, bool anew, struct err *err)
{
    struct store *store;
    int rc = store_open(pass->run->db, STORE_READ, &store, err), is = 0;

    if (rc < 0)
        return rc;
    rc = contest_load(store, pass->report->sweep, CONTEST_CONFIRM, 0,
                      &pass->contest, err);
    if (rc == 1) {
        is = pass->contest.ended ? THERE : GO_ON;
        rc = is_outdated(store, &pass->contest, err);
        if (rc == 1 || (is == THERE && (anew || pass->contest.failed)))
            is = 0;
    }
    if (is == 0)
        contest_fini(&pass->contest);
    store_close(store);
    return rc < 0 ? rc : is;
}

static int print_verdict(const struct run *run)
{
    struct conclusion *conclusion = NULL;
    struct report *report = NULL;
    struct cost *cost = NULL;
    struct store *store;
    struct err err;
    int rc = store_open(run->db, STORE_READ, &store, &err);

    if (rc == 0)
        rc = report_load(store, &report, &err);
    if (rc == 0)
        rc = cost_load(store, &cost, &err);
    if (rc == 0)
        rc = conclusion_load(store, report, cost, CONTEST_CONFIRM, &conclusion,
                             &err);
    if (rc == 0)
        conclusion_print(conclusion, stdout);
    conclusion_free(conclusion);
    cost_free(cost);
    report_free(report);
    store_close(store);
    return rc < 0 ? cmd_fail(rc, &err) : 0;
}

static int confirm(struct pass *pass, bool anew)
{
    const struct report_config *baseline = report_baseline(pass->report);
    struct err err;
    int is, code = 0;

    if (!baseline || !baseline->rank) {
        cmd_fail(err_set(&err, ERR_DEVICE,
                         "nothing can be confirmed: the baseline has no valid "
                         "time; 'fa-coord report' tells why"),
                 &err);
        return 1;
    }
    is = find_contest(pass, anew, &err);
    if (is < 0)
        return cmd_fail(is, &err);
    if (is == 0)
        code = make_contest(pass);
    if (code == 0 && is != THERE)
        code = run_contest(pass);
    return code == 0 ? print_verdict(pass->run) : code;
}

static void pass_fini(struct pass *pass)
{
    for (size_t i = 0; pass->reasons && i < pass->report->n_configs; i++)
        free(pass->reasons[i]);
    free(pass->reasons);
    free(pass->chosen);
    free(pass->proved);
    free(pass->wrong);
    contest_fini(&pass->contest);
    cost_free(pass->cost);
    report_free(pass->report);
}

int passes_confirm(struct run *run, bool anew)
{
    struct pass pass = { .run = run };
    struct err err;
    int rc = passes_look(run->db, &pass.report, &pass.cost, &err), code;

    if (rc < 0) {
        code = cmd_fail(rc, &err);
    } else {
        size_t n = pass.report->n_configs + 1;

        pass.chosen = mem_new(n, sizeof(*pass.chosen));
        pass.proved = mem_new(n, sizeof(*pass.proved));
        pass.wrong = mem_new(n, sizeof(*pass.wrong));
        pass.reasons = mem_new(n, sizeof(*pass.reasons));
        code = confirm(&pass, anew);
    }
    pass_fini(&pass);
    return code;
}
