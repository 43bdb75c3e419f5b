#include "coordinator/result/fuzz.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/plan/plan.h"
#include "coordinator/spec/spec.h"
#include "coordinator/stored/past_runs.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/json_out.h"
#include "coordinator/print/table.h"

#define CONFIG_BYTES 512 /* of one in the table */
#define ROWS_MAX 100     /* of one verdict in the table; all are in the JSON */

static const char *const verdict_names[] = { "right", "wrong", "skipped" };

enum fuzz_verdict fuzz_verdict(const char *outcome)
{
    enum outcome is;

    if (!outcome || !outcome_read(outcome, &is))
        return FUZZ_SKIPPED;
    switch (is) {
    case OUTCOME_CORRECT:
        return FUZZ_RIGHT;
    case OUTCOME_CORRECTNESS:
    case OUTCOME_RUNTIME:
    case OUTCOME_TIMEOUT:
    case OUTCOME_COMPILE:
        return FUZZ_WRONG;
    default:
        return FUZZ_SKIPPED;
    }
}

/* ---- from the database */

static void add_finding(struct fuzz *fuzz, const struct plan *plan, int unit,
                        int shape, const struct past_runs_outcome *was)
{
    struct fuzz_finding *finding;
    char config[CONFIG_BYTES];

    fuzz->findings =
        mem_grow(fuzz->findings, fuzz->n_findings + 1, sizeof(*fuzz->findings));
    finding = &fuzz->findings[fuzz->n_findings++];
    plan_display(plan, unit, config, sizeof(config));
    *finding = (struct fuzz_finding){
        .verdict = fuzz_verdict(was->outcome),
        .config = mem_strdup(config),
        .params = plan_params(plan, unit),
        .shape = mem_strdup(plan_shape_name(plan, shape)),
        .outcome = mem_strdup(was->outcome),
        .reason = mem_strdup(was->reason),
        .relative_l2 = was->relative_l2,
        .max_error = was->max_error,
    };
    memcpy(finding->key, plan_unit(plan, unit)->key, HASH_HEX);
}

/* A gate rejects it now: that replaces a result from before the gate
 * existed. */
static void note_gate(const struct spec *spec, int gate,
                      struct past_runs_outcome *was)
{
    snprintf(was->outcome, sizeof(was->outcome), "%s",
             outcome_name(OUTCOME_CONSTRAINTS));
    snprintf(was->reason, sizeof(was->reason), "gate '%s': %s",
             spec->space.gates[gate].name, spec->space.gates[gate].why);
    was->relative_l2 = was->max_error = (double)NAN;
    was->checked = was->varied = -1;
}

static int look_up(const struct plan *plan, const struct spec *spec,
                   struct past_runs *past, int unit, int shape,
                   struct past_runs_outcome *was, struct err *err)
{
    const struct plan_unit *u = plan_unit(plan, unit);
    const struct store_outcome key = {
        .config = u->key,
        .shape = plan_shape_name(plan, shape),
        .source_key = u->source_key,
        .measure_key = plan_measure_key(plan, shape),
    };
    int rc;

    *was = (struct past_runs_outcome){ .outcome = "pending",
                                       .reason = "it was not run",
                                       .checked = -1,
                                       .varied = -1,
                                       .relative_l2 = (double)NAN,
                                       .max_error = (double)NAN };
    rc = past_runs_outcome(past, &key, was, err);
    if (plan_gate(plan, unit, shape) >= 0)
        note_gate(spec, plan_gate(plan, unit, shape), was);
    return rc;
}

/* Add what was checked at a shape. */
static void count_checked(const struct past_runs_outcome *was,
                          struct fuzz_checked *sum)
{
    if (was->checked < 0)
        return;
    sum->launches = (sum->launches > 0 ? sum->launches : 0) + was->checked;
    if (was->varied > sum->varied)
        sum->varied = was->varied;
}

/* Wrong ones first; otherwise in the same order. */
static void sort(struct fuzz *fuzz)
{
    struct fuzz_finding *sorted =
        mem_new(fuzz->n_findings + 1, sizeof(*sorted));
    size_t n = 0;

    for (int verdict = FUZZ_WRONG; verdict <= FUZZ_SKIPPED; verdict++)
        for (size_t i = 0; i < fuzz->n_findings; i++)
            if ((int)fuzz->findings[i].verdict == verdict)
                sorted[n++] = fuzz->findings[i];
    free(fuzz->findings);
    fuzz->findings = sorted;
}

int fuzz_collect(const struct plan *plan, const struct spec *spec,
                 struct store *store, struct fuzz *out, struct err *err)
{
    struct past_runs *past;
    int rc = past_runs_open(store, &past, err);

    *out = (struct fuzz){ .configs = plan_units(plan),
                          .shapes = plan_shapes(plan) };
    out->checked = mem_new((size_t)out->configs + 1, sizeof(*out->checked));
    for (int unit = 0; rc >= 0 && unit < out->configs; unit++) {
        struct fuzz_checked *checked = &out->checked[unit];

        *checked = (struct fuzz_checked){ .launches = -1, .varied = -1 };
        memcpy(checked->key, plan_unit(plan, unit)->key, HASH_HEX);
        for (int shape = 0; rc >= 0 && shape < out->shapes; shape++) {
            struct past_runs_outcome was;
            enum fuzz_verdict verdict;

            rc = look_up(plan, spec, past, unit, shape, &was, err);
            verdict = fuzz_verdict(was.outcome);
            out->counts[verdict]++;
            if (verdict != FUZZ_RIGHT)
                add_finding(out, plan, unit, shape, &was);
            count_checked(&was, checked);
        }
    }
    past_runs_close(past);
    sort(out);
    return err_only(rc);
}

void fuzz_fini(struct fuzz *fuzz)
{
    for (size_t i = 0; i < fuzz->n_findings; i++) {
        free(fuzz->findings[i].config);
        free(fuzz->findings[i].params);
        free(fuzz->findings[i].shape);
        free(fuzz->findings[i].outcome);
        free(fuzz->findings[i].reason);
    }
    free(fuzz->findings);
    free(fuzz->checked);
    *fuzz = (struct fuzz){ 0 };
}

/* ---- for people and programs */

static void error_cell(struct table *table, double error)
{
    if (isnan(error))
        table_cell(table, "-");
    else
        table_cell(table, "%.3g", error);
}

static void print_findings(const struct fuzz *fuzz, FILE *to)
{
    struct table *table = table_new();
    int64_t shown[3] = { 0 };

    table_column(table, 'l', "configuration");
    table_column(table, 'l', "shape");
    table_column(table, 'l', "outcome");
    table_column(table, 'r', "relative L2");
    table_column(table, 'r', "largest error");
    table_column(table, 'l', "what");
    for (size_t i = 0; i < fuzz->n_findings; i++) {
        const struct fuzz_finding *finding = &fuzz->findings[i];

        if (shown[finding->verdict]++ >= ROWS_MAX)
            continue;
        table_cell(table, "%s", finding->config);
        table_cell(table, "%s", finding->shape);
        table_cell(table, "%s", finding->outcome);
        error_cell(table, finding->relative_l2);
        error_cell(table, finding->max_error);
        table_cell(table, "%s", finding->reason);
    }
    table_print(table, to);
    table_free(table);
    for (int verdict = FUZZ_WRONG; verdict <= FUZZ_SKIPPED; verdict++)
        if (shown[verdict] > ROWS_MAX)
            fprintf(to, "and %" PRId64 " more that are %s; --json has all\n",
                    shown[verdict] - ROWS_MAX, verdict_names[verdict]);
    fprintf(to, "\n");
}

static const char *plural(int n)
{
    return n == 1 ? "" : "s";
}

void fuzz_print(const struct fuzz *fuzz, FILE *to)
{
    if (fuzz->n_findings)
        print_findings(fuzz, to);
    fprintf(to,
            "%d configuration%s x %d shape%s: %" PRId64 " right, %" PRId64
            " wrong, %" PRId64 " skipped\n",
            fuzz->configs, plural(fuzz->configs), fuzz->shapes,
            plural(fuzz->shapes), fuzz->counts[FUZZ_RIGHT],
            fuzz->counts[FUZZ_WRONG], fuzz->counts[FUZZ_SKIPPED]);
}

void fuzz_json(const struct fuzz *fuzz, FILE *to)
{
    struct json_out out;

    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    json_out_int(&out, "configurations", fuzz->configs);
    json_out_int(&out, "shapes", fuzz->shapes);
    for (int verdict = FUZZ_RIGHT; verdict <= FUZZ_SKIPPED; verdict++)
        json_out_int(&out, verdict_names[verdict], fuzz->counts[verdict]);
    json_out_open(&out, "findings", '[');
    for (size_t i = 0; i < fuzz->n_findings; i++) {
        const struct fuzz_finding *finding = &fuzz->findings[i];

        json_out_open(&out, NULL, '{');
        json_out_text(&out, "verdict", verdict_names[finding->verdict]);
        json_out_text(&out, "key", finding->key);
        json_out_raw(&out, "params", finding->params);
        json_out_text(&out, "shape", finding->shape);
        json_out_text(&out, "outcome", finding->outcome);
        json_out_real(&out, "relative_l2", finding->relative_l2);
        json_out_real(&out, "max_error", finding->max_error);
        json_out_text(&out, "reason", finding->reason);
        json_out_close(&out);
    }
    json_out_close(&out);
    json_out_close(&out);
}

int fuzz_exit_code(const struct fuzz *fuzz)
{
    if (fuzz->counts[FUZZ_WRONG])
        return EXIT_ANSWER_BAD;
    return fuzz->counts[FUZZ_SKIPPED] ? EXIT_ANSWER_UNKNOWN : EXIT_ANSWER_GOOD;
}
