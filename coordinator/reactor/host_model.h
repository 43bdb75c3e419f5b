/* host_model.h - do the GPUs of a host belong to the model of the sweep?
 *
 * One model a sweep: capability, SM count, memory (docs/gpu-models.md).  Hosts
 * with model=LABEL were said to have one model; one that has another is
 * refused, also if only its name differs.  Without a label it builds.
 */
#ifndef FA_COORDINATOR_REACTOR_HOST_MODEL_H
#define FA_COORDINATOR_REACTOR_HOST_MODEL_H

#include <stddef.h>

struct err;
struct host_state;
struct sweep;

/* Of a host that is ready, when the model is known.  GPUs of other models are
 * dropped, which is said.  ERR_INPUT if it has a label: the text names both
 * hosts and their GPUs. */
int host_model_take(struct sweep *sweep, size_t host, struct err *err);

/* Another host that has this GPU: it is one box under two names.  NULL: none
 */
const struct host_state *host_model_other_name(const struct sweep *sweep,
                                               size_t host, const char *uuid);

#endif
