/* slots.h - the builds of a worker: so many at once, the rest in line
 *
 * Poll-driven (child.h).
 */
#ifndef FA_WORKER_BUILD_SLOTS_H
#define FA_WORKER_BUILD_SLOTS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/build/build.h"

struct slots;

enum {
    SLOTS_MAX = 256
};

/* 'n' in [1, SLOTS_MAX]; 'tools' is copied, what it points to is borrowed. */
struct slots *slots_new(const struct build_tools *tools, size_t n);
void slots_free(struct slots *slots); /* kills; NULL is fine */

/* The job is copied.  ERR_INPUT when n + 1 are in hand already. */
int slots_add(struct slots *slots, int64_t lease, const struct build_job *job,
              struct err *err);
void slots_cancel(struct slots *slots, int64_t lease); /* no result follows */
size_t slots_busy(const struct slots *slots);          /* in hand */

size_t slots_poll(const struct slots *slots, struct pollfd *fds, size_t max);
/* 0 when a build could start: step at once. */
int64_t slots_deadline_ns(const struct slots *slots);
void slots_step(struct slots *slots, int64_t now_ns);

/* Leases that got a slot since the last call, one a call. */
bool slots_next_started(struct slots *slots, int64_t *lease);
/* Results since the last call, one a call; fini 'out'. */
bool slots_next_result(struct slots *slots, int64_t *lease,
                       struct build_result *out);

#endif
