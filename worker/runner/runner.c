/* runner.c - fa-runner: holds one device and measures kernels on it
 *
 * It reads one request at a time from stdin and replies on the original stdout
 * (wire.h). A kernel may fault, hang or kill the process.  The worker watches
 * the process, reports how it ended, and starts the next one.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "worker/runner/measure.h"
#include "worker/runner/secret.h"

/* What a request says of inputs, no kernel may know. */
struct asked {
    struct wire_request request;
    char line[WIRE_LINE_MAX];
    char buffer[WIRE_LINE_MAX]; /* of the stream */
};

struct runner {
    FILE *requests, *replies;
    struct device *device;
    struct resident *resident;
    struct asked *asked; /* secret.h */
    struct wire_reply reply;
};

/* Move the pipe to where a kernel's printf cannot reach it.  The kernel's
 * output goes to stderr, and its input is empty. */
static int move_pipe_away(struct runner *runner)
{
    int in = fcntl(0, F_DUPFD_CLOEXEC, 3);
    int out = fcntl(1, F_DUPFD_CLOEXEC, 3);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (in < 0 || out < 0 || null < 0)
        return -1;
    if (fcntl(2, F_GETFD) < 0 && dup2(null, 2) < 0)
        return -1;
    if (dup2(null, 0) < 0 || dup2(2, 1) < 0)
        return -1;
    runner->requests = fdopen(in, "r");
    runner->replies = fdopen(out, "w");
    if (!runner->requests || !runner->replies)
        return -1;
    return setvbuf(runner->requests, runner->asked->buffer, _IOFBF,
                   sizeof(runner->asked->buffer));
}

/* WIRE_DONE with a request, WIRE_MORE at end of file, WIRE_BAD with 'why'. */
static enum wire_step read_request(struct runner *runner,
                                   char why[WIRE_WHY_MAX])
{
    char *line = runner->asked->line;
    enum wire_step step = WIRE_MORE;

    memset(&runner->asked->request, 0, sizeof(runner->asked->request));
    while (step == WIRE_MORE &&
           fgets(line, sizeof(runner->asked->line), runner->requests)) {
        char *end = strchr(line, '\n');

        if (!end) {
            snprintf(why, WIRE_WHY_MAX,
                     "a line does not end, or has %d bytes or more",
                     WIRE_LINE_MAX);
            return WIRE_BAD;
        }
        *end = '\0';
        step = wire_request_line(&runner->asked->request, line, why);
    }
    return step;
}

static void refuse(struct runner *runner, const char *text, bool poisoned)
{
    runner->reply.kind = WIRE_ERROR;
    runner->reply.result.poisoned = poisoned;
    snprintf(runner->reply.error, sizeof(runner->reply.error), "%s", text);
}

static void open_device(struct runner *runner)
{
    struct device_fact facts[DEVICE_FACTS_MAX];
    struct device_err err = { .poisoned = false };

    if (runner->device) {
        refuse(runner, "the device is open already", false);
        return;
    }
    if (strcmp(runner->asked->request.device, device_name) != 0) {
        snprintf(err.text, sizeof(err.text),
                 "device '%s' is not in this runner, which was built for '%s'",
                 runner->asked->request.device, device_name);
        refuse(runner, err.text, false);
        return;
    }
    if (device_open(runner->asked->request.gpu, &runner->device, &err) < 0) {
        refuse(runner, err.text, err.poisoned);
        return;
    }
    runner->resident = resident_new(runner->device);
    runner->reply.kind = WIRE_OK;
    runner->reply.n_facts = device_facts(runner->device, facts);
    for (size_t i = 0; i < runner->reply.n_facts; i++) {
        memcpy(runner->reply.facts[i].name, facts[i].name,
               sizeof(facts[i].name));
        memcpy(runner->reply.facts[i].value, facts[i].value,
               sizeof(facts[i].value));
    }
}

/* Answer the request; false if the process cannot be used any more. */
static bool answer(struct runner *runner)
{
    memset(&runner->reply, 0, sizeof(runner->reply));
    if (runner->asked->request.kind == WIRE_OPEN)
        open_device(runner);
    else if (!runner->device)
        refuse(runner, "no device is open", false);
    else
        measure(runner->device, runner->resident,
                &runner->asked->request.measure, runner->replies,
                &runner->reply);
    return wire_write_reply(runner->replies, &runner->reply) == 0 &&
           !runner->reply.result.poisoned;
}

static int serve(struct runner *runner)
{
    char why[WIRE_WHY_MAX];

    for (;;) {
        enum wire_step step = read_request(runner, why);

        if (step == WIRE_BAD) {
            memset(&runner->reply, 0, sizeof(runner->reply));
            refuse(runner, why, true);
            wire_write_reply(runner->replies, &runner->reply);
            return 1;
        }
        if (step == WIRE_MORE || runner->asked->request.kind == WIRE_QUIT)
            return 0;
        if (!answer(runner))
            return 1;
    }
}

int main(void)
{
    static struct runner runner;
    pid_t parent = getppid();
    int status;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        return 1;
    signal(SIGPIPE, SIG_IGN);
    runner.asked = secret_need(sizeof(*runner.asked));
    if (move_pipe_away(&runner) < 0) {
        perror("fa-runner: stdin, stdout");
        return 1;
    }
    status = serve(&runner);
    if (status != 0)
        _exit(status); /* cleaning up a lost device may hang */
    resident_free(runner.resident);
    device_close(runner.device);
    return 0;
}
