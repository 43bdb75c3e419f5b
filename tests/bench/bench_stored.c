/* bench_stored.c - a database in which so many results of its sweep are stored
 *
 *     bench_stored SWEEP DB RESULTS
 *
 * DB is of this sweep file on the cpu device, begun by fa-coord.  The first
 * points are put down as if every one of them had been asked for, built and
 * measured; bench_start.py measures how soon `resume` goes on from there.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/hash.h"
#include "coordinator/history.h"
#include "coordinator/plan.h"
#include "coordinator/space.h"
#include "coordinator/spec.h"
#include "coordinator/sql.h"
#include "coordinator/store.h"

#define SAMPLES 30
#define EPOCH 1 /* before that of any run */
#define GROUP 4096
#define UTC INT64_C(1700000000000000000)

struct filler {
    struct store *store;
    struct plan *plan;
    struct err *err;
    int64_t sweep, leases, nonces, steps;
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

static int put_result(struct filler *filler, const struct plan_unit *unit,
                      int shape)
{
    static const double pair[] = { 2040, 2025 };
    const char *name = plan_shape_name(filler->plan, shape);
    double samples[SAMPLES];
    char nonce[HASH_HEX];
    struct store_result row = { .nonce = next_nonce(filler, nonce),
                                .epoch = EPOCH,
                                .config = unit->key,
                                .shape = name,
                                .purpose = "screen",
                                .attempt = 1,
                                .source_key = unit->source_key,
                                .measure_key =
                                    plan_measure_key(filler->plan, shape),
                                .host = "localhost",
                                .gpu = "CPU-0",
                                .artifact = unit->key,
                                .outcome = "correct",
                                .sampling = "settled",
                                .l2 = "flush",
                                .samples = { samples, SAMPLES },
                                .clock_mhz = { pair, 2 },
                                .held_s = 0.005,
                                .seconds = 0.005,
                                .received_utc = UTC };
    int rc = put_lease(filler, unit, name, "measure");

    for (int i = 0; i < SAMPLES; i++)
        samples[i] = (double)(0.6f + 1e-4f * (float)(unit->point % 997)) / 1e3;
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
                                 .measure_key = row.measure_key,
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

static int put_step(struct filler *filler, const struct plan_unit *unit,
                    const char *kind, double time_s)
{
    return store_step_put(filler->store,
                          &(struct store_step){ .sweep = filler->sweep,
                                                .position = filler->steps++,
                                                .kind = kind,
                                                .config = unit->key,
                                                .point = unit->point,
                                                .time_s = time_s },
                          filler->err);
}

static int put_unit(struct filler *filler, int unit, bool searched)
{
    const struct plan_unit *u = plan_unit(filler->plan, unit);
    int rc = put_config(filler, unit);

    if (rc == 0 && searched)
        rc = put_step(filler, u, "asked", (double)NAN);
    if (rc == 0)
        rc = put_build(filler, u);
    for (int s = 0; rc >= 0 && s < plan_shapes(filler->plan); s++)
        rc = put_result(filler, u, s);
    if (rc >= 0 && searched)
        rc = put_step(filler, u, "timed", 6e-4);
    if (rc >= 0 && store_pending(filler->store) > GROUP)
        rc = store_commit(filler->store, filler->err);
    return rc < 0 ? rc : 0;
}

static int fill(struct filler *filler, struct space *space, int results)
{
    struct space_point point;
    struct history *history = NULL;
    struct store_sweep row;
    int64_t searched = 0;
    int rc = history_open(filler->store, &history, filler->err);

    if (rc == 0)
        rc = history_sweep(history, &row, &filler->sweep, filler->err);
    history_close(history);
    if (rc >= 0)
        rc = sql_number(store_db(filler->store), "SELECT count(*) FROM step",
                        &searched, filler->err);
    if (rc >= 0)
        rc = store_steps_drop(filler->store, filler->sweep, filler->err);
    while (rc >= 0 && filler->results < results &&
           (rc = space_next(space, &point, filler->err)) == 1) {
        if (point.number == plan_unit(filler->plan, 0)->point)
            continue;
        rc = plan_take(filler->plan, point.number, filler->err);
        if (rc >= 0)
            rc = put_unit(filler, rc, searched > 0);
    }
    return rc < 0 ? rc : store_commit(filler->store, filler->err);
}

int main(int argc, char *argv[])
{
    struct err err = { "" };
    struct filler filler = { .err = &err };
    struct spec *spec = NULL;
    struct space *space = NULL;
    int rc = argc == 4 ? hash_setup(&err)
                       : err_set(&err, ERR_INPUT, "SWEEP DB RESULTS");

    if (rc == 0)
        rc = spec_load(argv[1], &spec, &err);
    if (rc == 0)
        rc = space_open(spec, arch_find(ARCH_DEFAULT), "cpu", &space, &err);
    if (rc == 0)
        rc = plan_make_open(spec, space, atoi(argv[3]) + 1, "cpu", "cpu",
                            &filler.plan, &err);
    if (rc == 0)
        rc = store_open(argv[2], STORE_WRITE, &filler.store, &err);
    if (rc == 0)
        rc = fill(&filler, space, atoi(argv[3]));
    if (rc < 0)
        fprintf(stderr, "bench_stored: %s\n", err.text);
    else
        printf("%d results of %d configurations\n", filler.results,
               plan_taken(filler.plan) - 1);
    store_close(filler.store);
    plan_free(filler.plan);
    space_close(space);
    spec_free(spec);
    return rc < 0;
}
