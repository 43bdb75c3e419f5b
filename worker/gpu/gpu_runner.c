#include "worker/gpu/gpu_runner.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/device_kind.h"
#include "worker/process/sandbox_policy.h"

/* A first CUDA context can take 30 s. */
#define OPEN_LIMIT_NS (120 * NS_PER_S)

/* Kernels of the cpu device are code of others, and so may records be. */
int gpu_runner_open(const struct gpu_runner *runner, int64_t now_ns,
                    struct runner_session **out, struct err *err)
{
    struct wire_request request = { .kind = WIRE_OPEN };
    struct sandbox *sandbox = sandbox_policy_copy(runner->sandbox);
    char files[PATH_MAX], scratch[PATH_MAX];
    int rc;

    runner_dir_path(&runner->folder, "files", files);
    runner_dir_path(&runner->folder, "tmp", scratch);
    if (sandbox) {
        sandbox->trusted = device_kind_is(runner->device, DEVICE_KIND_CUDA);
        sandbox->offline = sandbox->offline && !sandbox->trusted;
        (void)sandbox_set(sandbox, runner->program, SANDBOX_READ);
        (void)sandbox_set(sandbox, files, SANDBOX_READ);
        (void)sandbox_set(sandbox, scratch, SANDBOX_WRITE);
    }
    rc = runner_session_start(
        &(struct runner_session_spec){ runner->program, scratch, sandbox },
        now_ns, out, err);
    sandbox_free(sandbox);
    if (rc < 0)
        return rc;
    snprintf(request.device, sizeof(request.device), "%s", runner->device);
    snprintf(request.gpu, sizeof(request.gpu), "%s", runner->gpu);
    runner_session_ask(*out, &request, OPEN_LIMIT_NS, now_ns);
    return 0;
}

/* A KILL or TERM that we did not send comes from the system (memory, a job of
 * Slurm that is preempted) or an operator. */
enum outcome gpu_runner_outcome(const struct runner_session_end *end)
{
    switch (end->cause) {
    case RUNNER_SESSION_LIMIT:
        return OUTCOME_TIMEOUT;
    case RUNNER_SESSION_SIGNALLED:
        return end->signal == SIGKILL || end->signal == SIGTERM
                   ? OUTCOME_CRASH
                   : OUTCOME_RUNTIME;
    case RUNNER_SESSION_EXITED:
    case RUNNER_SESSION_GARBAGE:
    case RUNNER_SESSION_KILLED:
        break;
    }
    return OUTCOME_CRASH;
}
