/* gpu_runner.h - what fa-runner processes of one GPU are started with
 */
#ifndef FA_WORKER_GPU_GPU_RUNNER_H
#define FA_WORKER_GPU_GPU_RUNNER_H

#include <stdint.h>

#include "common/err.h"
#include "common/outcome.h"
#include "worker/gpu/runner_session.h"
#include "worker/store/runner_dir.h"

struct gpu_runner {
    char device[8];
    char gpu[WIRE_NAME_MAX + 1];   /* index or UUID */
    char *program;                 /* path of fa-runner, or of fa-facts */
    const struct sandbox *sandbox; /* borrowed; NULL: none */
    struct runner_dir folder;
};

/* Start one and ask it to open the GPU. */
int gpu_runner_open(const struct gpu_runner *runner, int64_t now_ns,
                    struct runner_session **out, struct err *err);

/* What the end of its process makes of a measurement. */
enum outcome gpu_runner_outcome(const struct runner_session_end *end);

#endif
