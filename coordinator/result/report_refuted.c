/* What a confirmation found wrong. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/result/report_config.h"
#include "coordinator/result/report_rows.h"
#include "coordinator/stored/stored_refuted.h"
#include "coordinator/text/string_pool.h"

struct report_refuted_one {
    char key[HASH_HEX];
    enum outcome outcome;
    const char *reason;
};

struct loading {
    struct report_refuted *to;
    struct string_pool *pool;
};

static void add(void *arg, const struct stored_refuted *row)
{
    const struct loading *l = arg;
    struct report_refuted *to = l->to;
    struct report_refuted_one *one;

    to->list = mem_grow(to->list, to->n + 1, sizeof(*to->list));
    one = &to->list[to->n++];
    *one = (struct report_refuted_one){
        .outcome = report_config_outcome(row->outcome),
        .reason = string_pool_keep(l->pool, row->reason),
    };
    snprintf(one->key, sizeof(one->key), "%s", row->config);
}

int report_refuted_load(struct store *store, struct string_pool *pool,
                        struct report_refuted *out, struct err *err)
{
    struct loading l = { out, pool };

    return stored_refuted_each(store, add, &l, err);
}

void report_refuted_fini(struct report_refuted *refuted)
{
    free(refuted->list);
    *refuted = (struct report_refuted){ NULL, 0 };
}

static void take_back(struct report_cell *cell,
                      const struct report_refuted_one *one)
{
    cell->outcome = one->outcome;
    cell->reason = one->reason;
    free(cell->samples);
    cell->samples = NULL;
    cell->n_samples = 0;
    cell->summary = (struct summary){ NAN, NAN, NAN, NAN };
    cell->normalised_s = cell->time_s = (double)NAN;
    cell->power_capped = false;
    cell->sampling = "";
}

static int by_key(const void *key, const void *one)
{
    return strcmp(key, ((const struct report_refuted_one *)one)->key);
}

bool report_refuted_apply(const struct report_refuted *refuted, const char *key,
                          struct report_cell *cells, size_t n_shapes)
{
    const struct report_refuted_one *one =
        refuted->n ? bsearch(key, refuted->list, refuted->n,
                             sizeof(*refuted->list), by_key)
                   : NULL;
    bool changes = false;

    for (size_t i = 0; one && i < n_shapes; i++)
        if (cells[i].outcome != OUTCOME_CORRECT &&
            cells[i].outcome != OUTCOME_PENDING)
            return false;
    for (size_t i = 0; one && i < n_shapes; i++) {
        if (cells[i].outcome != OUTCOME_CORRECT)
            continue;
        take_back(&cells[i], one);
        changes = true;
    }
    return changes;
}
