/* slots.h - runs a limited number of builds at once; others wait
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

/* 'n' in [1, SLOTS_MAX]. 'tools' is copied, but its pointers are borrowed. */
struct slots *slots_new(const struct build_tools *tools, size_t n);
void slots_free(struct slots *slots); /* kills; NULL is fine */

/* The job is copied.  ERR_INPUT if it has n + 1 builds already. */
int slots_add(struct slots *slots, int64_t lease, const struct build_job *job,
              struct err *err);
void slots_cancel(struct slots *slots, int64_t lease); /* no result follows */
size_t slots_busy(const struct slots *slots);          /* builds held, running
                                                        * or waiting */

size_t slots_poll(const struct slots *slots, struct pollfd *fds, size_t max);
/* The next time to call step; 0: a build could start now. */
int64_t slots_deadline_ns(const struct slots *slots);
void slots_step(struct slots *slots, int64_t now_ns);

/* Leases that got a slot since the last call; returns one a call. */
bool slots_next_started(struct slots *slots, int64_t *lease);
/* Results since the last call; returns one a call.  Fini 'out'. */
bool slots_next_result(struct slots *slots, int64_t *lease,
                       struct build_result *out);

#endif
