#include "coordinator/told/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/int64.h"
#include "common/mem.h"
#include "coordinator/inspect/metrics_text.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/status.h"
#include "coordinator/store/store.h"
#include "coordinator/text/outfile.h"

#define SHARE 10 /* a long look into a large database is made less often */

/* It is replaced again and again, so it may not be a file of the user's. */
static int check_file(const char *path, struct err *err)
{
    char head[sizeof(METRICS_TEXT_BEGIN) - 1];
    struct stat st;
    ssize_t n;
    int fd;

    if (stat(path, &st) < 0)
        return 0; /* none is there, or writing it says what is wrong */
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT,
                       "--metrics=%s: this is no file; name one that may be "
                       "replaced",
                       path);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, head, sizeof(head));
    if (fd >= 0)
        close(fd);
    if (n == 0 || (n == (ssize_t)sizeof(head) &&
                   memcmp(head, METRICS_TEXT_BEGIN, sizeof(head)) == 0))
        return 0;
    return err_set(err, ERR_INPUT,
                   "--metrics=%s: this file is there already, and what it "
                   "holds are no metrics; name another, or remove it first",
                   path);
}

static int replace(const char *path, const char *text, size_t len,
                   struct err *err)
{
    char *part = mem_printf("%s" OUTFILE_PART, path);
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), rc = 0;

    /* not synced: after a crash of the machine there is nothing to measure */
    if (fd < 0 || write(fd, text, len) != (ssize_t)len || close(fd) < 0 ||
        rename(part, path) < 0)
        rc = err_set(err, ERR_INPUT, "--metrics=%s: %s", path, strerror(errno));
    free(part);
    return rc;
}

/* Nothing is written as long as the database has no sweep. */
static void write_once(const struct metrics *metrics)
{
    struct store *store = NULL;
    struct report *report = NULL;
    struct report_cost *cost = NULL;
    struct status status = { 0 };
    struct buf text;
    struct err err;
    int rc = store_open(metrics->db, STORE_WHOLE, &store, &err);

    if (rc == 0)
        rc = report_load(store, &report, &err);
    if (rc == 0)
        rc = report_cost_load(store, &cost, &err);
    if (rc == 0)
        rc = status_load(store, report, clock_utc_ns(), &status, &err);
    if (rc == 0) {
        buf_init(&text, METRICS_TEXT_MAX);
        metrics_text_put(report, cost, &status, &text);
        (void)replace(metrics->file, buf_text(&text), text.len, &err);
        buf_fini(&text);
    }
    status_fini(&status);
    report_cost_free(cost);
    report_free(report);
    store_close(store);
}

/* The pipe is readable when the sweep's process has ended, however that was. */
static void watch(const struct metrics *metrics, int alive)
{
    struct pollfd end = { .fd = alive, .events = POLLIN };
    int64_t began, wait_ns = 0;

    while (poll(&end, 1, (int)(wait_ns / NS_PER_MS)) == 0) {
        began = clock_boot_ns();
        write_once(metrics);
        wait_ns =
            int64_max(METRICS_EVERY_NS, SHARE * (clock_boot_ns() - began));
    }
}

int metrics_start(const char *db, const char *file, struct metrics *out,
                  struct err *err)
{
    int ends[2], rc;

    *out = (struct metrics){ .alive = -1 };
    rc = err_within(err, outfile_spare(file, err), "--metrics");
    if (rc == 0)
        rc = check_file(file, err);
    if (rc == 0)
        rc = replace(file, "", 0, err);
    if (rc < 0)
        return rc;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_set(err, ERR_SYSTEM, "pipe: %s", strerror(errno));
    *out = (struct metrics){ .db = db, .file = file, .alive = ends[1] };
    fflush(NULL);
    out->pid = fork();
    if (out->pid == 0) {
        signal(SIGINT, SIG_IGN); /* Ctrl-C is for the sweep */
        close(ends[1]);
        watch(out, ends[0]);
        _exit(0);
    }
    close(ends[0]);
    if (out->pid > 0)
        return 0;
    close(ends[1]);
    out->pid = 0;
    return err_set(err, ERR_SYSTEM, "fork: %s", strerror(errno));
}

void metrics_stop(struct metrics *metrics)
{
    if (metrics->pid <= 0)
        return;
    close(metrics->alive);
    kill(metrics->pid, SIGKILL); /* it may be in a long look */
    while (waitpid(metrics->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    write_once(metrics);
    *metrics = (struct metrics){ .alive = -1 };
}
