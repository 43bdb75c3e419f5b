#include "coordinator/tasks/confirm_pipeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_print.h"
#include "coordinator/confirm/look_plan.h"
#include "coordinator/confirm/sequential.h"
#include "coordinator/inspect/same_sources.h"
#include "coordinator/plan/config_selection.h"
#include "coordinator/plan/plan.h"
#include "coordinator/reserve/reserve.h"
#include "coordinator/result/evidence.h"
#include "coordinator/result/fuzz.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/report_objective.h"
#include "coordinator/result/screening.h"
#include "coordinator/search/objective.h"
#include "coordinator/spec/spec.h"
#include "coordinator/store/dbfile.h"
#include "coordinator/store/store.h"
#include "coordinator/options/fail.h"
#include "coordinator/tasks/run.h"
#include "coordinator/tasks/run_reserve.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/json_out.h"
#include "coordinator/text/terminal.h"

/* For the cpu device: enough to test the whole pipeline. */
#define EMULATED_SAMPLES 2

/* Rounds of proof: if finalists are wrong, the next ones move up and are
 * proved. */
#define PROOFS_MAX 20

struct pass {
    struct run *run;
    struct report *report;
    struct report_cost *cost;
    struct confirmation confirmation;
    int64_t finalists_max;
    bool *chosen, *proved, *wrong; /* by configuration of the report */
    char **reasons;                /* why the wrong ones are wrong */
    struct fuzz_checked *checked;  /* in the proof, by configuration */
};

static bool is_emulated(const struct run *run)
{
    return device_kind_is(run->set.device, DEVICE_KIND_CPU);
}

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* screened  as it was before any confirmation */
static int look(const char *db, bool screened, struct report **report,
                struct report_cost **cost, struct err *err)
{
    struct store *store;
    int rc = store_open(db, STORE_WHOLE, &store, err);

    *report = NULL;
    *cost = NULL;
    if (rc < 0)
        return rc;
    rc = screened ? report_load_screened(store, report, err)
                  : report_load(store, report, err);
    if (rc == 0)
        rc = report_cost_load(store, cost, err);
    store_close(store);
    return rc;
}

int confirm_pipeline_look(const char *db, struct report **report,
                          struct report_cost **cost, struct err *err)
{
    return look(db, false, report, cost, err);
}

void confirm_pipeline_rules(const struct run *run, const struct report *report,
                            struct confirmation *out)
{
    const struct spec_confirm *spec = &run->spec->confirm;
    bool emulated = is_emulated(run);

    *out = (struct confirmation){
        .sweep = report->sweep.id,
        .seed = run->spec->measure.seed,
        .blocks = (int)run_reserve_blocks(run),
        .samples = (int)(emulated ? less(spec->samples, EMULATED_SAMPLES)
                                  : spec->samples),
        .rules = { spec->alpha, spec->floor, spec->target },
        .against = spec->against ? mem_strdup(spec->against) : NULL,
        .cut = (double)NAN,
    };
}

void confirm_pipeline_enough_blocks(const struct run *run,
                                    struct confirmation *confirmation)
{
    size_t needed =
        verdict_blocks_needed(confirmation->n_running, &confirmation->rules);

    if (!is_emulated(run) && (size_t)confirmation->blocks < needed)
        confirmation->blocks = (int)needed;
}

static void plan_looks(struct pass *pass)
{
    const struct spec_confirm *spec = &pass->run->spec->confirm;
    const struct confirmation_looks asked = {
        .group = (int)spec->blocks_group,
        .most = (int)spec->blocks_max,
        .over_all = pass->report->n_shapes > 1 &&
                    report_objective(pass->report) == OBJECTIVE_ALL,
    };

    if (!is_emulated(pass->run))
        look_plan_set(&pass->confirmation, &asked);
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

static void note_checked(struct pass *pass, const struct fuzz_checked *checked)
{
    for (size_t i = 0; i < pass->report->n_configs; i++)
        if (strcmp(pass->report->configs[i].key, checked->key) == 0)
            pass->checked[i] = *checked;
}

/* The baseline is proved too: it remains if nothing beats it. */
static bool is_to_be_proved(const struct pass *pass, size_t i)
{
    return (pass->chosen[i] || pass->report->configs[i].baseline) &&
           !pass->proved[i];
}

/* Prove those that are not proved yet.  Returns 0, or an exit code to end
 * with. */
static int prove(struct pass *pass)
{
    struct run *run = pass->run;
    struct config_selection selection = { 0 };
    struct plan_ask ask = { .choice = &selection };
    struct fuzz fuzz = { 0 };
    struct err err;
    bool judged = false;
    int code;

    for (size_t i = 0; i < pass->report->n_configs; i++)
        if (is_to_be_proved(pass, i))
            pass->proved[i] = config_selection_params(
                &selection, run->spec, &pass->report->configs[i].params);
    ask.shapes = spec_fuzz_shapes(run->spec, run->set.device, &ask.n_shapes);
    if (same_sources_check(pass->report, run->spec, &selection, &err) < 0) {
        config_selection_fini(&selection);
        return fail_with(ERR_INPUT, &err);
    }
    if (!run->set.quiet)
        fprintf(stderr, "checking %zu configuration%s at %zu fuzz shape%s\n",
                selection.n, selection.n == 1 ? "" : "s", ask.n_shapes,
                ask.n_shapes == 1 ? "" : "s");
    run->more_follows = true; /* the blocks */
    code = run_fuzz(run, &ask,
                    pass->cost->priced_usd - pass->cost->proof.priced_usd,
                    &fuzz, &judged);
    run->more_follows = false;
    if (code == EXIT_DONE && !judged)
        code = EXIT_NO_RESULT;
    for (size_t i = 0; code == EXIT_DONE && i < fuzz.n_findings; i++)
        if (fuzz.findings[i].verdict == FUZZ_WRONG)
            note_wrong(pass, &fuzz.findings[i]);
    for (int i = 0; code == EXIT_DONE && i < fuzz.configs; i++)
        note_checked(pass, &fuzz.checked[i]);
    config_selection_fini(&selection);
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
    const struct screening_rules rules = {
        .alpha = pass->run->spec->confirm.alpha,
        .cap = (size_t)pass->finalists_max,
    };

    screening_choose(pass->report, &rules, pass->wrong, pass->chosen,
                     finalists);
}

/* Of the finalists, the fastest whose confirmation the caps pay for. */
static int cap_finalists(struct pass *pass, struct err *err)
{
    struct reserve_pass reserve;
    struct run_reserve_past past;
    int rc = run_reserve_past(pass->run, &past, err);

    pass->finalists_max = run_reserve_finalists(pass->run);
    if (rc < 0 || isinf(past.left_s))
        return rc;
    run_reserve_pass(pass->run, &reserve);
    reserve.contestants = 1 + pass->finalists_max;
    pass->finalists_max =
        reserve_contestants(&reserve, &past.times, past.left_s) - 1;
    return 0;
}

/* Finalists must be chosen and proved.  Wrong ones make room for others. */
static int choose_and_prove(struct pass *pass, struct finalists *finalists)
{
    /* A record has no kernels to run. */
    bool proof = !pass->run->spec->confirm.unproved && !pass->run->replay;
    int code = EXIT_DONE;

    choose(pass, finalists);
    for (int i = 0; code == EXIT_DONE && proof && i < PROOFS_MAX; i++) {
        if (all_are_proved(pass))
            return 0;
        code = prove(pass);
        if (code == EXIT_DONE)
            choose(pass, finalists);
    }
    for (size_t i = 0; proof && i < pass->report->n_configs; i++)
        pass->chosen[i] = pass->chosen[i] && pass->proved[i];
    return code;
}

/* Cost of the proofs, from their own database, into this one. */
static int count_proof(const struct run *run, double *hours, double *usd)
{
    struct store *store = NULL;
    struct bill bill = { 0 };
    struct err err;
    int rc = store_open(run->db, STORE_WRITE, &store, &err);

    if (rc == 0)
        rc = run_fuzz_bill(run->db, store, &bill, &err);
    if (rc == 0)
        rc = store_commit(store, &err);
    store_close(store);
    *hours = bill_hours(&bill);
    *usd = bill_usd(&bill);
    return rc < 0 ? fail_with(rc, &err) : 0;
}

/* ---- the blocks ---- */

/* Why the baseline is out; "" if it is not. */
static const char *baseline_flaw(const struct confirmation *confirmation)
{
    return confirmation->n > 0 ? confirmation->candidates[0].reason : "";
}

/* No finalist is left: store only that.  A wrong baseline is a failure. */
static int put_alone(struct run *run, struct confirmation *confirmation)
{
    const char *why = baseline_flaw(confirmation);
    struct store *store;
    struct err err;
    int rc = store_open(run->db, STORE_WRITE, &store, &err);

    if (rc < 0)
        return fail_with(rc, &err);
    rc = confirmation_sources(store, confirmation, &err);
    if (rc == 0)
        rc = confirmation_put(store, confirmation, &err);
    if (rc == 0)
        rc = confirmation_put_end(store, confirmation, *why != '\0', &err);
    if (rc == 0)
        rc = store_commit(store, &err);
    store_close(store);
    if (rc < 0)
        return fail_with(rc, &err);
    if (!*why)
        return 0;
    return fail_with(err_set(&err, ERR_DEVICE,
                             "nothing can be confirmed: the baseline is wrong: "
                             "%.256s; fix it, or choose another baseline in %s",
                             why, run->sweep),
                     &err);
}

int confirm_pipeline_contest(struct run *run, const struct report *report,
                             struct confirmation *confirmation,
                             const struct spec_shape *shapes, size_t n_shapes)
{
    struct config_selection selection = { 0 };
    const struct plan_ask ask = { &selection, shapes, n_shapes };
    struct sweep_options options = {
        .command =
            confirmation->kind == CONFIRMATION_BENCH ? "bench" : "confirm",
        .ask = &ask,
        .confirmation = confirmation,
    };
    struct err err;
    int code = EXIT_DONE;

    for (size_t i = 0; code == EXIT_DONE && i < confirmation->n_running; i++) {
        const struct report_config *config =
            report_find(report, confirmation->candidates[i].key);

        if (!config ||
            !config_selection_params(&selection, run->spec, &config->params))
            code = fail_with(
                err_set(&err, ERR_INPUT,
                        "the tunables of %s changed since the sweep: run "
                        "fa-coord sweep first",
                        run->sweep),
                &err);
    }
    if (code == EXIT_DONE && !run->set.quiet)
        fprintf(stderr,
                "comparing %zu configuration%s with the baseline in %s%d "
                "blocks of %d samples\n",
                confirmation->n_running - 1,
                confirmation->n_running == 2 ? "" : "s",
                confirmation->looks.group > 0 ? "at most " : "",
                confirmation_blocks_max(confirmation), confirmation->samples);
    if (code == EXIT_DONE)
        code = run_engine(run, &options, &err);
    config_selection_fini(&selection);
    return code;
}

/* ---- all of it ---- */

/* Configuration 'at' of the report takes part, or did not get so far. */
static void add_candidate(struct pass *pass, size_t at,
                          enum confirmation_role role, const char *reason)
{
    struct confirmation *to = &pass->confirmation;
    struct candidate *added;

    confirmation_add(to, pass->report->configs[at].key, role, reason);
    added = &to->candidates[to->n - 1];
    added->proof_launches = pass->checked[at].launches;
    added->proof_varied = pass->checked[at].varied;
}

static int make_contest(struct pass *pass)
{
    const struct report *report = pass->report;
    struct confirmation *confirmation = &pass->confirmation;
    const struct report_config *baseline = report_baseline(report);
    struct finalists finalists = { 0 };
    size_t at = (size_t)(baseline - report->configs);
    int code = choose_and_prove(pass, &finalists);

    if (code != EXIT_DONE)
        return code;
    confirm_pipeline_rules(pass->run, report, confirmation);
    confirmation->possible = (int64_t)finalists.n_possible;
    confirmation->cut = finalists.next;
    add_candidate(pass, at, CONFIRMATION_BASELINE,
                  pass->wrong[at] ? pass->reasons[at] : "");
    for (size_t i = 0; i < report->n_configs; i++)
        if (pass->chosen[i] && !pass->wrong[at])
            add_candidate(pass, i, CONFIRMATION_FINALIST, "");
    for (size_t i = 0; i < report->n_configs; i++)
        if (pass->wrong[i] && i != at)
            add_candidate(pass, i, CONFIRMATION_REJECTED, pass->reasons[i]);
    confirm_pipeline_enough_blocks(pass->run, confirmation);
    plan_looks(pass);
    return count_proof(pass->run, &confirmation->proof.hours,
                       &confirmation->proof.usd);
}

static int run_contest(struct pass *pass)
{
    size_t n;
    const struct spec_shape *shapes =
        spec_shapes(pass->run->spec, pass->run->set.device, &n);

    if (pass->confirmation.n_running < 2 || *baseline_flaw(&pass->confirmation))
        return put_alone(pass->run, &pass->confirmation);
    return confirm_pipeline_contest(pass->run, pass->report,
                                    &pass->confirmation, shapes, n);
}

/* Was anything measured for the sweep after the confirmation began? */
static int is_outdated(struct store *store,
                       const struct confirmation *confirmation, struct err *err)
{
    int64_t newest;
    int rc = evidence_newest_settled(store, &newest, err);

    return rc < 0 ? rc : newest > confirmation->started_utc;
}

enum {
    GO_ON = 1, /* with pass->confirmation */
    THERE = 2, /* it is complete */
};

/* The state of an existing confirmation: 0 (none), GO_ON, THERE or an error. */
static int find_contest(struct pass *pass, bool fresh, struct err *err)
{
    struct store *store;
    int rc = store_open(pass->run->db, STORE_WHOLE, &store, err), is = 0;

    if (rc < 0)
        return rc;
    rc = confirmation_load(store, pass->report->sweep.id, CONFIRMATION_CONFIRM,
                           0, &pass->confirmation, err);
    if (rc == 1) {
        is = pass->confirmation.ended ? THERE : GO_ON;
        rc = is_outdated(store, &pass->confirmation, err);
        if (rc == 1 || (is == THERE && (fresh || pass->confirmation.failed)))
            is = 0;
    }
    if (is == 0)
        confirmation_fini(&pass->confirmation);
    store_close(store);
    return rc < 0 ? rc : is;
}

void confirm_pipeline_json(const struct run *run,
                           const struct conclusion *conclusion)
{
    struct json_out out;

    json_out_init(&out, stdout);
    json_out_open(&out, NULL, '{');
    json_out_text(&out, "database", run->db);
    if (conclusion)
        conclusion_json(conclusion, &out, "verdict");
    else
        json_out_null(&out, "verdict");
    json_out_close(&out);
}

/* Did a cap end it before its blocks? */
static bool is_early(const struct conclusion *c)
{
    if (c->state != CONCLUSION_DONE || c->confirmation.n_running < 2)
        return false;
    return c->confirmation.looks.group > 0
               ? c->blocks.looks->end == SEQUENTIAL_BUDGET
               : c->blocks.complete < c->confirmation.blocks;
}

static int print_verdict(const struct run *run, bool *early)
{
    struct conclusion *conclusion = NULL;
    struct report *report = NULL;
    struct report_cost *cost = NULL;
    struct store *store;
    struct err err;
    int rc = store_open(run->db, STORE_WHOLE, &store, &err);

    if (rc == 0)
        rc = report_load(store, &report, &err);
    if (rc == 0)
        rc = report_cost_load(store, &cost, &err);
    if (rc == 0)
        rc = conclusion_load(store, report, cost, CONFIRMATION_CONFIRM,
                             &conclusion, &err);
    if (rc == 0 && run->set.json)
        confirm_pipeline_json(run, conclusion);
    else if (rc == 0)
        conclusion_print(conclusion, stdout);
    if (rc == 0)
        rc = terminal_flush(stdout, &err);
    *early = rc == 0 && is_early(conclusion);
    conclusion_free(conclusion);
    report_cost_free(cost);
    report_free(report);
    store_close(store);
    return rc < 0 ? fail_with(rc, &err) : 0;
}

static int confirm(struct pass *pass, bool fresh, bool *early)
{
    const struct report_config *baseline = report_baseline(pass->report);
    struct err err;
    int is, code = EXIT_DONE;

    if (!baseline || !baseline->rank) {
        fail_with(err_set(&err, ERR_DEVICE,
                          "nothing can be confirmed: the baseline has no valid "
                          "time; see 'fa-coord report'"),
                  &err);
        return EXIT_NO_RESULT;
    }
    is = cap_finalists(pass, &err);
    if (is == 0)
        is = find_contest(pass, fresh, &err);
    if (is == 0) /* before the time of a proof, whose verdict needs it */
        is = dbfile_check(pass->run->db, false, &err);
    if (is < 0)
        return fail_with(is, &err);
    if (is == 0)
        code = make_contest(pass);
    if (code == EXIT_DONE && is != THERE)
        code = run_contest(pass);
    if (code == EXIT_DONE)
        code = print_verdict(pass->run, early);
    *early = *early && is != THERE;
    return code;
}

static void pass_fini(struct pass *pass)
{
    for (size_t i = 0; pass->reasons && i < pass->report->n_configs; i++)
        free(pass->reasons[i]);
    free(pass->reasons);
    free(pass->chosen);
    free(pass->proved);
    free(pass->wrong);
    free(pass->checked);
    confirmation_fini(&pass->confirmation);
    report_cost_free(pass->cost);
    report_free(pass->report);
}

int confirm_pipeline_confirm(struct run *run, bool fresh, bool *early)
{
    struct pass pass = { .run = run };
    struct err err;
    int rc = look(run->db, true, &pass.report, &pass.cost, &err), code;

    *early = false;
    if (rc < 0) {
        code = fail_with(rc, &err);
    } else {
        size_t n = pass.report->n_configs + 1;

        pass.chosen = mem_new(n, sizeof(*pass.chosen));
        pass.proved = mem_new(n, sizeof(*pass.proved));
        pass.wrong = mem_new(n, sizeof(*pass.wrong));
        pass.reasons = mem_new(n, sizeof(*pass.reasons));
        pass.checked = mem_new(n, sizeof(*pass.checked));
        for (size_t i = 0; i < n; i++)
            pass.checked[i].launches = pass.checked[i].varied = -1;
        code = confirm(&pass, fresh, early);
    }
    pass_fini(&pass);
    return code;
}
