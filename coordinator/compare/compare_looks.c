#include "coordinator/compare/compare_looks.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/confirm/confirmation.h"
#include "coordinator/confirm/confirmation_replay.h"
#include "coordinator/confirm/look_level.h"
#include "coordinator/confirm/sequential.h"
#include "coordinator/plan/external_times.h"
#include "coordinator/stored/stored_contest.h"

/* A confirmation that has looks. */
struct pass {
    struct confirmation is;
    struct sequential *found;
};

struct compare_looks {
    struct pass *passes;
    size_t n;
    size_t finalists; /* of any pass, at most */
};

/* The numbers of the GPUs of a pass are its own. */
struct cards {
    char **uuids;
    int n;
};

static int number_of(void *arg, const char *uuid)
{
    struct cards *cards = arg;

    for (int i = 0; i < cards->n; i++)
        if (strcmp(cards->uuids[i], uuid) == 0)
            return i;
    cards->uuids =
        mem_grow(cards->uuids, (size_t)cards->n + 1, sizeof(*cards->uuids));
    cards->uuids[cards->n] = mem_strdup(uuid);
    return cards->n++;
}

static int replay(struct store *store, struct pass *pass, struct err *err)
{
    bool *out = mem_new(pass->is.n_running, sizeof(*out));
    struct cards cards = { .n = 0 };
    int rc = confirmation_replay(
        store, &pass->is,
        &(struct confirmation_replay_ask){ number_of, &cards, external_times },
        out, &pass->found, err);

    for (int i = 0; i < cards.n; i++)
        free(cards.uuids[i]);
    free(cards.uuids);
    free(out);
    return rc;
}

int compare_looks_load(struct store *store, int64_t sweep,
                       struct compare_looks **out, struct err *err)
{
    struct compare_looks *looks = mem_new(1, sizeof(*looks));
    int64_t last;
    int rc = stored_contest_last(store, &last, err);

    for (int64_t number = 1; rc >= 0 && number <= last; number++) {
        struct pass pass = { .found = NULL };

        rc = confirmation_load(store, sweep, CONFIRMATION_CONFIRM, number,
                               &pass.is, err);
        if (rc == 1 && pass.is.n_running > looks->finalists + 1)
            looks->finalists = pass.is.n_running - 1;
        if (rc == 1 && pass.is.looks.group > 0)
            rc = replay(store, &pass, err);
        if (!pass.found) {
            confirmation_fini(&pass.is);
            continue;
        }
        looks->passes =
            mem_grow(looks->passes, looks->n + 1, sizeof(*looks->passes));
        looks->passes[looks->n++] = pass;
    }
    if (rc < 0) {
        compare_looks_free(looks);
        looks = NULL;
    }
    *out = looks;
    return err_only(rc);
}

void compare_looks_free(struct compare_looks *looks)
{
    if (!looks)
        return;
    for (size_t i = 0; i < looks->n; i++) {
        confirmation_fini(&looks->passes[i].is);
        sequential_free(looks->passes[i].found);
    }
    free(looks->passes);
    free(looks);
}

size_t compare_looks_finalists(const struct compare_looks *looks)
{
    return looks->finalists;
}

/* What is left of 'alpha' after all looks at one of them. */
static double level_of(struct compare_looked of, double alpha)
{
    for (size_t i = 0; i < of.looks->n; i++) {
        const struct pass *pass = &of.looks->passes[i];

        for (size_t c = 0; c < pass->is.n_running; c++)
            if (strcmp(pass->is.candidates[c].key, of.key) == 0)
                alpha = look_level(pass->found, c, alpha);
    }
    return alpha;
}

double compare_looks_level(struct compare_looked a, struct compare_looked b,
                           double alpha)
{
    return fmin(level_of(a, level_of(b, alpha)),
                level_of(b, level_of(a, alpha)));
}
