#include "coordinator/rental/rental_command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/store/store_acquisition.h"

#define READS 64 /* at a time: what prints without end must not hold us up */
#define VARIABLES 5
#define LEAD 4 /* words in front of them */
#define STATE_AT 2
#define TICKS_AT 21 /* fields of /proc/PID/stat; the state is number 2 */

/* The shell is only the gate: it reads one line that the caller writes, and
 * becomes 'env'.  The command itself is its arguments, which no shell reads.  A
 * stop= runs also if its folder is gone: it may be a whole path. */
#define GATE(otherwise)                                       \
    "read -r go || exit 125; cd -- \"$0\" || " otherwise "; " \
    "exec env \"$@\""
static const char start_gate[] = GATE("exit 126"), stop_gate[] = GATE("cd /");

static char *variable(const char *name, const char *value)
{
    return mem_printf("%s=%s", name, value);
}

int rental_command_begin(struct rental_command *command, bool is_start,
                         const struct store_acquisition *row, int64_t now_ns,
                         struct err *err)
{
    const char *argv[LEAD + VARIABLES + RENTAL_ANSWER_WORDS + 1] = {
        "/bin/sh", "-c", is_start ? start_gate : stop_gate, row->folder
    };
    char *variables[VARIABLES] = {
        variable("FA_ACTION", is_start ? "start" : "stop"),
        variable("FA_HOST", row->host),
        variable("FA_ACQUISITION", row->id),
        variable("FA_MACHINE", row->machine),
        variable("FA_ADDRESS", row->address),
    };
    char *text = mem_new(1, RENTAL_ANSWER_BYTES);
    size_t n = 0;
    int rc =
        rental_answer_split(is_start ? row->start_command : row->stop_command,
                            row->host, text, argv + LEAD + VARIABLES, &n, err);

    for (int i = 0; i < VARIABLES; i++)
        argv[LEAD + i] = variables[i];
    argv[LEAD + VARIABLES + n] = NULL;
    memset(command, 0, sizeof(*command));
    command->is_start = is_start;
    command->until_ns =
        now_ns +
        (is_start ? RENTAL_COMMAND_START_S : RENTAL_COMMAND_STOP_S) * NS_PER_S;
    if (rc == 0)
        rc = subprocess_start(argv, &command->child, err);
    for (int i = 0; i < VARIABLES; i++)
        free(variables[i]);
    free(text);
    return rc;
}

void rental_command_go(struct rental_command *command)
{
    /* an error shows as the end of the process */
    (void)send(command->child.fd, "go\n", 3, MSG_NOSIGNAL);
    shutdown(command->child.fd, SHUT_WR);
}

bool rental_command_runs(const struct rental_command *command)
{
    return command->child.pid != 0;
}

void rental_command_read(struct rental_command *command)
{
    char bytes[4096];
    ssize_t n = 1;

    for (int i = 0; i < READS && n > 0; i++) {
        n = read(command->child.fd, bytes, sizeof(bytes));
        if (n > 0)
            rental_answer_add(&command->printed, bytes, (size_t)n);
    }
    n = 1;
    for (int i = 0; i < READS && n > 0; i++) {
        n = read(command->child.errors, bytes, sizeof(bytes));
        if (n > 0)
            stderr_tail_add(&command->errors, bytes, (size_t)n);
    }
}

/* What it started may still have its output open, so its end counts. */
static int has_ended(struct rental_command *command, int how, struct err *err)
{
    const char *name = command->is_start ? "start=" : "stop=";
    char said[400];

    rental_command_read(command);
    command->child.pid = 0;
    stderr_tail_say(&command->errors, 3, said, sizeof(said));
    if (WIFEXITED(how) && WEXITSTATUS(how) == 0)
        return 1;
    if (WIFEXITED(how))
        return err_set(err, ERR_SYSTEM, "%s failed with status %d%s%s", name,
                       WEXITSTATUS(how), said[0] ? ": " : "", said);
    return err_set(err, ERR_SYSTEM, "%s was killed by signal %d%s%s", name,
                   WTERMSIG(how), said[0] ? ": " : "", said);
}

int rental_command_poll(struct rental_command *command, int64_t now_ns,
                        struct err *err)
{
    int how;
    pid_t pid;

    rental_command_read(command);
    pid = waitpid(command->child.pid, &how, WNOHANG);
    if (pid == command->child.pid)
        return has_ended(command, how, err);
    if (now_ns < command->until_ns)
        return 0;
    kill(-command->child.pid, SIGKILL);
    waitpid(command->child.pid, NULL, 0);
    command->child.pid = 0;
    return err_set(err, ERR_SYSTEM, "%s did not end within %d s",
                   command->is_start ? "start=" : "stop=",
                   command->is_start ? RENTAL_COMMAND_START_S
                                     : RENTAL_COMMAND_STOP_S);
}

void rental_command_fini(struct rental_command *command)
{
    if (command->child.fd > 0)
        close(command->child.fd);
    if (command->child.errors > 0)
        close(command->child.errors);
    memset(command, 0, sizeof(*command));
}

int64_t rental_command_ticks(int64_t pid)
{
    char path[64], text[1024], *p, *save = NULL;
    FILE *file;
    size_t n;
    int64_t ticks = 0;

    snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
    file = pid > 0 ? fopen(path, "re") : NULL;
    if (!file)
        return 0;
    n = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[n] = '\0';
    p = strrchr(text, ')'); /* the name may have blanks */
    if (!p || p[1] != ' ' || p[2] == 'Z')
        return 0;
    p = strtok_r(p + 2, " ", &save);
    for (int field = STATE_AT; p && field < TICKS_AT; field++)
        p = strtok_r(NULL, " ", &save);
    if (p)
        ticks = strtoll(p, NULL, 10);
    return ticks;
}
