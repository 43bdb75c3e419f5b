/* model_alike.h - labels of a hosts file that mean the same model of GPU
 *
 * A label is the user's; what a GPU is, its worker says.  Two labels for one
 * model are two sweeps, each of which measures every configuration.
 */
#ifndef FA_COORDINATOR_MODEL_SWEEPS_MODEL_ALIKE_H
#define FA_COORDINATOR_MODEL_SWEEPS_MODEL_ALIKE_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/spec/gpu_arch.h"

/* The first GPU that measures in the sweep of a label. */
struct model_alike {
    char host[256], name[256];
    struct gpu_arch_facts facts;
    bool is_known;
};

/* Read it from the sweep's database, if it is there already. */
void model_alike_load(const char *db, struct model_alike *out);

/* The same name, capability, SM count and memory?  Then also the warning.
 * Pure. */
bool model_alike_warn(const char *label, const struct model_alike *a,
                      const char *other, const struct model_alike *b, char *out,
                      size_t size);

#endif
