#include "coordinator/model_sweeps/model_runs.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/options/fail.h"
#include "coordinator/text/json.h"
#include "coordinator/text/json_out.h"

#define OUT_MAX (64 << 20)  /* a report as JSON has some MiB */
#define LINE_MAX_BYTES 8192 /* longer ones are split */
#define STAMP "0000-00-00T00:00:00Z "

void model_runs_init(struct model_run *run, const char *label, const char *db)
{
    *run = (struct model_run){
        .label = mem_strdup(label),
        .db = mem_strdup(db),
        .child = { .end = -1, .out = -1, .errors = -1 },
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

static void pass_on(const struct model_run *runs, size_t n, int signals)
{
    struct signalfd_siginfo info;

    while (read(signals, &info, sizeof(info)) == sizeof(info))
        for (size_t i = 0; i < n; i++)
            if (runs[i].child.pid > 0)
                kill(runs[i].child.pid, (int)info.ssi_signo);
}

/* One turn over all that still run; false if none does. */
static bool turn(struct model_run *runs, size_t n, int signals)
{
    struct pollfd *fds = mem_new(3 * n + 1, sizeof(*fds));
    bool any = false;

    fds[3 * n] = (struct pollfd){ .fd = signals, .events = POLLIN };
    for (size_t i = 0; i < n; i++) {
        const struct model_child *child = &runs[i].child;

        fds[3 * i] = (struct pollfd){ .fd = child->out, .events = POLLIN };
        fds[3 * i + 1] =
            (struct pollfd){ .fd = child->errors, .events = POLLIN };
        fds[3 * i + 2] = (struct pollfd){ .fd = child->end, .events = POLLIN };
        any = any || child->pid > 0;
    }
    /* The end of a child is an event, and each of them limits itself. */
    if (any)
        (void)poll(fds, 3 * n + 1, -1);
    pass_on(runs, n, signals);
    for (size_t i = 0; any && i < n; i++) {
        bool ended = fds[3 * i + 2].revents;

        take_out(&runs[i]);
        take_errors(&runs[i]);
        if (ended) {
            say_lines(&runs[i], true);
            runs[i].code = model_child_reap(&runs[i].child);
        }
    }
    free(fds);
    return any;
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

int model_runs_all(struct model_run *runs, size_t n)
{
    int *codes = mem_new(n, sizeof(*codes)), fd = -1, code;
    struct err err;
    sigset_t before;
    int rc = open_signals(&before, &fd, &err);

    for (size_t i = 0; i < n; i++) {
        if (rc == 0)
            rc = model_child_start(runs[i].args.items, &runs[i].child, &err);
        if (rc < 0)
            runs[i].code = fail_with(rc, &err);
        rc = fd < 0 ? rc : 0;
    }
    while (fd >= 0 && turn(runs, n, fd))
        ;
    if (fd >= 0)
        close(fd);
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
