/* bench.h - what a worker works with: compiler, build slots, runner, GPUs
 *
 *   toolkit --> fa-runner (built here) --> GPUs opened --> ready
 *
 * Without GPUs ("none") the first step is all.  A bench that is in trouble
 * stays so.  Poll-driven (child.h).
 */
#ifndef FA_WORKER_BENCH_H
#define FA_WORKER_BENCH_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/msg.h"
#include "worker/cache.h"
#include "worker/gpus.h"
#include "worker/slots.h"
#include "worker/tools.h"

struct bench;

enum bench_state {
    BENCH_OPENING,
    BENCH_READY,
    BENCH_TROUBLE
};

/* As 'welcome' says: device, gpus, nvcc, slots.  Always gives a bench, which
 * may be in trouble already.  'cache' is borrowed. */
struct bench *bench_open(const struct msg *welcome, struct cache *cache,
                         int64_t now_ns);
void bench_close(struct bench *bench); /* kills; NULL is fine */

/* It is what this WELCOME asks for. */
bool bench_serves(const struct bench *bench, const struct msg *welcome);

size_t bench_poll(const struct bench *bench, struct pollfd *fds, size_t max);
int64_t bench_deadline_ns(const struct bench *bench);
enum bench_state bench_step(struct bench *bench, int64_t now_ns);
enum bench_state bench_state(const struct bench *bench);

/* In trouble: toolkit, runner, device or lock, and the text. */
const char *bench_what(const struct bench *bench);
const char *bench_why(const struct bench *bench);

/* Once ready. */
const char *bench_toolkit(const struct bench *bench);
size_t bench_n_slots(const struct bench *bench);
struct slots *bench_slots(struct bench *bench);
struct tools *bench_tools(struct bench *bench);
size_t bench_n_gpus(const struct bench *bench);
struct gpu *bench_gpu(struct bench *bench, size_t i);
int bench_gpu_index(struct bench *bench, const char *uuid); /* or -1 */

#endif
