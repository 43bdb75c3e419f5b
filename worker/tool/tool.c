#include "worker/tool/tool.h"

#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/device_kind.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "worker/process/child.h"
#include "worker/process/sandbox_policy.h"
#include "worker/store/build_dir.h"
#include "worker/tool/tool_line.h"
#include "worker/tool/tool_program.h"

#define END_NS (5 * NS_PER_S) /* to kill it before it is abandoned */

enum {
    ENV_MAX = 16,
    DETAIL_BYTES = 1024,
    WORDS_BYTES = 600, /* of its last line, in a reason */
};

/* To start it again in its folder, if it stays. */
struct tool_again {
    const struct tool_box *box;
    char *gpu, **command, *ask;
    size_t n;
};

struct tool {
    struct build_dir stage;
    struct child *child; /* NULL: never started, or ended */
    enum tool_state state;
    bool stays, late;    /* it answers lines; the answer did not come in time */
    bool reused, killed; /* it has answered before; tool_kill() */
    struct tool_again again;
    struct tool_line line;
    int64_t started_ns, asked_ns, answer_by_ns;
    double limit_s;
    struct tool_result result; /* valid once ended or stuck */
};

void tool_result_fini(struct tool_result *result)
{
    free(result->detail);
    free(result->output);
    free(result->log);
    *result = (struct tool_result){ .detail = NULL };
}

__attribute__((format(printf, 3, 4))) static void
settle(struct tool *tool, enum outcome outcome, const char *fmt, ...)
{
    char detail[DETAIL_BYTES];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(detail, sizeof(detail), fmt, ap);
    va_end(ap);
    tool->result.outcome = outcome;
    tool->result.detail = mem_strdup(detail);
}

/* ---- the folder */

static int write_request(const struct build_dir *build_dir,
                         const struct wire_request *request,
                         const struct tool_box *box, const char *gpu,
                         struct err *err)
{
    struct wire_request open = { .kind = WIRE_OPEN }, check = *request;
    char *text;
    size_t len;
    FILE *stream = mem_stream(&text, &len);
    bool emulated = device_kind_is(box->device, DEVICE_KIND_CPU);
    int rc;

    if (check.kind == WIRE_MEASURE)
        check.kind = WIRE_CHECK;
    snprintf(open.device, sizeof(open.device), "%s", box->device);
    snprintf(open.gpu, sizeof(open.gpu), "%s", emulated ? "0" : gpu);
    (void)wire_write_request(stream, &open); /* the stream keeps its error */
    (void)wire_write_request(stream, &check);
    mem_stream_close(stream, &text);
    rc = build_dir_write(build_dir, "gen", "request", text, len, err);
    free(text);
    return rc;
}

static int fill_stage(const struct tool_box *box, const struct tool_job *job,
                      struct build_dir *build_dir, struct err *err)
{
    int rc = build_dir_open(box->dir, build_dir, err);

    if (rc == 0 && job->names.n != job->contents.n)
        rc = err_set(err, ERR_INPUT, "%zu files have %zu contents",
                     job->names.n, job->contents.n);
    for (size_t i = 0; rc == 0 && i < job->names.n; i++)
        rc = build_dir_write(build_dir, "src", job->names.items[i],
                             job->contents.items[i].data,
                             job->contents.items[i].len, err);
    if (rc == 0 && job->request)
        rc = write_request(build_dir, job->request, box, job->gpu, err);
    return rc;
}

/* ---- what it sees */

static void show(struct sandbox *sandbox, const char *path)
{
    if (path[0])
        (void)sandbox_set(sandbox, path, SANDBOX_READ);
}

static void show_inputs(struct sandbox *sandbox,
                        const struct wire_measure *measure)
{
    for (size_t i = 0; measure->files[0] && i < measure->n_args; i++)
        if (measure->args[i].file[0]) {
            char *path =
                mem_printf("%s/%s", measure->files, measure->args[i].file);

            show(sandbox, path);
            free(path);
        }
}

static struct sandbox *open_sandbox(const struct tool_box *box,
                                    const struct tool_job *job,
                                    const struct build_dir *build_dir)
{
    struct sandbox *sandbox = sandbox_policy_copy(box->sandbox);

    if (!sandbox)
        return NULL;
    sandbox->offline = false;
    (void)sandbox_set(sandbox, build_dir->path, SANDBOX_WRITE);
    show(sandbox, box->runner);
    if (job->request) {
        show(sandbox, job->request->measure.kernel.path);
        show(sandbox, job->request->measure.reference.path);
        show_inputs(sandbox, &job->request->measure);
    }
    return sandbox;
}

/* ---- its start */

/* The environment of a runner (runner_session.c), but with only this GPU and
 * with a TMPDIR of its own. */
static size_t environment(const struct tool_box *box,
                          const struct tool_job *job,
                          const struct build_dir *build_dir, char *env[ENV_MAX])
{
    static const char *const names[] = {
        "PATH", "HOME", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_CACHE_PATH",
    };
    size_t n = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (getenv(names[i]))
            env[n++] = mem_printf("%s=%s", names[i], getenv(names[i]));
    env[n++] = mem_printf("TMPDIR=%s/tmp", build_dir->path);
    env[n++] = mem_strdup("LC_ALL=C");
    if (device_kind_is(box->device, DEVICE_KIND_CUDA))
        env[n++] = mem_printf("CUDA_VISIBLE_DEVICES=%s", job->gpu);
    env[n] = NULL;
    return n;
}

static int64_t limit_of(const struct tool_job *job)
{
    return job->limit_ns > 0 ? job->limit_ns : TOOL_LIMIT_NS;
}

static int start_child(const struct tool_box *box, const struct tool_job *job,
                       struct tool *tool, const char *program, int64_t now_ns,
                       struct err *err)
{
    const char *argv[MSG_COMMAND_MAX + 1];
    char *env[ENV_MAX], folder[PATH_MAX], input[PATH_MAX];
    struct sandbox *sandbox;
    size_t n = 0;
    int rc = build_dir_path(&tool->stage, "src", folder, err);

    if (rc == 0)
        rc = build_dir_path(&tool->stage, "gen/request", input, err);
    if (rc < 0)
        return rc;
    argv[n++] = program;
    for (; n < job->command.n && n < MSG_COMMAND_MAX; n++)
        argv[n] = strcmp(job->command.items[n], TOOL_RUNNER) == 0
                      ? box->runner
                      : job->command.items[n];
    argv[n] = NULL;
    n = environment(box, job, &tool->stage, env);
    sandbox = open_sandbox(box, job, &tool->stage);
    rc = child_start(
        &(struct child_spec){
            .argv = argv,
            .env = (const char *const *)env,
            .folder = folder,
            .input = job->request ? input : NULL,
            .interactive = job->ask != NULL,
            .sandbox = sandbox,
            .limit_ns = job->ask ? 0 : limit_of(job),
            .memory_bytes = device_kind_is(box->device, DEVICE_KIND_CPU)
                                ? TOOL_MEMORY_BYTES
                                : 0,
            .output_bytes = TOOL_OUTPUT_MAX,
        },
        now_ns, &tool->child, err);
    sandbox_free(sandbox);
    while (n > 0)
        free(env[--n]);
    return rc;
}

static void remember(struct tool *tool, const struct tool_box *box,
                     const struct tool_job *job)
{
    struct tool_again *again = &tool->again;

    *again = (struct tool_again){ .box = box,
                                  .gpu = mem_strdup(job->gpu),
                                  .n = job->command.n,
                                  .command =
                                      mem_new(job->command.n, sizeof(char *)) };
    for (size_t i = 0; i < again->n; i++)
        again->command[i] = mem_strdup(job->command.items[i]);
}

static void forget(struct tool_again *again)
{
    for (size_t i = 0; i < again->n; i++)
        free(again->command[i]);
    free(again->command);
    free(again->gpu);
    free(again->ask);
}

static bool ask(struct tool *tool, const struct tool_job *job, int64_t now_ns)
{
    free(tool->again.ask);
    tool->again.ask = mem_strdup(job->ask);
    tool->asked_ns = now_ns;
    tool->answer_by_ns = now_ns + limit_of(job);
    return tool_line_ask(&tool->line, tool->child, job->ask);
}

/* It was about to end when it was stopped: another process takes the question.
 */
static bool start_again(struct tool *tool, int64_t now_ns)
{
    const struct tool_again *again = &tool->again;
    const struct tool_job job = {
        .gpu = again->gpu,
        .command = { (const char *const *)again->command, again->n },
        .ask = again->ask,
    };
    char program[PATH_MAX];
    struct err err;

    child_free(tool->child);
    tool->child = NULL;
    tool->reused = false;
    tool->started_ns = tool->asked_ns;
    return tool_program_find(again->box, again->command[0], program) &&
           start_child(again->box, &job, tool, program, now_ns, &err) == 0 &&
           tool_line_ask(&tool->line, tool->child, again->ask);
}

struct tool *tool_start(const struct tool_box *box, const struct tool_job *job,
                        int64_t now_ns)
{
    struct tool *tool = mem_new(1, sizeof(*tool));
    const char *name = job->command.items[0];
    char program[PATH_MAX], why[DETAIL_BYTES];
    struct err err;

    tool->result.status = -1;
    tool->stays = job->ask != NULL;
    tool->started_ns = now_ns;
    tool->limit_s = (double)limit_of(job) / 1e9;
    tool_line_init(&tool->line, TOOL_OUTPUT_MAX);
    if (strcmp(name, TOOL_RUNNER) == 0)
        name = box->runner;
    if (!tool_program_find(box, name, program)) {
        tool_program_missing(box, name, why, sizeof(why));
        settle(tool, OUTCOME_MISSING, "%s", why);
        tool->state = TOOL_ENDED;
    } else if (fill_stage(box, job, &tool->stage, &err) < 0 ||
               start_child(box, job, tool, program, now_ns, &err) < 0) {
        settle(tool, OUTCOME_CRASH, "%s", err.text);
        tool->state = TOOL_ENDED;
    } else if (tool->stays) {
        remember(tool, box, job);
        (void)ask(tool, job, now_ns); /* its end says why it takes no line */
    }
    return tool;
}

bool tool_ask(struct tool *tool, const struct tool_job *job, int64_t now_ns)
{
    if (tool->state != TOOL_WAITS || child_state(tool->child) != CHILD_RUNNING)
        return false;
    tool->state = TOOL_RUNS;
    tool->reused = true;
    tool->limit_s = (double)limit_of(job) / 1e9;
    capture_clear(child_stderr(tool->child));
    child_go(tool->child);
    return ask(tool, job, now_ns);
}

void tool_free(struct tool *tool)
{
    if (!tool)
        return;
    if (tool->child)
        child_finish(tool->child, END_NS);
    build_dir_close(&tool->stage);
    tool_line_fini(&tool->line);
    forget(&tool->again);
    tool_result_fini(&tool->result);
    free(tool);
}

size_t tool_poll(const struct tool *tool, struct pollfd *fds, size_t max)
{
    size_t n = tool->child ? child_poll(tool->child, fds, max) : 0;

    if (tool->child && tool->stays && tool->state == TOOL_RUNS && n < max &&
        child_state(tool->child) == CHILD_RUNNING)
        fds[n++] =
            (struct pollfd){ .fd = child_out(tool->child), .events = POLLIN };
    return n;
}

int64_t tool_deadline_ns(const struct tool *tool)
{
    int64_t at_ns = tool->child ? child_deadline_ns(tool->child) : INT64_MAX;

    if ((tool->state == TOOL_ENDED || tool->state == TOOL_WAITS) &&
        tool->result.detail)
        return 0; /* its result is available */
    if (tool->stays && tool->state == TOOL_RUNS && !tool->late &&
        tool->answer_by_ns < at_ns)
        at_ns = tool->answer_by_ns;
    return at_ns;
}

/* ---- its end */

/* Head and tail of its output, at most 'most' bytes, as text: NUL bytes are
 * removed, since they would end it. */
static char *text_of(const struct capture *capture, size_t most)
{
    struct buf all;
    char *text;

    buf_init(&all, most);
    capture_text(capture, &all);
    text = mem_dup(buf_text(&all), all.len);
    for (size_t i = 0; i < all.len; i++)
        if (text[i] == '\0')
            text[i] = '?';
    buf_fini(&all);
    return text;
}

/* The last non-empty line of 'text': an interpreter's error. */
static void last_line(const char *text, char out[WORDS_BYTES])
{
    size_t end = strlen(text), start, n = 0;

    while (end > 0 && (unsigned char)text[end - 1] <= ' ')
        end--;
    start = end;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    for (; start < end && n + 1 < WORDS_BYTES; start++)
        out[n++] = (unsigned char)text[start] < ' ' ? ' ' : text[start];
    out[n] = '\0';
}

/* The output limit in KiB that it exceeded; 0 if none. */
static int flooded(const struct tool *tool)
{
    if (child_stdout(tool->child)->total > TOOL_OUTPUT_MAX ||
        tool->line.flooded)
        return TOOL_OUTPUT_MAX >> 10;
    return child_stderr(tool->child)->total > TOOL_NOISE_MAX
               ? TOOL_NOISE_MAX >> 10
               : 0;
}

/* A KILL that we did not send comes from the system (memory) or an operator. */
static void judge(struct tool *tool, const struct child_end *end)
{
    char how[CHILD_END_BYTES], words[WORDS_BYTES];

    child_end_text(end, how);
    last_line(tool->result.log, words);
    if (flooded(tool))
        settle(tool, OUTCOME_FAILED, "it wrote more than %d KiB",
               flooded(tool));
    else if (end->timed_out || tool->late)
        settle(tool, OUTCOME_TIMEOUT, "it did not end within %g s",
               tool->limit_s);
    else if (!end->exited && (end->signal == SIGKILL || end->signal == SIGTERM))
        settle(tool, OUTCOME_CRASH, "%s%s%s", how, words[0] ? ": " : "", words);
    else if (!end->exited || end->status != 0)
        settle(tool, OUTCOME_FAILED, "%s%s%s", how, words[0] ? ": " : "",
               words);
    else
        settle(tool, OUTCOME_RAN, "%s", "");
}

/* Of its answer, or of as much as there is. */
static char *text_of_line(const struct tool *tool)
{
    char *text = mem_dup(buf_text(&tool->line.text), tool->line.text.len);

    for (size_t i = 0; i < tool->line.text.len; i++)
        if (text[i] == '\0')
            text[i] = '?';
    return text;
}

static void tell(struct tool *tool)
{
    const struct child_end *end = child_end(tool->child);

    if (tool->stays)
        tool_line_read(&tool->line, tool->child);
    tool->result.output =
        tool->stays ? text_of_line(tool)
                    : text_of(child_stdout(tool->child), TOOL_OUTPUT_MAX);
    tool->result.log = text_of(child_stderr(tool->child), MSG_LOG_MAX);
    tool->result.status = end->exited ? end->status : -1;
    tool->result.seconds = end->seconds;
    if (tool->stays) /* of this run alone */
        tool->result.seconds -=
            (double)(tool->asked_ns - tool->started_ns) / 1e9;
    judge(tool, end);
}

/* A process that had answered before has ended without a word. */
static bool is_left_over(struct tool *tool)
{
    if (!tool->stays || tool->state != TOOL_RUNS || !tool->reused ||
        tool->late || tool->killed)
        return false;
    tool_line_read(&tool->line, tool->child);
    return tool->line.text.len == 0;
}

/* The result of a stuck tool was returned already. */
static void finish(struct tool *tool, int64_t now_ns)
{
    if (is_left_over(tool)) {
        if (start_again(tool, now_ns))
            return;
        settle(tool, OUTCOME_CRASH, "it ended, and cannot be started again");
    } else if (tool->state == TOOL_RUNS) {
        tell(tool);
    }
    child_free(tool->child);
    tool->child = NULL;
    tool->state = TOOL_ENDED;
}

/* It has answered: all that it started stands still while others measure. */
static void answered(struct tool *tool, int64_t now_ns)
{
    child_pause(tool->child);
    tool->result.output = text_of_line(tool);
    tool->result.log = text_of(child_stderr(tool->child), MSG_LOG_MAX);
    tool->result.status = 0;
    tool->result.seconds = (double)(now_ns - tool->asked_ns) / 1e9;
    settle(tool, OUTCOME_RAN, "%s", "");
    tool->state = TOOL_WAITS;
}

static void hear(struct tool *tool, int64_t now_ns)
{
    tool_line_read(&tool->line, tool->child);
    if (tool->line.ended && !tool->late) {
        answered(tool, now_ns);
    } else if (!tool->late && now_ns >= tool->answer_by_ns) {
        tool->late = true;
        child_stop(tool->child, now_ns);
    }
}

enum tool_state tool_step(struct tool *tool, int64_t now_ns)
{
    enum child_state state;

    if (!tool->child)
        return tool->state;
    state = child_step(tool->child, now_ns);
    if (tool->stays && tool->state == TOOL_RUNS && state == CHILD_RUNNING)
        hear(tool, now_ns);
    if (state == CHILD_RUNNING && flooded(tool))
        child_kill(tool->child, now_ns);
    if (state == CHILD_ENDED) {
        finish(tool, now_ns);
    } else if (state == CHILD_STUCK && tool->state == TOOL_RUNS) {
        settle(tool, OUTCOME_CRASH,
               "SIGKILL does not end it, so it hangs in the driver");
        tool->state = TOOL_STUCK;
    }
    return tool->state;
}

void tool_kill(struct tool *tool, int64_t now_ns)
{
    tool->killed = true;
    if (tool->child)
        child_kill(tool->child, now_ns);
}

void tool_take_result(struct tool *tool, struct tool_result *out)
{
    *out = tool->result;
    if (!out->output)
        out->output = mem_strdup("");
    if (!out->log)
        out->log = mem_strdup("");
    tool->result = (struct tool_result){ .detail = NULL };
}
