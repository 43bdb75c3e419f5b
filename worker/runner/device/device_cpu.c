/* device_cpu.c - the device that is an emulation (emulator/emulator.h)
 *
 * Facts are those of an NVIDIA L4 (sm_89). Each launch is a process of its own
 * (launch_child.h).  Times are its processor times, without other work of the
 * machine.  They say nothing about a GPU.
 */
#include "worker/runner/device/device_cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/device_kind.h"
#include "common/mem.h"
#include "worker/runner/device/cpu_buffer.h"
#include "worker/runner/device/device_host.h"
#include "worker/runner/device/launch_child.h"
#include "worker/runner/device/order_check.h"
#include "worker/runner/emulator/array.h"
#include "worker/runner/emulator/order.h"
#include "worker/runner/secret.h"

const char device_name[] = "cpu";

/* Share of the host's memory; compilers need the rest. */
#define ROOM_BYTES ((size_t)512 << 20)

struct device_kernel {
    char *path;
    int file; /* the object, which each launch loads (launch_child.h) */
    uint64_t launches;
};

/* In reverse, a launch may take this many times as long as forward, and this
 * much longer. */
#define REVERSE_FACTOR 10
#define REVERSE_GRACE_S 0.5

static const struct emulator_order forward = { ORDER_FORWARD, ORDER_FORWARD,
                                               EMULATOR_ALL, false };

static double bank_conflicts; /* of the latest launch */
static double used_s;         /* by all launches but those that compare */

static const struct device_fact facts_table[] = {
    { "arch", "89" },
    { "sm_count", "58" },
    { "smem_per_block", "101376" },
    { "smem_per_sm", "102400" },
    { "regs_per_block", "65536" },
    { "regs_per_sm", "65536" },
    { "threads_per_sm", "1536" },
    { "blocks_per_sm", "24" },
    { "max_threads_per_block", "1024" },
    { "l2_bytes", "50331648" },
    { "mem_bytes", "24152899584" },
    { "dram_bytes_per_s", "300000000000" },
    { "sm_clock_hz", "2040000000" },
    { "mma_flops_per_clock_sm", "1024" },
    { "device", "cpu" },
    { "gpu_name", DEVICE_KIND_EMULATED_GPU },
    { "uuid", "emulation" },
};

const struct device_host device_host = {
    facts_table, sizeof(facts_table) / sizeof(facts_table[0]), ROOM_BYTES
};

/* The inputs are not there before the kernel is loaded. */
static int load_once(const struct device_kernel *kernel,
                     struct emulator_order order, struct launch_child *out,
                     struct device_err *err)
{
    const struct launch_child_object object = { kernel->file, kernel->path };
    int rc;

    array_forget_unordered();
    if (array_withhold_sealed(order_unwritten(order.blocks)))
        rc = launch_child_start(&object, out, err);
    else
        rc = device_host_fail(err, DEVICE_BROKEN, "mprotect: %s",
                              strerror(errno));
    if (array_return_sealed() || rc < 0)
        return rc;
    launch_child_end(out);
    return device_host_fail(err, DEVICE_BROKEN, "mprotect: %s",
                            strerror(errno));
}

int device_load(struct device *device, const char *path, const char *entry,
                struct device_kernel **out, struct device_err *err)
{
    struct device_kernel *kernel = mem_new(1, sizeof(*kernel));
    struct launch_child child;
    int rc;

    (void)entry; /* its object has only one, exported as fa_entry */
    kernel->path = mem_strdup(path);
    kernel->file = open(path, O_RDONLY | O_CLOEXEC);
    rc = kernel->file < 0 ? device_host_fail(err, DEVICE_REFUSED, "%s: %s",
                                             path, strerror(errno))
                          : load_once(kernel, forward, &child, err);
    if (rc < 0) {
        device_unload(device, kernel);
        return rc;
    }
    launch_child_end(&child);
    *out = kernel;
    return 0;
}

void device_unload(struct device *device, struct device_kernel *kernel)
{
    (void)device;
    if (!kernel)
        return;
    if (kernel->file >= 0)
        close(kernel->file);
    free(kernel->path);
    free(kernel);
}

static int outcome_code(enum emulator_outcome outcome)
{
    switch (outcome) {
    case EMULATOR_DONE:
        return 0;
    case EMULATOR_REFUSED:
        return DEVICE_REFUSED;
    case EMULATOR_FAULT:
        return DEVICE_FAULT;
    case EMULATOR_TIMEOUT:
        return DEVICE_TIMEOUT;
    case EMULATOR_BROKEN:
        break;
    }
    return DEVICE_BROKEN;
}

/* A child that has loaded the kernel, for a launch in this order. */
static int start(const struct device_launch *launch,
                 struct emulator_order order, struct launch_child *child,
                 struct device_err *err)
{
    const unsigned *block = launch->block;

    emulator_reserve(block[0] * block[1] * block[2]);
    return load_once(launch->kernel, order, child, err);
}

/* A fault may show in one order alone.  The time that is up does so only in
 * reverse: of the others, the launches before have used the most of it. */
static void name_order(int rc, const struct emulator_order *order,
                       struct device_err *err)
{
    size_t n = strlen(err->text);

    if (rc == DEVICE_TIMEOUT && order->blocks != ORDER_REVERSE)
        snprintf(err->text + n, sizeof(err->text) - n,
                 " in launch %llu of the kernel: measure.timeout_s is for all "
                 "launches of a measurement, 60 s for one of a reference",
                 (unsigned long long)order->blocks + 1);
    else if (order->blocks == ORDER_REVERSE)
        snprintf(err->text + n, sizeof(err->text) - n,
                 "; blocks and threads ran in reverse order");
    else if (order->part != EMULATOR_ALL)
        snprintf(err->text + n, sizeof(err->text) - n,
                 "; one half of the blocks ran without the other");
    else if (order->blocks != ORDER_FORWARD)
        snprintf(err->text + n, sizeof(err->text) - n,
                 "; blocks and threads ran in drawn order %llu",
                 (unsigned long long)order->blocks);
}

/* What became of a launch that ended well. */
struct ran {
    double seconds;
    bool unordered; /* emulator_is_unordered() */
    bool met;       /* emulator_blocks_meet() */
};

/* In a child of start(). */
static int run_in(struct launch_child *child,
                  const struct device_launch *launch,
                  struct emulator_order order,
                  struct launch_child_limits limits, struct ran *ran,
                  struct device_err *err)
{
    struct launch_child_reply reply = { .outcome = EMULATOR_DONE };
    int rc = launch_child_run(child, launch, order, limits, &reply,
                              &ran->seconds, err);

    if (rc == 0) {
        bank_conflicts = reply.bank_conflicts;
        ran->unordered = reply.unordered;
        ran->met = reply.met;
    }
    if (rc == 0 && reply.outcome != EMULATOR_DONE)
        rc = device_host_fail(err, outcome_code(reply.outcome), "%s",
                              reply.text);
    if (rc == DEVICE_FAULT || rc == DEVICE_TIMEOUT)
        name_order(rc, &order, err);
    return rc;
}

static int run_once(const struct device_launch *launch,
                    struct emulator_order order,
                    struct launch_child_limits limits, struct ran *ran,
                    struct device_err *err)
{
    struct launch_child child;
    int rc;

    secret_wipe_stack();
    rc = start(launch, order, &child, err);
    return rc < 0 ? rc : run_in(&child, launch, order, limits, ran, err);
}

/* Copies of what kernels may write; NULL without. */
static struct order_check *begin_check(void)
{
    struct order_check_array *arrays;
    struct order_check *check;
    size_t n = 0;

    for (const struct device_buffer *b = cpu_buffer_first(); b; b = b->next)
        n += b->writable;
    arrays = mem_new(n + 1, sizeof(*arrays));
    n = 0;
    for (const struct device_buffer *b = cpu_buffer_first(); b; b = b->next)
        if (b->writable)
            arrays[n++] =
                (struct order_check_array){ b->name, b->type, b->count,
                                            array_base(b->array),
                                            array_met(b->array) };
    check = order_check_new(arrays, n);
    free(arrays);
    return check;
}

/* Leave out what may be another number in another order, after a launch: a
 * workspace, and an output that atomics summed.  False if all may be: a
 * workspace with such sums may be in any output. */
static bool leave_out_unordered(struct order_check *check,
                                const struct ran *ran)
{
    bool some = !ran->unordered;

    for (const struct device_buffer *b = cpu_buffer_first(); b; b = b->next) {
        const bool compared = cpu_buffer_is_compared(b);
        const bool unordered = array_is_unordered(b->array);

        if (b->writable && (unordered || !compared))
            order_check_leave_out(check, array_base(b->array));
        some = some && (compared || !unordered);
    }
    return some;
}

/* Run it again in this order, as the first time; 1 if the result is another. */
static int run_again(const struct device_launch *launch,
                     struct emulator_order order,
                     struct launch_child_limits limits,
                     struct order_check *check, char *text, size_t size,
                     struct device_err *err)
{
    struct ran ran;
    int rc;

    order_check_restore(check);
    rc = run_once(launch, order, limits, &ran, err);
    if (rc < 0)
        return rc;
    return leave_out_unordered(check, &ran) &&
           !order_check_same(check, text, size);
}

/* The result of 'check' is that of the launch in forward order. */
static int compare_orders(const struct device_launch *launch,
                          struct launch_child_limits limits,
                          struct order_check *check, struct device_err *err)
{
    struct emulator_order order = { ORDER_REVERSE, ORDER_REVERSE, EMULATOR_ALL,
                                    true };
    const char *cause = "threads of a block that run at the same time change";
    char text[200], unused[200];
    int rc = run_again(launch, order, limits, check, text, sizeof(text), err);

    if (rc <= 0)
        return rc;
    order.apart = false;
    rc = run_again(launch, order, limits, check, unused, sizeof(unused), err);
    if (rc > 0) {
        memcpy(text, unused, sizeof(text));
        order.threads = ORDER_FORWARD;
        rc = run_again(launch, order, limits, check, unused, sizeof(unused),
                       err);
        cause = rc ? "the order of blocks changes"
                   : "the order of a block's threads changes";
    }
    return rc < 0 ? rc
                  : device_host_fail(err, DEVICE_WRONG, "%s the result: %s",
                                     cause, text);
}

/* The halves of its blocks as if at the same time: neither finds what the other
 * one does, but for atomics.  A half that waits for the other one proves
 * nothing. */
static int compare_halves(const struct device_launch *launch,
                          struct launch_child_limits limits,
                          struct order_check *check, struct device_err *err)
{
    struct emulator_order order = forward;
    char text[200];
    bool same = true;
    struct ran ran;
    int rc;

    order_check_restore(check);
    array_forget_met();
    order.part = EMULATOR_EVEN;
    rc = run_once(launch, order, limits, &ran, err);
    if (rc < 0 || ran.met || !order_check_halve(check))
        return rc == DEVICE_TIMEOUT ? 0 : rc;
    order.part = EMULATOR_ODD;
    rc = run_once(launch, order, limits, &ran, err);
    if (rc < 0)
        return rc == DEVICE_TIMEOUT ? 0 : rc;
    if (!leave_out_unordered(check, &ran))
        return 0;
    for (int first_wins = 0; first_wins < 2; first_wins++) {
        order_check_join(check, first_wins);
        same = same && order_check_same(check, text, sizeof(text));
    }
    if (same)
        return 0;
    return device_host_fail(err, DEVICE_WRONG,
                            "blocks that run at the same time change the "
                            "result: %s",
                            text);
}

static bool has_halves(const struct device_launch *launch)
{
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2] > 1;
}

/* The first launch of a kernel: forward, and then as it is compared, which is
 * not counted as used time. */
static int run_both_ways(const struct device_launch *launch, double timeout_s,
                         struct device_err *err)
{
    struct order_check *check = begin_check();
    struct launch_child_limits limits = launch_child_limits(timeout_s);
    struct ran ran = { .seconds = 0 };
    int rc = run_once(launch, forward, limits, &ran, err);

    used_s += ran.seconds;
    if (rc == 0 && check && leave_out_unordered(check, &ran)) {
        limits.processor_s = REVERSE_FACTOR * ran.seconds + REVERSE_GRACE_S;
        order_check_keep(check);
        rc = compare_orders(launch, limits, check, err);
        if (rc == 0 && !ran.met && has_halves(launch))
            rc = compare_halves(launch, limits, check, err);
        if (rc == 0)
            order_check_finish(check);
    }
    order_check_free(check);
    return rc;
}

/* Each launch after the first two has another order. */
static struct emulator_order next_order(struct device_kernel *kernel)
{
    const uint64_t order = ++kernel->launches;

    return (struct emulator_order){ order, order, EMULATOR_ALL, false };
}

int device_run(struct device *device, const struct device_launch *launch,
               double timeout_s, struct device_err *err)
{
    struct ran ran = { .seconds = 0 };
    int rc;

    (void)device;
    if (timeout_s <= 0)
        return device_host_fail(err, DEVICE_TIMEOUT,
                                "the time limit left no time for a launch");
    if (launch->kernel->launches == 0) {
        launch->kernel->launches = ORDER_REVERSE;
        return run_both_ways(launch, timeout_s, err);
    }
    rc = run_once(launch, next_order(launch->kernel),
                  launch_child_limits(timeout_s), &ran, err);
    used_s += ran.seconds;
    return rc;
}

double device_clock_s(const struct device *device)
{
    (void)device;
    return used_s;
}

double device_cpu_bank_conflicts(void)
{
    return bank_conflicts;
}

/* Each launch loads it. */
int device_reload(struct device *device, struct device_kernel *kernel,
                  struct device_err *err)
{
    (void)device;
    (void)kernel;
    (void)err;
    return 0;
}

/* Write the buffers of a turn as they are to be before its launch. */
static int write_starts(struct device *device, const struct device_batch *batch,
                        const struct device_turn *turn, size_t n_args,
                        struct device_err *err)
{
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < n_args; k++) {
        struct device_buffer *written = batch->written[k];
        struct poison poison = turn->poison;

        poison.key = fill_mix(poison.key + k);
        if (written && turn->starts[k])
            memcpy(device_address(written), device_address(turn->starts[k]),
                   cpu_buffer_bytes(written));
        else if (written && (turn->references[k] || !turn->kept))
            rc = device_poison(device, written, &poison, err);
    }
    return rc;
}

static int look_at(struct device *device, const struct device_buffer *written,
                   struct device_buffer *reference, const struct check_how *how,
                   uint64_t known, struct device_seen *seen,
                   struct device_err *err)
{
    struct device_scan scan = { .buffer = written, .sums = true };
    int rc = device_scan(device, &scan, 1, err); /* see check_guard() */

    seen->sum = scan.sum;
    seen->compared = rc == 0 && seen->sum != known;
    if (seen->compared)
        rc = device_check(device, written, reference, how, &seen->check, NULL,
                          err);
    return rc;
}

/* What a kernel writes beside its buffers would be there in its next launch. */
static int check_guard(const struct device_buffer *written,
                       struct device_err *err)
{
    const int64_t overrun = array_overrun(written->array);

    if (overrun == 0)
        return 0;
    device_host_fail(
        err, DEVICE_FAULT, "out-of-bounds write: byte %lld %s '%s'",
        (long long)(overrun < 0 ? -overrun : overrun),
        overrun < 0 ? "before" : "after the end of", written->name);
    err->poisoned = true;
    return DEVICE_FAULT;
}

/* One launch of a batch.  The buffers are written when the kernel is loaded. */
static int time_one(struct device *device, const struct device_launch *launch,
                    const struct device_batch *batch, size_t i, double left_s,
                    struct device_times *times, struct device_err *err)
{
    const struct device_turn *turn = &batch->turns[i];
    const struct emulator_order order = next_order(launch->kernel);
    struct device_launch one = *launch;
    struct launch_child child;
    struct ran ran = { .seconds = 0 };
    int rc;

    one.args = turn->args;
    if (left_s <= 0)
        return device_host_fail(err, DEVICE_TIMEOUT,
                                "the time limit left no time for a launch");
    secret_wipe_stack();
    rc = start(launch, order, &child, err);
    if (rc < 0)
        return rc;
    rc = write_starts(device, batch, turn, launch->n_args, err);
    if (rc < 0)
        launch_child_end(&child);
    else
        rc =
            run_in(&child, &one, order, launch_child_limits(left_s), &ran, err);
    times->seconds[i] = ran.seconds;
    used_s += ran.seconds;
    for (size_t k = 0; rc == 0 && k < launch->n_args; k++)
        if (batch->written[k])
            rc = check_guard(batch->written[k], err);
    for (size_t k = 0; rc == 0 && k < launch->n_args; k++)
        if (batch->written[k] && turn->references[k])
            rc = look_at(device, batch->written[k], turn->references[k],
                         &batch->hows[k], turn->sums[k],
                         &times->seen[i * launch->n_args + k], err);
    return rc;
}

/* No cache is emulated, and a launch has ended when it returns. */
int device_time(struct device *device, const struct device_launch *launch,
                const struct device_batch *batch, struct device_times *times,
                struct device_err *err)
{
    double left_s = batch->timeout_s;

    times->blocked = false;
    for (size_t i = 0; i < batch->n; i++) {
        int rc = time_one(device, launch, batch, i, left_s, times, err);

        if (rc < 0)
            return rc;
        left_s -= times->seconds[i];
    }
    device_state(device, &times->during);
    return 0;
}
