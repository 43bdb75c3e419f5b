/* confine.h - what the process of an emulated kernel may not do
 *
 * A kernel is foreign code, and the process that judges it has the reference
 * and the pipe of the results.  So the kernel's process keeps no descriptor of
 * the judge and no capability, and seccomp filters (seccomp(2)) refuse all
 * system calls but those that its three stages need: what would reach another
 * process, what would outlast this one, memory made writable, and messages to
 * the judge that the emulator does not send.  Where the
 * system has no seccomp it goes without the filters.  Linux on x86_64 and
 * aarch64; without effect elsewhere.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_CONFINE_H
#define FA_WORKER_RUNNER_DEVICE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

/* For the judge: others of the same user may not read its memory. */
void confine_hide(void);

/* The numbers that the kept descriptors get. */
enum {
    CONFINE_SOCKET = 3,
    CONFINE_OBJECT = 4
};

/* For the process of a kernel, before it is loaded: of the descriptors above 2
 * only these two stay open. */
void confine_start(int socket, int object);

/* Send a message on CONFINE_SOCKET; false if that failed.  After
 * confine_start() nothing else can: the filter knows this instruction. */
bool confine_say(const void *message, size_t len);

/* After it is loaded: CONFINE_OBJECT is closed, and no file can be opened. */
void confine_loaded(void);

/* When faults are caught: no handler of a signal can be replaced.  SIGSYS must
 * be one of them, which a kernel gets from now on if it sends to the judge. */
void confine_armed(void);

#endif
