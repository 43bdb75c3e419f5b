#include "tests/worker/runner/box.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/runner/sources.h"

/* Far more than the slowest reply under a sanitizer on a busy machine. */
enum {
    REPLY_MS = 30000
};

enum {
    ARGV_MAX = 64
};

void box_start(struct box *box, const char *program)
{
    int in[2], out[2];

    memset(box, 0, sizeof(*box));
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    box->pid = fork();
    assert_true(box->pid >= 0);
    if (box->pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        close(out[0]);
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    box->requests = fdopen(in[1], "w");
    box->replies = fdopen(out[0], "r");
    setvbuf(box->replies, NULL, _IONBF, 0);
}

int box_stop(struct box *box)
{
    int status = -1;

    fclose(box->requests);
    fclose(box->replies);
    assert_int_equal(waitpid(box->pid, &status, 0), box->pid);
    return status;
}

int box_command(const char *const *argv)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

int box_build(unsigned device, const char *const *before,
              const char *const *after)
{
    const char *argv[ARGV_MAX];
    size_t n = 0;

    while (*before)
        argv[n++] = *before++;
    for (const struct runner_source *row = runner_sources; row->path; row++)
        if ((row->devices & device) && !strstr(row->path, ".h") &&
            n < ARGV_MAX - 10)
            argv[n++] = row->path;
    while (*after)
        argv[n++] = *after++;
    argv[n] = NULL;
    return box_command(argv);
}

/* A line without its newline; false at the end of the pipe. */
static bool read_line(struct box *box, char *line, size_t size)
{
    struct pollfd ready = { .fd = fileno(box->replies), .events = POLLIN };
    size_t n = 0;

    while (n + 1 < size) {
        if (poll(&ready, 1, REPLY_MS) != 1) {
            kill(box->pid, SIGKILL);
            fail_msg("no reply after %d ms", REPLY_MS);
        }
        if (read(ready.fd, line + n, 1) != 1)
            return false;
        if (line[n] == '\n')
            break;
        n++;
    }
    line[n] = '\0';
    return true;
}

bool box_ask_text(struct box *box, const char *text)
{
    char line[WIRE_LINE_MAX], why[WIRE_WHY_MAX];
    enum wire_step step = WIRE_MORE;

    memset(&box->reply, 0, sizeof(box->reply));
    box->stages[0] = '\0';
    fputs(text, box->requests);
    fflush(box->requests);
    while (step != WIRE_DONE) {
        if (!read_line(box, line, sizeof(line)))
            return false;
        step = wire_reply_line(&box->reply, line, why);
        if (step == WIRE_BAD)
            fail_msg("%s", why);
        if (step == WIRE_PROGRESS) {
            size_t n = strlen(box->stages);

            snprintf(box->stages + n, sizeof(box->stages) - n, "%s ",
                     box->reply.stage);
        }
    }
    return true;
}

bool box_ask(struct box *box, const struct wire_request *request)
{
    char text[65536];
    FILE *stream = fmemopen(text, sizeof(text), "w");

    assert_int_equal(wire_write_request(stream, request), 0);
    fclose(stream);
    return box_ask_text(box, text);
}

bool box_open(struct box *box, const char *device)
{
    struct wire_request request = { .kind = WIRE_OPEN, .gpu = "0" };

    snprintf(request.device, sizeof(request.device), "%s", device);
    return box_ask(box, &request);
}

static void arg(struct wire_measure *measure, const char *name, int64_t n,
                bool output)
{
    struct wire_arg *arg = &measure->args[measure->n_args++];

    snprintf(arg->name, sizeof(arg->name), "%s", name);
    arg->type = ELEMENT_FP32;
    arg->buffer = true;
    arg->role = output ? WIRE_OUT : WIRE_IN;
    arg->fill = output ? FILL_POISON : FILL_NORMAL;
    arg->count = n;
    arg->scale = 1;
}

static void kernel(struct wire_kernel *kernel, const char *entry, int64_t n)
{
    snprintf(kernel->path, sizeof(kernel->path), "%s/tests/fixtures/%s.so",
             FA_BINARY_DIR, entry);
    snprintf(kernel->entry, sizeof(kernel->entry), "%s", entry);
    kernel->block[0] = 128;
    kernel->grid[0] = (uint32_t)((n + 128) / 128); /* one thread too many */
    for (int i = 1; i < 3; i++)
        kernel->block[i] = kernel->grid[i] = 1;
}

void box_request(struct wire_request *request, const char *entry,
                 const char *reference, int64_t n)
{
    struct wire_measure *measure = &request->measure;

    memset(request, 0, sizeof(*request));
    request->kind = WIRE_MEASURE;
    kernel(&measure->kernel, entry, n);
    kernel(&measure->reference, reference, n);
    arg(measure, "a", n, false);
    arg(measure, "b", n, false);
    arg(measure, "out", n, true);
    snprintf(measure->args[3].name, sizeof(measure->args[3].name), "n");
    measure->args[3].type = ELEMENT_INT32;
    measure->args[3].integer = n;
    measure->n_args = 4;
    measure->args[2].tolerance = (struct tolerance){
        .rules = 1u << TOLERANCE_RELATIVE_L2 | 1u << TOLERANCE_MAX_ERROR,
        .most = { [TOLERANCE_RELATIVE_L2] = 1e-6, [TOLERANCE_MAX_ERROR] = 1e-5 }
    };
    measure->seed = 1;
    measure->trials.seeds = 2;
    measure->warmups = 1;
    measure->least = measure->most = 5;
    measure->noise = 0.01;
    measure->margin = 1.1;
    measure->l2 = L2_MODE_FLUSH;
    measure->timeout_s = 10;
}

const struct wire_result *box_measure(struct box *box, const char *entry)
{
    struct wire_request request;

    box_request(&request, entry, "sum", 1001);
    if (!box_ask(box, &request))
        fail_msg("%s: the pipe ended", entry);
    if (box->reply.kind == WIRE_ERROR)
        fail_msg("%s: %s", entry, box->reply.error);
    return &box->reply.result;
}

void box_assert_outcome(struct box *box, const char *entry,
                        enum outcome outcome, const char *text)
{
    const struct wire_result *result = box_measure(box, entry);

    if (result->outcome != outcome || !strstr(result->detail, text))
        fail_msg("%s: %s: %s", entry, outcome_name(result->outcome),
                 result->detail);
    assert_true(outcome == OUTCOME_CORRECT || result->n_samples == 0 ||
                strstr(box->stages, "recheck"));
}
