/* bench_stored.c - fills a database with results of its sweep
 *
 *     bench_stored SWEEP DB RESULTS
 *
 * fa-coord has started DB as an exhaustive sweep of this sweep file on the cpu
 * device.  The bench stores its first configurations as if they had been built
 * and measured.  bench_start.py measures how soon `resume` continues from
 * there.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/hash.h"
#include "coordinator/config/config.h"
#include "coordinator/plan/plan.h"
#include "coordinator/model/domain.h"
#include "coordinator/search/search.h"
#include "coordinator/search/strategy.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_domain.h"
#include "coordinator/spec/spec.h"
#include "coordinator/store/store.h"
#include "coordinator/stored/past_runs.h"

#define SAMPLES 30
#define EPOCH 1 /* earlier than the epoch of any run */
#define GROUP 4096
#define UTC INT64_C(1700000000000000000)

struct filler {
    struct spec *spec;
    struct space *space;
    struct store *store;
    struct plan *plan;
    struct err *err;
    int64_t sweep, leases, nonces;
    int results;
};

static const char *next_nonce(struct filler *filler, char out[HASH_HEX])
{
    filler->nonces++;
    hash_of(&filler->nonces, sizeof(filler->nonces), out);
    return out;
}

static int put_lease(struct filler *filler, const struct plan_unit *unit,
                     const char *shape, const char *stage)
{
    struct store_lease row = { .epoch = EPOCH,
                               .id = ++filler->leases,
                               .config = unit->key,
                               .shape = shape,
                               .purpose = *shape ? "screen" : "kernel",
                               .stage = stage,
                               .attempt = 1,
                               .host = "localhost",
                               .gpu = *shape ? "CPU-0" : "",
                               .leased_utc = UTC };
    int rc = store_lease_put(filler->store, &row, filler->err);

    return rc < 0 ? rc
                  : store_lease_end(filler->store, EPOCH, row.id, "done", UTC,
                                    filler->err);
}

static int put_build(struct filler *filler, const struct plan_unit *unit)
{
    char nonce[HASH_HEX];
    int rc = put_lease(filler, unit, "", "build");

    if (rc == 0)
        rc = store_build_put(
            filler->store,
            &(struct store_build){ .nonce = next_nonce(filler, nonce),
                                   .epoch = EPOCH,
                                   .config = unit->key,
                                   .purpose = "kernel",
                                   .attempt = 1,
                                   .source_key = unit->source_key,
                                   .build_key = unit->source_key,
                                   .host = "localhost",
                                   .outcome = "built",
                                   .artifact = unit->key,
                                   .artifact_bytes = 20000,
                                   .seconds = 0.4,
                                   .received_utc = UTC },
            filler->err);
    return rc < 0 ? rc : 0;
}

/* A float of milliseconds, as GPUs report it. */
static double median_of(const struct plan_unit *unit)
{
    return (double)(0.6f + 1e-4f * (float)(unit->point % 997)) / 1e3;
}

static int put_result(struct filler *filler, const struct plan_unit *unit,
                      int shape)
{
    static const double pair[] = { 2040, 2025 };
    const char *name = plan_shape_name(filler->plan, shape);
    double samples[SAMPLES];
    char nonce[HASH_HEX];
    struct store_result row = { .nonce = next_nonce(filler, nonce),
                                .epoch = EPOCH,
                                .id.config = unit->key,
                                .id.shape = name,
                                .id.purpose = "screen",
                                .attempt = 1,
                                .id.source_key = unit->source_key,
                                .id.measure_key =
                                    plan_measure_key(filler->plan, shape),
                                .host = "localhost",
                                .gpu = "CPU-0",
                                .artifact = unit->key,
                                .outcome = "correct",
                                .timing.sampling = "settled",
                                .timing.l2 = "flush",
                                .checked = { SAMPLES + 2, 0 },
                                .timing.samples = { samples, SAMPLES },
                                .around.clock_mhz = { pair, 2 },
                                .held_s = 0.005,
                                .seconds = 0.005,
                                .received_utc = UTC };
    int rc = put_lease(filler, unit, name, "measure");

    for (int i = 0; i < SAMPLES; i++)
        samples[i] = median_of(unit);
    if (rc == 0)
        rc = store_result_put(filler->store, &row, filler->err);
    if (rc < 0)
        return rc;
    filler->results++;
    return store_outcome_put(
        filler->store,
        &(struct store_outcome){ .config = unit->key,
                                 .shape = name,
                                 .source_key = unit->source_key,
                                 .measure_key = row.id.measure_key,
                                 .outcome = "correct",
                                 .nonce = row.nonce,
                                 .median_s = samples[0],
                                 .attempts = 2,
                                 .settled_utc = UTC },
        filler->err);
}

static int put_config(struct filler *filler, int unit)
{
    const struct plan_unit *u = plan_unit(filler->plan, unit);
    char *params = plan_params(filler->plan, unit);
    int rc =
        store_config_put(filler->store,
                         &(struct store_config){ .key = u->key,
                                                 .sweep = filler->sweep,
                                                 .point = u->point,
                                                 .baseline = u->baseline,
                                                 .params = params,
                                                 .warnings = "[]",
                                                 .source_key = u->source_key },
                         filler->err);

    free(params);
    return rc;
}

/* Stores the steps that the strategy has taken at this point. */
static int put_steps(struct filler *filler,
                     const struct space_domain *space_domain,
                     const struct search *search)
{
    static const char *const kinds[] = {
        [SEARCH_ASKED] = "asked", [SEARCH_TIMED] = "timed"
    };
    size_t n;
    const struct search_step *steps = search_steps(search, &n);
    int rc = store_steps_drop(filler->store, filler->sweep, filler->err);

    for (size_t i = 0; rc >= 0 && i < n; i++) {
        int64_t number = space_domain_number(space_domain, steps[i].point);
        struct value values[SPEC_AXES_MAX];
        char key[HASH_HEX];

        space_values(filler->space, number, values);
        config_key(filler->spec, values, key);
        rc = store_step_put(
            filler->store,
            &(struct store_step){ .sweep = filler->sweep,
                                  .position = (int64_t)i,
                                  .kind = kinds[steps[i].kind],
                                  .config = key,
                                  .point = number,
                                  .time_s = steps[i].kind == SEARCH_TIMED
                                                ? steps[i].time
                                                : (double)NAN },
            filler->err);
    }
    return rc;
}

static int put_unit(struct filler *filler, int unit)
{
    const struct plan_unit *u = plan_unit(filler->plan, unit);
    int rc = put_config(filler, unit);

    if (rc == 0)
        rc = put_build(filler, u);
    for (int s = 0; rc >= 0 && s < plan_shapes(filler->plan); s++)
        rc = put_result(filler, u, s);
    if (rc >= 0 && store_pending(filler->store) > GROUP)
        rc = store_commit(filler->store, filler->err);
    return rc < 0 ? rc : 0;
}

/* Asks for each configuration, stores its result, and tells the search. */
static int fill(struct filler *filler, const struct space_domain *space_domain,
                struct search *search, int results)
{
    struct search_want want;
    int rc = 0;

    while (rc >= 0 && filler->results < results &&
           search_ask(search, &want) == STRATEGY_POINT) {
        int64_t number =
            space_domain_number(space_domain, search_point(search, want.unit));

        if (want.unit == plan_taken(filler->plan))
            rc = plan_take(filler->plan, number, filler->err);
        if (rc >= 0)
            rc = put_unit(filler, want.unit);
        for (int s = 0; rc >= 0 && s < plan_shapes(filler->plan); s++)
            search_settle(search, want.unit, s, STRATEGY_TIMED,
                          median_of(plan_unit(filler->plan, want.unit)));
    }
    if (rc >= 0)
        rc = put_steps(filler, space_domain, search);
    return rc < 0 ? rc : store_commit(filler->store, filler->err);
}

static int begin(struct filler *filler, struct space_domain **space_domain,
                 struct search **search)
{
    struct search_options options = { .strategy = "exhaustive" };
    const struct store_run run = { EPOCH, 1, "box", "0", "sweep" };
    struct past_runs *past = NULL;
    struct store_sweep row;
    int rc = store_run_start(filler->store, &run, filler->err);

    if (rc == 0)
        rc = past_runs_open(filler->store, &past, filler->err);
    if (rc == 0)
        rc = past_runs_sweep(past, &row, filler->err);
    if (rc == 1)
        filler->sweep = row.id;
    past_runs_close(past);
    if (rc >= 0)
        rc = space_domain_new(filler->spec, filler->space, 0, space_domain,
                              filler->err);
    if (rc < 0)
        return rc;
    options.domain = space_domain_domain(*space_domain);
    options.baseline =
        space_domain_find(*space_domain, plan_unit(filler->plan, 0)->point);
    options.shapes = plan_shapes(filler->plan);
    options.evaluations = domain_size(options.domain);
    return search_new(&options, search, filler->err);
}

int main(int argc, char *argv[])
{
    struct err err = { "" };
    struct filler filler = { .err = &err };
    struct search *search = NULL;
    struct space_domain *space_domain = NULL;
    int rc = argc == 4 ? hash_setup(&err)
                       : err_set(&err, ERR_INPUT, "SWEEP DB RESULTS");

    if (rc == 0)
        rc = spec_load(argv[1], &filler.spec, &err);
    if (rc == 0)
        rc = space_open(filler.spec, gpu_arch_find(GPU_ARCH_DEFAULT), "cpu",
                        NULL, &filler.space, &err);
    if (rc == 0)
        rc = plan_make_open(filler.spec, filler.space, atoi(argv[3]) + 1, "cpu",
                            "cpu", &filler.plan, &err);
    if (rc == 0)
        rc = store_open(argv[2], STORE_WRITE, &filler.store, &err);
    if (rc == 0)
        rc = begin(&filler, &space_domain, &search);
    if (rc == 0)
        rc = fill(&filler, space_domain, search, atoi(argv[3]));
    if (rc < 0)
        fprintf(stderr, "bench_stored: %s\n", err.text);
    else
        printf("%d results of %d configurations\n", filler.results,
               plan_taken(filler.plan));
    search_free(search);
    space_domain_free(space_domain);
    store_close(filler.store);
    plan_free(filler.plan);
    space_close(filler.space);
    spec_free(filler.spec);
    return rc < 0;
}
