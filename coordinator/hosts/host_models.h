/* host_models.h - the hosts of each model of GPU in one hosts file
 *
 * Lines with model=LABEL form groups, and each group has a sweep of its own
 * (docs/gpu-models.md).  A builder without a label is dealt to one group, so
 * that it is held and paid for once: first those groups get one in which no
 * host builds, then each group in turn.
 *
 * Pure, except for host_models_of_path(); any thread.
 */
#ifndef FA_COORDINATOR_HOSTS_HOST_MODELS_H
#define FA_COORDINATOR_HOSTS_HOST_MODELS_H

#include <stddef.h>

struct err;
struct hosts;

#define HOST_MODELS_MAX 16

struct host_models {
    const char *names[HOST_MODELS_MAX]; /* borrowed from the hosts */
    size_t n;
};

/* The labels, in the order of the file; none is fine.  ERR_INPUT if there are
 * too many, or if a host that measures has none while others have one. */
int host_models_list(const char *file, const struct hosts *hosts,
                     struct host_models *out, struct err *err);

/* Keep only the hosts of this model, and the builders dealt to it.  ERR_INPUT
 * as above, or if no host has it. */
int host_models_take(const char *file, struct hosts *hosts, const char *model,
                     struct err *err);

/* Where MODEL begins in FILE#MODEL; NULL without one, or if there is a file of
 * that whole name. */
const char *host_models_of_path(const char *path);

#endif
