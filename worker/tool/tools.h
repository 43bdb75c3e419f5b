/* tools.h - the tools that run on a worker's GPUs, at most one a GPU
 *
 * A GPU is held from the start of its tool until all its processes have ended,
 * even if it was cancelled.  Nothing else is measured on the GPU meanwhile.
 * One that answers lines does not hold the GPU between its runs: its processes
 * are stopped then, and the next run of the same command and files finds it.
 * Poll-driven (child.h).
 */
#ifndef FA_WORKER_TOOL_TOOLS_H
#define FA_WORKER_TOOL_TOOLS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/tool/tool.h"

struct tools;

/* 'box' is copied, but its pointers are borrowed. */
struct tools *tools_new(const struct tool_box *box);
void tools_free(struct tools *tools); /* kills; NULL is fine */
/* The path of fa-runner, once it is built; borrowed. */
void tools_use(struct tools *tools, const char *runner);

/* Only on a GPU that tools_hold() reports as free. */
void tools_add(struct tools *tools, int64_t lease, int gpu,
               const struct tool_job *job, int64_t now_ns);
void tools_cancel(struct tools *tools, int64_t lease); /* no result follows */
bool tools_hold(const struct tools *tools, int gpu);

size_t tools_poll(const struct tools *tools, struct pollfd *fds, size_t max);
int64_t tools_deadline_ns(const struct tools *tools);
void tools_step(struct tools *tools, int64_t now_ns);

/* Results since the last call; returns one a call.  Fini 'out'. '*stuck': the
 * tool cannot be killed, and its GPU stays held. */
bool tools_next_result(struct tools *tools, int64_t *lease, bool *stuck,
                       struct tool_result *out);

#endif
