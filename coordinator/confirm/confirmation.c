#include "coordinator/confirm/confirmation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_contest.h"
#include "coordinator/stored/stored_contest.h"

static const char *const kinds[] = { "confirm", "bench" };
static const char *const roles[] = { "baseline", "finalist", "rejected" };

void confirmation_fini(struct confirmation *confirmation)
{
    for (size_t i = 0; i < confirmation->n; i++)
        free(confirmation->candidates[i].reason);
    for (size_t i = 0; i < confirmation->n_shapes; i++)
        free(confirmation->shapes[i].name);
    free(confirmation->candidates);
    free(confirmation->shapes);
    free(confirmation->against);
    *confirmation = (struct confirmation){ 0 };
}

void confirmation_add(struct confirmation *confirmation, const char *key,
                      enum confirmation_role role, const char *reason)
{
    struct candidate *added;

    confirmation->candidates =
        mem_grow(confirmation->candidates, confirmation->n + 1,
                 sizeof(*confirmation->candidates));
    added = &confirmation->candidates[confirmation->n++];
    *added = (struct candidate){ .role = role,
                                 .reason = mem_strdup(reason),
                                 .proof_launches = -1,
                                 .proof_varied = -1 };
    snprintf(added->key, sizeof(added->key), "%s", key);
    confirmation->n_running += role != CONFIRMATION_REJECTED;
}

int confirmation_blocks_max(const struct confirmation *confirmation)
{
    return confirmation->looks.group > 0 ? confirmation->looks.most
                                         : confirmation->blocks;
}

int64_t confirmation_round(const struct confirmation *confirmation, int block)
{
    return confirmation->pass * CONFIRMATION_ROUNDS + block;
}

int confirmation_sources(struct store *store, struct confirmation *confirmation,
                         struct err *err)
{
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < confirmation->n; i++) {
        struct candidate *c = &confirmation->candidates[i];

        rc = stored_contest_source(store, c->key, c->source_key, err);
    }
    return err_only(rc);
}

/* ---- writing ---- */

static int put_candidate(struct store *store,
                         const struct confirmation *confirmation, size_t at,
                         struct err *err)
{
    const struct candidate *c = &confirmation->candidates[at];

    return store_contestant_put(
        store,
        &(struct store_contestant){ .pass = confirmation->pass,
                                    .position = (int64_t)at,
                                    .config = c->key,
                                    .source_key = c->source_key,
                                    .role = roles[c->role],
                                    .reason = c->reason,
                                    .proof_launches = c->proof_launches,
                                    .proof_varied = c->proof_varied },
        err);
}

int confirmation_put(struct store *store, struct confirmation *confirmation,
                     struct err *err)
{
    struct store_contest row = {
        .sweep = confirmation->sweep,
        .kind = kinds[confirmation->kind],
        .seed = confirmation->seed,
        .blocks = confirmation->blocks,
        .samples = confirmation->samples,
        .alpha = confirmation->rules.alpha,
        .floor = confirmation->rules.floor,
        .target = confirmation->rules.target,
        .against = confirmation->against,
        .possible = confirmation->possible,
        .cut = confirmation->cut,
        .proof_hours = confirmation->proof.hours,
        .proof_usd = confirmation->proof.usd,
        .started_utc = confirmation->started_utc = clock_utc_ns(),
        .look_blocks = confirmation->looks.group,
        .most_blocks = confirmation->looks.most,
        .look_over_all = confirmation->looks.over_all,
    };
    int64_t last;
    int rc = stored_contest_last(store, &last, err);

    if (rc == 0 && last >= CONFIRMATION_PASSES_MAX)
        rc = err_set(err, ERR_STORE, "%s holds %d passes and can hold no more",
                     store_path(store), CONFIRMATION_PASSES_MAX);
    confirmation->pass = row.pass = last + 1;
    if (rc == 0)
        rc = store_contest_put(store, &row, err);
    for (size_t i = 0; rc == 0 && i < confirmation->n; i++)
        rc = put_candidate(store, confirmation, i, err);
    for (size_t i = 0; rc == 0 && i < confirmation->n_shapes; i++)
        rc = store_contest_shape_put(store,
                                     &(struct store_contest_shape){
                                         confirmation->pass, (int64_t)i,
                                         confirmation->shapes[i].name,
                                         confirmation->shapes[i].measure_key },
                                     err);
    return rc;
}

int confirmation_put_out(struct store *store, struct confirmation *confirmation,
                         size_t at, const char *reason, struct err *err)
{
    struct candidate *c = &confirmation->candidates[at];

    free(c->reason);
    c->reason = mem_strdup(reason);
    return put_candidate(store, confirmation, at, err);
}

int confirmation_put_end(struct store *store, struct confirmation *confirmation,
                         bool failed, struct err *err)
{
    confirmation->ended = true;
    confirmation->failed = failed;
    return store_contest_end(store, confirmation->pass,
                             failed ? "failed" : "done", clock_utc_ns(), err);
}

/* ---- reading ---- */

static int find_word(const char *const *words, int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return 0;
}

static void read_contest(void *arg, const struct store_contest *row)
{
    struct confirmation *out = arg;

    *out = (struct confirmation){
        .pass = row->pass,
        .sweep = row->sweep,
        .kind = (enum confirmation_kind)find_word(kinds, 2, row->kind),
        .seed = row->seed,
        .blocks = (int)row->blocks,
        .samples = (int)row->samples,
        .looks = { (int)row->look_blocks, (int)row->most_blocks,
                   row->look_over_all != 0 },
        .rules = { row->alpha, row->floor, row->target },
        .against = *row->against ? mem_strdup(row->against) : NULL,
        .possible = row->possible,
        .cut = row->cut,
        .proof = { row->proof_hours, row->proof_usd },
        .started_utc = row->started_utc,
        .ended = row->ended,
        .failed = strcmp(row->ending, "failed") == 0,
    };
}

static void read_candidate(void *arg, const struct store_contestant *row)
{
    struct confirmation *out = arg;
    struct candidate *added;

    confirmation_add(out, row->config,
                     (enum confirmation_role)find_word(roles, 3, row->role),
                     row->reason);
    added = &out->candidates[out->n - 1];
    snprintf(added->source_key, sizeof(added->source_key), "%s",
             row->source_key);
    added->proof_launches = row->proof_launches;
    added->proof_varied = row->proof_varied;
}

static void read_shape(void *arg, const struct store_contest_shape *row)
{
    struct confirmation *out = arg;
    struct confirmation_shape *added;

    out->shapes =
        mem_grow(out->shapes, out->n_shapes + 1, sizeof(*out->shapes));
    added = &out->shapes[out->n_shapes++];
    added->name = mem_strdup(row->shape);
    snprintf(added->measure_key, sizeof(added->measure_key), "%s",
             row->measure_key);
}

int confirmation_load(struct store *store, int64_t sweep,
                      enum confirmation_kind kind, int64_t pass,
                      struct confirmation *out, struct err *err)
{
    int rc;

    *out = (struct confirmation){ 0 };
    rc = stored_contest_find(store, sweep, kinds[kind], pass, read_contest, out,
                             err);
    if (rc != 1)
        return rc;
    rc = stored_contest_entries(store, out->pass, read_candidate, out, err);
    if (rc == 0)
        rc = stored_contest_shapes(store, out->pass, read_shape, out, err);
    if (rc < 0) {
        confirmation_fini(out);
        return rc;
    }
    return 1;
}

struct telling {
    int64_t first;
    confirmation_result_fn *fn;
    void *arg;
};

static void tell_result(void *arg, const struct stored_contest_result *result)
{
    const struct telling *telling = arg;

    telling->fn(telling->arg,
                &(struct confirmation_result){
                    .candidate = (size_t)result->entry,
                    .shape = (size_t)result->shape,
                    .block = (int)(result->round - telling->first),
                    .gpu = result->gpu,
                    .outcome = result->outcome,
                    .detail = result->detail,
                    .samples = result->samples,
                    .artifact = result->artifact,
                    .checked = result->checked,
                    .varied = result->varied,
                });
}

int confirmation_results(struct store *store,
                         const struct confirmation *confirmation,
                         confirmation_result_fn *fn, void *arg, struct err *err)
{
    struct telling telling = { confirmation_round(confirmation, 0), fn, arg };

    return stored_contest_results(store, confirmation->pass, telling.first,
                                  telling.first + CONFIRMATION_ROUNDS,
                                  tell_result, &telling, err);
}
