/* What the coordinator calls when it rents machines, answered by the cloud: the
 * linker takes these functions in place of its own (CMakeLists.txt). */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/owner.h"
#include "coordinator/process/subprocess.h"
#include "coordinator/rental/rental_command.h"
#include "coordinator/store/store.h"
#include "tests/simulation/cloud.h"

#define UTC_NS INT64_C(1700000000000000000) /* when now_ns is 0 */
#define ID_DIGITS 16                        /* of one random number */

/* ---- rental_command.h */

int rental_command_begin(struct rental_command *command, bool is_start,
                         const struct store_acquisition *row, int64_t now_ns,
                         struct err *err)
{
    (void)err;
    memset(command, 0, sizeof(*command));
    command->is_start = is_start;
    command->until_ns =
        now_ns +
        (is_start ? RENTAL_COMMAND_START_S : RENTAL_COMMAND_STOP_S) * NS_PER_S;
    command->child.pid = (pid_t)cloud_fork(row, is_start);
    cloud_seam();
    return 0;
}

void rental_command_go(struct rental_command *command)
{
    cloud_seam();
    cloud_go(command->child.pid);
    cloud_seam();
}

bool rental_command_runs(const struct rental_command *command)
{
    return command->child.pid != 0;
}

/* They print when they end. */
void rental_command_read(struct rental_command *command)
{
    (void)command;
}

int rental_command_poll(struct rental_command *command, int64_t now_ns,
                        struct err *err)
{
    static const char address[] = "host=10.0.0.7\n";
    struct cloud_process *process = cloud_process(command->child.pid);

    cloud_seam();
    if (!process->is_over && now_ns < command->until_ns)
        return 0;
    command->child.pid = 0;
    if (!process->is_over) {
        process->is_over = true;
        return err_set(err, ERR_SYSTEM, "it did not end");
    }
    if (process->status != 0)
        return err_set(err, ERR_SYSTEM, "failed with status %d",
                       process->status);
    if (!process->is_start)
        cloud.machines[process->machine].released_ns = process->ends_ns;
    rental_answer_add(&command->printed, address, sizeof(address) - 1);
    return 1;
}

/* Nobody hears any more how a process ends that still runs. */
void rental_command_fini(struct rental_command *command)
{
    memset(command, 0, sizeof(*command));
}

int64_t rental_command_ticks(int64_t pid)
{
    const struct cloud_process *process = cloud_process(pid);

    return process && !process->is_over
               ? process->forked_ns / (NS_PER_S / sysconf(_SC_CLK_TCK))
               : 0;
}

/* ---- the system, and others' modules: the real ones until there is a cloud */

int64_t __real_clock_boot_ns(void);
int64_t __wrap_clock_boot_ns(void);
int64_t __wrap_clock_boot_ns(void)
{
    return cloud.is_there ? cloud.now_ns : __real_clock_boot_ns();
}

int64_t __real_clock_utc_ns(void);
int64_t __wrap_clock_utc_ns(void);
int64_t __wrap_clock_utc_ns(void)
{
    if (!cloud.is_there)
        return __real_clock_utc_ns();
    return cloud.world ? cloud.world->utc_ns(cloud.world->self)
                       : UTC_NS + cloud.now_ns;
}

int64_t __real_clock_steady_utc_ns(void);
int64_t __wrap_clock_steady_utc_ns(void);
int64_t __wrap_clock_steady_utc_ns(void)
{
    if (!cloud.is_there)
        return __real_clock_steady_utc_ns();
    return cloud.world ? cloud.world->steady_utc_ns(cloud.world->self)
                       : UTC_NS + cloud.now_ns;
}

void __real_clock_boot_id(char out[CLOCK_BOOT_ID_BYTES]);
void __wrap_clock_boot_id(char out[CLOCK_BOOT_ID_BYTES]);
void __wrap_clock_boot_id(char out[CLOCK_BOOT_ID_BYTES])
{
    if (!cloud.is_there) {
        __real_clock_boot_id(out);
        return;
    }
    memset(out, '0', CLOCK_BOOT_ID_BYTES - 1);
    out[CLOCK_BOOT_ID_BYTES - 1] = '\0';
}

void __real_owner_draw(char out[HASH_HEX]);
void __wrap_owner_draw(char out[HASH_HEX]);
void __wrap_owner_draw(char out[HASH_HEX])
{
    if (!cloud.is_there) {
        __real_owner_draw(out);
        return;
    }
    for (size_t i = 0; i + 1 < HASH_HEX; i += ID_DIGITS)
        snprintf(&out[i], ID_DIGITS + 1, "%016" PRIx64, prng_next(&cloud.ids));
}

int __real_poll(struct pollfd *fds, nfds_t n, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
    int64_t until_ns = cloud.now_ns + ms * NS_PER_MS;

    if (!cloud.is_there)
        return __real_poll(fds, n, ms);
    if (cloud.world)
        cloud.world->run(cloud.world->self, until_ns);
    cloud_run(until_ns);
    cloud_seam();
    return 0;
}

int __real_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal)
{
    struct cloud_process *process = cloud_process(pid < 0 ? -pid : pid);

    if (!process)
        return __real_kill(pid, signal);
    process->is_over = true;
    return 0;
}

int __real_sigtimedwait(const sigset_t *set, siginfo_t *info,
                        const struct timespec *timeout);
int __wrap_sigtimedwait(const sigset_t *set, siginfo_t *info,
                        const struct timespec *timeout);
int __wrap_sigtimedwait(const sigset_t *set, siginfo_t *info,
                        const struct timespec *timeout)
{
    bool comes = cloud.interrupts && cloud_chance(1);

    if (!cloud.is_there || cloud.world)
        return __real_sigtimedwait(set, info, timeout);
    cloud.interrupts = cloud.interrupts && !comes;
    return comes ? SIGINT : -1;
}

void __real_subprocess_stop(struct subprocess *child);
void __wrap_subprocess_stop(struct subprocess *child);
void __wrap_subprocess_stop(struct subprocess *child)
{
    if (!cloud.is_there) {
        __real_subprocess_stop(child);
        return;
    }
    (void)__wrap_kill(child->pid, SIGKILL);
    child->pid = 0;
}

int __real_store_commit(struct store *store, struct err *err);
int __wrap_store_commit(struct store *store, struct err *err);
int __wrap_store_commit(struct store *store, struct err *err)
{
    int rc;

    if (!cloud.is_there)
        return __real_store_commit(store, err);
    cloud_seam();
    if (cloud.world && cloud.world->is_disk_full(cloud.world->self))
        return err_set(err, ERR_STORE, "the disk is full");
    rc = __real_store_commit(store, err);
    cloud_seam();
    return rc;
}
