/* launch_child.h - each launch of an emulated kernel, in a process of its own
 *
 * The process that judges a kernel is not the one that runs it: what a kernel
 * keeps (variables, allocated memory, shared memory) ends with its launch, and
 * the reference, the verdict and the clock are out of its reach (confine.h).
 *
 * A launch has two steps.  The child loads the kernel, and says so.  Only then
 * the caller writes what the kernel is to find in its arrays, and starts it:
 * code that runs while the kernel is loaded finds nothing to compute.  The time
 * of a launch is the processor time of the child, as the system counts it, from
 * when it is loaded until the child is stopped: a kernel may have asked for a
 * signal between the two steps.
 *
 * What a child prints goes to a pipe of its own, so that nothing of it is there
 * for another one.  The first 64 KiB reach stderr when it ends.
 *
 * A child that ends by itself (a signal, exit) ends this process in the same
 * way: the worker sees a crash, as of any kernel.  One that only closes its
 * socket is killed, and its launch is a fault.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_LAUNCH_CHILD_H
#define FA_WORKER_RUNNER_DEVICE_LAUNCH_CHILD_H

#include <sys/types.h>

#include "worker/runner/device/device_kernel.h"
#include "worker/runner/emulator/emulator.h"

/* The file stays open, for its name may vanish between two launches. */
struct launch_child_object {
    int file;
    const char *path; /* for messages */
};

struct launch_child {
    pid_t pid;
    int socket;
    int output;      /* what it prints */
    double loaded_s; /* processor time when it said that it is loaded */
};

/* How a launch ended, as its child says. */
struct launch_child_reply {
    enum emulator_outcome outcome;
    double bank_conflicts; /* emulator_bank_conflicts() */
    bool unordered;        /* emulator_is_unordered() */
    bool met;              /* emulator_blocks_meet() */
    char text[600];        /* unless it is EMULATOR_DONE */
};

/* Load the object in a new process, which then waits.  0, or a
 * DEVICE_* code with 'err' and no process. */
int launch_child_start(const struct launch_child_object *object,
                       struct launch_child *out, struct device_err *err);

struct launch_child_limits {
    double processor_s; /* the emulator ends the launch, and names a thread; a
                         * loop without a primitive ends a little later */
    double wall_s;      /* ends what sleeps */
};

struct launch_child_limits launch_child_limits(double timeout_s);

/* Run 'launch' in it, in this order, and end the process.  Every child that was
 * started is given to this or to launch_child_end(). */
int launch_child_run(struct launch_child *child,
                     const struct device_launch *launch,
                     struct emulator_order in_order,
                     struct launch_child_limits limits,
                     struct launch_child_reply *reply, double *seconds,
                     struct device_err *err);
void launch_child_end(struct launch_child *child);

#endif
