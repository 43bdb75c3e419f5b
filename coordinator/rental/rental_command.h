/* rental_command.h - start= or stop= of one machine, while it runs
 *
 * It runs in the folder of its row, without a shell, in a session of its own,
 * and with the variables of docs/fleet.md.  rental_command_begin() makes the
 * process, which waits; the caller commits its pid, and lets it go on.  If the
 * caller dies in between, the process ends without having run anything.
 *
 * Thread rule: one thread a command.
 */
#ifndef FA_COORDINATOR_RENTAL_RENTAL_COMMAND_H
#define FA_COORDINATOR_RENTAL_RENTAL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/process/subprocess.h"
#include "coordinator/process/stderr_tail.h"
#include "coordinator/rental/rental_answer.h"

struct err;
struct store_acquisition;

#define RENTAL_COMMAND_START_S 600 /* a cloud may queue the request */
#define RENTAL_COMMAND_STOP_S 120

struct rental_command {
    struct subprocess child; /* pid 0: none runs */
    struct rental_answer_reader printed;
    struct stderr_tail errors;
    int64_t until_ns; /* CLOCK_BOOTTIME; then it is killed */
    bool is_start;
};

/* Make the process of start= or stop=.  ERR_SYSTEM or ERR_INPUT. */
int rental_command_begin(struct rental_command *command, bool is_start,
                         const struct store_acquisition *row, int64_t now_ns,
                         struct err *err);
void rental_command_go(struct rental_command *command);

/* Returns 1 when it has ended well, 0 while it runs, or ERR_SYSTEM with the
 * status and the end of its stderr.  After 1 'printed' has its words, until
 * rental_command_fini(). */
int rental_command_poll(struct rental_command *command, int64_t now_ns,
                        struct err *err);
/* Read what it has printed so far, so that it can print more. */
void rental_command_read(struct rental_command *command);
bool rental_command_runs(const struct rental_command *command);
/* Forget it; a process that runs is left alone. */
void rental_command_fini(struct rental_command *command);

/* When a process began, in clock ticks after the boot; 0: it does not run (any
 * more).  With its pid and the boot this names one process for ever. */
int64_t rental_command_ticks(int64_t pid);

#endif
