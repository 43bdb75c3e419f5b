#include "worker/main/start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "worker/agent/agent.h"
#include "worker/agent/claim.h"
#include "worker/agent/control.h"
#include "worker/store/instance.h"
#include "worker/store/workdir.h"

#define POWEROFF_WORDS 64
#define START_NS (10 * NS_PER_S) /* a busy machine, a folder on the network */
#define RETRY_MS 50              /* another process has just started a worker */

#define HELD "held"  /* another process was faster */
#define BUSY "busy " /* and whose its GPUs are */
#define READY_FD 3   /* the worker reports its start here */

/* Tell the starter the result: "ok", or an error. */
static void tell(const char *word, const char *text)
{
    char line[sizeof(struct err) + sizeof(BUSY)];
    int n = snprintf(line, sizeof(line), "%s%s", word, text);

    /* if nobody reads it, nothing is lost */
    (void)!write(READY_FD, line, (size_t)n);
    close(READY_FD);
}

/* exec closes everything else: sshd waits for every copy of its channel. */
static void exec_worker(const struct instance *instance, int ready)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null >= 0 && dup2(null, 0) >= 0 && dup2(null, 1) >= 0 &&
        dup2(null, 2) >= 0 &&
        (ready == READY_FD ? fcntl(ready, F_SETFD, 0)
                           : dup2(ready, READY_FD)) >= 0)
        execl("/proc/self/exe", "fa-worker", "--started", "--workdir",
              instance->home, "--gpus", instance->gpus, NULL);
    _exit(1);
}

/* No shell reads it, as with start= (docs/fleet.md).  Returns only if it cannot
 * be run. */
static void power_off(char *command)
{
    char *words[POWEROFF_WORDS + 1], *save = NULL;
    int n = 0;

    log_line(LOG_I, "POWEROFF", "%s", command);
    for (char *word = strtok_r(command, " \t", &save);
         word && n < POWEROFF_WORDS; word = strtok_r(NULL, " \t", &save))
        words[n++] = word;
    words[n] = NULL;
    if (n == 0)
        return;
    execvp(words[0], words);
    log_line(LOG_E, "POWEROFF-FAILED", "%s: %s", words[0], strerror(errno));
}

int start_serve(const struct instance *instance)
{
    struct agent *agent = NULL;
    FILE *log = NULL;
    char command[1024];
    struct err err;
    int rc;

    umask(077);
    fcntl(READY_FD, F_SETFD, FD_CLOEXEC);
    rc = workdir_log(instance->dir, &log, &err);
    if (rc == 0 && dup2(fileno(log), 2) < 0)
        rc = err_set(&err, ERR_SYSTEM, "standard error: %s", strerror(errno));
    if (rc == 0) {
        log_setup(log, LOG_I);
        rc = agent_open(instance, log, &agent, &err);
    }
    if (rc != 0) {
        tell(rc == CLAIM_BUSY   ? BUSY
             : rc == ERR_DEVICE ? HELD
                                : "",
             rc == ERR_DEVICE ? "" : err.text);
        return 1;
    }
    tell("ok", "");
    rc = agent_run(agent);
    snprintf(command, sizeof(command), "%s", agent_poweroff(agent));
    agent_close(agent);
    if (command[0])
        power_off(command);
    return rc;
}

/* The child's report about its start, "" if it died without one. */
static void read_word(int fd, int64_t until_ns, char *text, size_t size)
{
    size_t len = 0;

    for (;;) {
        int64_t left_ns = until_ns - clock_boot_ns();
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        ssize_t n;

        if (left_ns <= 0 || len == size - 1)
            break;
        if (poll(&wait, 1, (int)(left_ns / NS_PER_MS) + 1) <= 0)
            continue;
        n = read(fd, text + len, size - 1 - len);
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    text[len] = '\0';
}

/* What the child says that did not start. */
static int refusal(const struct instance *instance, const char *word,
                   struct err *err)
{
    if (strcmp(word, HELD) == 0)
        return err_set(err, ERR_DEVICE,
                       "%s: another worker is starting in this folder",
                       instance->dir);
    if (strncmp(word, BUSY, strlen(BUSY)) == 0) {
        (void)err_set(err, ERR_DEVICE, "%s", word + strlen(BUSY));
        return CLAIM_BUSY;
    }
    if (word[0])
        return err_set(err, ERR_SYSTEM, "%s", word);
    return err_set(err, ERR_SYSTEM,
                   "the worker died at its start; see %s/worker.log",
                   instance->dir);
}

/* CLAIM_BUSY, or ERR_DEVICE if another worker holds the lock. */
static int spawn(const struct instance *instance, int64_t until_ns,
                 struct err *err)
{
    char word[sizeof(err->text) + sizeof(BUSY)];
    int ready[2];
    pid_t pid;

    if (pipe2(ready, O_CLOEXEC) < 0)
        return err_set(err, ERR_SYSTEM, "pipe: %s", strerror(errno));
    pid = fork();
    if (pid == 0) {
        setsid();
        if (fork() == 0) /* a grandchild: nobody has to wait for it */
            exec_worker(instance, ready[1]);
        _exit(0);
    }
    close(ready[1]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    if (pid > 0)
        read_word(ready[0], until_ns, word, sizeof(word));
    close(ready[0]);
    if (pid < 0)
        return err_set(err, ERR_SYSTEM, "fork: %s", strerror(errno));
    return strcmp(word, "ok") == 0 ? 0 : refusal(instance, word, err);
}

/* A worker of a version without sets of GPUs has the folder.  That of "all" is
 * just starting or ending, because it listens otherwise. */
static int meet_older(const struct instance *instance, struct err *err)
{
    struct err who = *err;

    if (!instance->name[0])
        return ERR_DEVICE;
    (void)err_set(err, ERR_DEVICE,
                  "its worker is of an older version, which shares no GPUs: %s",
                  who.text);
    return CLAIM_BUSY;
}

int start_worker(const struct instance *instance, int *control, struct err *err)
{
    int64_t until_ns = clock_boot_ns() + START_NS;
    int rc;

    for (;;) {
        struct instance_lock lock;

        rc = control_connect(instance->socket, err);
        if (rc >= 0) {
            *control = rc;
            return 0;
        }
        rc = instance_lock(instance, &lock, err);
        if (rc == INSTANCE_ALONE)
            rc = meet_older(instance, err);
        if (rc == 0) {
            instance_unlock(&lock);
            rc = spawn(instance, until_ns, err);
        }
        if (rc == CLAIM_BUSY)
            return rc;
        if (rc == ERR_DEVICE)
            (void)poll(NULL, 0, RETRY_MS);
        if (rc < 0 && (rc != ERR_DEVICE || clock_boot_ns() >= until_ns))
            return rc;
    }
}
