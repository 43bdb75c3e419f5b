#include "coordinator/model_sweeps/model_runs.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/options/fail.h"
#include "coordinator/text/json.h"
#include "coordinator/text/json_out.h"

#define OUT_MAX (64 << 20)  /* a report as JSON has some MiB */
#define LINE_MAX_BYTES 8192 /* longer ones are split */
#define LEAST_USD 1e-6      /* no budget is no cap */
#define LOOK_MS 1000
#define STAMP "0000-00-00T00:00:00Z "

void model_runs_init(struct model_run *run, const char *label, const char *db)
{
    *run = (struct model_run){
        .label = mem_strdup(label),
        .db = mem_strdup(db),
        .child = { .end = -1, .out = -1, .errors = -1, .budget = -1 },
    };
    buf_init(&run->out, OUT_MAX);
    buf_init(&run->line, LINE_MAX_BYTES);
}

void model_runs_fini(struct model_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(runs[i].label);
        free(runs[i].db);
        model_args_fini(&runs[i].args);
        buf_fini(&runs[i].out);
        buf_fini(&runs[i].line);
    }
    free(runs);
}

/* ---- stderr */

static size_t stamp_of(const char *line, size_t len)
{
    size_t n = strlen(STAMP);

    for (size_t i = 0; i < n; i++)
        if (i >= len || (STAMP[i] == '0' ? !isdigit((unsigned char)line[i])
                                         : line[i] != STAMP[i]))
            return 0;
    return n;
}

void model_runs_line(const char *label, const char *line, size_t len,
                     struct buf *out)
{
    size_t stamp = stamp_of(line, len);

    buf_add(out, line, stamp);
    buf_printf(out, "%s: ", label);
    buf_add(out, line + stamp, len - stamp);
    buf_str(out, "\n");
}

static void say(const struct model_run *run, const char *line, size_t len)
{
    struct buf text;

    buf_init(&text, 2 * LINE_MAX_BYTES);
    model_runs_line(run->label, line, len, &text);
    fputs(buf_text(&text), stderr);
    buf_fini(&text);
}

/* The complete lines, or all that there is. */
static void say_lines(struct model_run *run, bool all)
{
    const char *end;

    while (run->line.len > 0 &&
           (end = memchr(run->line.bytes, '\n', run->line.len))) {
        say(run, run->line.bytes, (size_t)(end - run->line.bytes));
        buf_take(&run->line, (size_t)(end - run->line.bytes) + 1);
    }
    if (run->line.len > 0 && all) {
        say(run, run->line.bytes, run->line.len);
        buf_clear(&run->line);
    }
}

/* ---- the children */

/* Read what is there; closes the descriptor at its end. */
static void take_out(struct model_run *run)
{
    char bytes[8192];
    ssize_t n;

    while (run->child.out >= 0 &&
           (n = read(run->child.out, bytes, sizeof(bytes))) != -1) {
        buf_add(&run->out, bytes, (size_t)n);
        if (n == 0) {
            close(run->child.out);
            run->child.out = -1;
        }
    }
}

static void take_errors(struct model_run *run)
{
    char bytes[LINE_MAX_BYTES / 4];
    ssize_t n;

    while (run->child.errors >= 0 &&
           (n = read(run->child.errors, bytes, sizeof(bytes))) != -1) {
        buf_add(&run->line, bytes, (size_t)n);
        say_lines(run, run->line.len > LINE_MAX_BYTES / 2);
        if (n == 0) {
            close(run->child.errors);
            run->child.errors = -1;
        }
    }
}

/* One that waits is not started any more. */
static void pass_on(struct model_run *runs, size_t n, int signals)
{
    struct signalfd_siginfo info;

    while (read(signals, &info, sizeof(info)) == sizeof(info))
        for (size_t i = 0; i < n; i++) {
            if (runs[i].child.pid > 0)
                kill(runs[i].child.pid, (int)info.ssi_signo);
            else if (runs[i].waits)
                runs[i].code = 128 + (int)info.ssi_signo;
            runs[i].waits = false;
        }
}

/* ---- one turn */

struct group {
    struct model_run *runs;
    size_t n;
    int signals;
    const struct model_runs_budget *budget; /* or NULL */
    model_runs_look *look;                  /* NULL: no more */
    void *arg;
    int64_t look_ns; /* the next time */
};

static void start(struct group *group, size_t i)
{
    struct model_run *run = &group->runs[i];
    const struct model_budget *budget =
        group->budget ? &group->budget->models[i] : NULL;
    struct err err;
    int rc;

    run->waits = false;
    if (budget && budget->is_limited)
        model_args_add(&run->args, "--budget=%.17g",
                       fmax(budget->usd, LEAST_USD));
    rc = model_child_start(run->args.items, &run->child, &err);
    if (rc < 0)
        run->code = fail_with(rc, &err);
}

/* What one left goes to the others. */
static void share_rest(struct group *group, size_t ended)
{
    const struct model_runs_budget *budget = group->budget;
    const struct model_budget *of = &budget->models[ended];
    double more[MODEL_BUDGET_MAX], usd = of->usd;
    size_t got =
        model_budget_end(budget->whole_usd, budget->models, group->n, ended,
                         budget->spent_usd(group->runs[ended].db), more);

    if (got == 0)
        return;
    fprintf(stderr,
            "%s has spent $%.4g of its $%.4g:", group->runs[ended].label,
            of->spent_usd, usd);
    for (size_t i = 0; i < group->n; i++) {
        if (more[i] <= 0)
            continue;
        fprintf(stderr, " %s gets $%.4g more%s", group->runs[i].label, more[i],
                --got ? "," : "\n");
        if (group->runs[i].waits)
            start(group, i);
        else
            model_child_more(&group->runs[i].child, more[i]);
    }
}

static void end(struct group *group, size_t i)
{
    say_lines(&group->runs[i], true);
    group->runs[i].code = model_child_reap(&group->runs[i].child);
    if (group->budget && group->budget->whole_usd > 0)
        share_rest(group, i);
}

static bool any_runs(const struct group *group)
{
    for (size_t i = 0; i < group->n; i++)
        if (group->runs[i].child.pid > 0)
            return true;
    return false;
}

/* False if none runs, nor waits. */
static bool start_waiting(struct group *group)
{
    if (any_runs(group))
        return true;
    for (size_t i = 0; i < group->n; i++)
        if (group->runs[i].waits)
            start(group, i);
    return any_runs(group);
}

/* One turn over all that still run; false if none does.  The end of a child is
 * an event, and each of them limits itself. */
static bool turn(struct group *group)
{
    struct pollfd *fds = mem_new(3 * group->n + 1, sizeof(*fds));
    bool goes_on = start_waiting(group);

    fds[3 * group->n] =
        (struct pollfd){ .fd = group->signals, .events = POLLIN };
    for (size_t i = 0; i < group->n; i++) {
        const struct model_child *child = &group->runs[i].child;

        fds[3 * i] = (struct pollfd){ .fd = child->out, .events = POLLIN };
        fds[3 * i + 1] =
            (struct pollfd){ .fd = child->errors, .events = POLLIN };
        fds[3 * i + 2] = (struct pollfd){ .fd = child->end, .events = POLLIN };
    }
    if (goes_on)
        (void)poll(fds, 3 * group->n + 1, group->look ? LOOK_MS : -1);
    if (group->look && clock_boot_ns() >= group->look_ns) {
        group->look_ns = clock_boot_ns() + LOOK_MS * NS_PER_MS;
        if (group->look(group->arg))
            group->look = NULL;
    }
    pass_on(group->runs, group->n, group->signals);
    for (size_t i = 0; goes_on && i < group->n; i++) {
        take_out(&group->runs[i]);
        take_errors(&group->runs[i]);
        if (fds[3 * i + 2].revents)
            end(group, i);
    }
    free(fds);
    return goes_on;
}

/* Blocks them, and says where they arrive. */
static int open_signals(sigset_t *before, int *fd, struct err *err)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, before);
    *fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    return *fd >= 0 ? 0
                    : err_set(err, ERR_SYSTEM, "signalfd: %s", strerror(errno));
}

int model_runs_all(struct model_run *runs, size_t n,
                   const struct model_runs_budget *budget,
                   model_runs_look *look, void *arg)
{
    struct group group = { .runs = runs,
                           .n = n,
                           .signals = -1,
                           .budget = budget,
                           .look = look,
                           .arg = arg };
    int *codes = mem_new(n, sizeof(*codes)), code;
    struct err err;
    sigset_t before;
    int rc = open_signals(&before, &group.signals, &err);

    for (size_t i = 0; i < n; i++) {
        if (rc < 0)
            runs[i].code = fail_with(rc, &err);
        else if (budget && model_budget_is_used_up(&budget->models[i]))
            runs[i].waits = true;
        else
            start(&group, i);
    }
    while (rc == 0 && turn(&group))
        ;
    if (rc == 0 && group.look)
        (void)group.look(group.arg); /* short ones have ended meanwhile */
    if (group.signals >= 0)
        close(group.signals);
    sigprocmask(SIG_SETMASK, &before, NULL);
    for (size_t i = 0; i < n; i++)
        codes[i] = runs[i].code;
    code = model_args_code(codes, n);
    free(codes);
    return code;
}

/* ---- what they printed */

void model_runs_print(const struct model_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("== %s: %s ==\n%s\n", runs[i].label, runs[i].db,
               buf_text(&runs[i].out));
}

static void put_output(const struct model_run *run, struct json_out *out)
{
    struct json_doc *doc;

    if (run->out.len == 0 || run->out.truncated ||
        json_parse("output", run->out.bytes, run->out.len, &doc, NULL) < 0) {
        json_out_null(out, "output");
        return;
    }
    json_free(doc);
    while (run->out.len > 0 && run->out.bytes[run->out.len - 1] == '\n')
        run->out.bytes[run->out.len - 1] = ' ';
    json_out_raw(out, "output", run->out.bytes);
}

void model_runs_json(const struct model_run *runs, size_t n,
                     struct json_out *out)
{
    json_out_open(out, "runs", '[');
    for (size_t i = 0; i < n; i++) {
        json_out_open(out, NULL, '{');
        json_out_text(out, "model", runs[i].label);
        json_out_text(out, "database", runs[i].db);
        json_out_int(out, "exit_code", runs[i].code);
        put_output(&runs[i], out);
        json_out_close(out);
    }
    json_out_close(out);
}
