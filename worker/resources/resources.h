/* resources.h - the resources of a worker: compiler, build slots, runner, GPUs
 *
 *   toolkit --> fa-facts (built here) --> GPUs known --> ready
 *           --> fa-runner (built here) --> GPUs measure
 *
 * fa-facts is only for CUDA, and only while fa-runner is not in the cache; else
 * fa-runner opens the GPUs.  Without GPUs ("none") only the first step is
 * needed.  Trouble is final.
 * Poll-driven (child.h).
 */
#ifndef FA_WORKER_RESOURCES_RESOURCES_H
#define FA_WORKER_RESOURCES_RESOURCES_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/build/slots.h"
#include "worker/gpu/gpus.h"
#include "worker/store/cache.h"
#include "worker/tool/tools.h"

struct gpu_share;
struct msg_welcome;
struct resources;

enum resources_state {
    RESOURCES_OPENING,
    RESOURCES_READY,
    RESOURCES_TROUBLE
};

/* As 'welcome' says: device, gpus, nvcc, slots, allow.  Always gives a bench,
 * which may be in trouble already.  'cache' and 'share' are borrowed; 'share'
 * NULL: no other worker uses its GPUs.  Programs do not see 'database', the
 * coordinator's; "": unknown. */
struct resources *resources_open(const struct msg_welcome *welcome,
                                 struct cache *cache,
                                 const struct gpu_share *share,
                                 const char *database, int64_t now_ns);
void resources_close(struct resources *resources); /* kills; NULL is fine */

/* Do these match what this WELCOME asks for, and do their programs not see this
 * database either? */
bool resources_serves(const struct resources *resources,
                      const struct msg_welcome *welcome, const char *database);
/* Ready, and no GPU is in trouble. */
bool resources_is_sound(const struct resources *resources);
/* End all tools, also those that wait to be asked again. */
void resources_end_tools(struct resources *resources);

size_t resources_poll(const struct resources *resources, struct pollfd *fds,
                      size_t max);
int64_t resources_deadline_ns(const struct resources *resources);
enum resources_state resources_step(struct resources *resources,
                                    int64_t now_ns);
/* The share has got more GPUs. */
void resources_grow(struct resources *resources, int64_t now_ns);
enum resources_state resources_state(const struct resources *resources);

/* From now on in trouble: what was found while it worked. */
void resources_fail(struct resources *resources, const char *what,
                    const char *text);

/* In trouble: what failed (toolkit, runner, device, lock
 * or limits), and the text. */
const char *resources_what(const struct resources *resources);
const char *resources_why(const struct resources *resources);

/* Once ready. */
const char *resources_toolkit(const struct resources *resources);
/* How programs are kept from files: mounts, Landlock or nothing. */
const char *resources_means(const struct resources *resources);
/* What programs reach that they should not, for people; "" if nothing. */
const char *resources_warning(const struct resources *resources);
size_t resources_n_slots(const struct resources *resources);
/* Builds at once on so many cores: each GPU has one for its runner, which feeds
 * it, and one build there always is. */
size_t resources_slots_beside(size_t cores, size_t gpus);
/* How many of them may build at once while so many workers share the cores: an
 * equal part less one for each GPU, at least 1.  Slots that the hosts file
 * names are no part. */
size_t resources_builds(const struct resources *resources, size_t workers);
struct slots *resources_slots(struct resources *resources);
struct tools *resources_tools(struct resources *resources);
size_t resources_n_gpus(const struct resources *resources);
bool resources_lack_gpus(const struct resources *resources);
struct gpu *resources_gpu(struct resources *resources, size_t i);
int resources_gpu_index(struct resources *resources,
                        const char *uuid); /* or -1 */

#endif
