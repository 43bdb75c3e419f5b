/* fa-coord watch. */
#include "coordinator/cli/cmd.h"

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
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/inspect/watch.h"
#include "coordinator/live/progress.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/dbpath/dbpath.h"
#include "coordinator/store/store.h"
#include "coordinator/store/whole.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"
#include "coordinator/tasks/run_rental.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/shell_word.h"
#include "coordinator/text/terminal.h"

#define INTERVAL_S 1.0
#define INTERVAL_LEAST_S 0.1
#define INTERVAL_MOST_S 3600.0
#define REST_TIMES 4 /* as long as a look took: it must not slow the sweep */

static int open_signals(struct err *err)
{
    sigset_t set;
    int fd;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    return fd < 0 ? err_set(err, ERR_SYSTEM, "signalfd: %s", strerror(errno))
                  : fd;
}

/* A signal that came within the time, or 0. */
static int wait_for_signal(int fd, double seconds)
{
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
    struct signalfd_siginfo info;

    (void)poll(&poll_fd, 1, (int)(seconds * 1000)); /* read() tells all */
    return read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info)
               ? (int)info.ssi_signo
               : 0;
}

/* What of it a plain line is worth: all but the time that passes. */
struct shown {
    enum progress_kind kind;
    int total, settled, correct, building, measuring, hosts_ready;
    double best_s;
};

static struct shown shown_of(const struct progress_facts *f)
{
    return (struct shown){ f->kind,        f->total,
                           f->settled,     f->correct,
                           f->building,    f->measuring,
                           f->hosts_ready, isnan(f->best.s) ? 0 : f->best.s };
}

static bool is_same(const struct shown *a, const struct shown *b)
{
    return a->kind == b->kind && a->total == b->total &&
           a->settled == b->settled && a->correct == b->correct &&
           a->building == b->building && a->measuring == b->measuring &&
           a->hosts_ready == b->hosts_ready && a->best_s == b->best_s;
}

/* Shows it until it ends.  Returns 0, an ERR_*, or the exit code of a signal.
 */
static int follow(struct store *store, double interval_s, int signals,
                  struct progress *progress, struct err *err)
{
    struct shown last = { .total = -1 };
    bool running = true;
    int caught = 0;

    while (running && !caught) {
        int64_t began_ns = clock_boot_ns();
        struct watch *watch;
        struct shown now;
        double took_s;
        int rc = watch_load(store, clock_utc_ns(), &watch, err);

        if (rc < 0)
            return rc;
        now = shown_of(watch_facts(watch));
        running = watch_is_running(watch);
        if (progress_is_live(progress) || !is_same(&last, &now))
            progress_put(progress, watch_facts(watch));
        last = now;
        watch_free(watch);
        took_s = (double)(clock_boot_ns() - began_ns) / (double)NS_PER_S;
        if (running)
            caught =
                wait_for_signal(signals, fmax(interval_s, REST_TIMES * took_s));
    }
    return caught ? exit_code_of_signal(caught) : 0;
}

/* If it is not the end of the sweep. */
static void print_ending(const struct report *report, const char *path)
{
    const char *ending = report->sweep.ending;

    char *db;

    if (strcmp(ending, "done") == 0)
        return;
    db = shell_word(path);
    printf("the last run %s%s; to continue: fa-coord resume %s\n",
           *ending ? "ended: " : "was killed", ending, db);
    free(db);
}

static int print_answer(struct store *store, struct err *err)
{
    struct report *report = NULL;
    struct report_cost *cost = NULL;
    struct conclusion *conclusion = NULL;
    int rc = err_within(err, whole_check(store_db(store), err), "%s",
                        store_path(store)); /* again: rows have come */

    if (rc == 0)
        rc = report_load(store, &report, err);
    if (rc == 0)
        rc = report_cost_load(store, &cost, err);
    if (rc == 0)
        rc = conclusion_load(store, report, cost, CONFIRMATION_CONFIRM,
                             &conclusion, err);
    if (rc == 0)
        report_summary_answer(&(struct report_view){ .report = report,
                                                     .cost = cost,
                                                     .conclusion = conclusion },
                              stdout);
    if (rc == 0)
        print_ending(report, store_path(store));
    if (rc == 0)
        rc = run_rental_print(store, stdout, err);
    if (rc == 0)
        rc = terminal_flush(stdout, err);
    conclusion_free(conclusion);
    report_cost_free(cost);
    report_free(report);
    return rc;
}

static int watch(struct store *store, double interval_s, struct err *err)
{
    int signals = open_signals(err);
    struct progress *progress;
    int rc;

    if (signals < 0)
        return signals;
    progress = progress_new(false);
    rc = follow(store, interval_s, signals, progress, err);
    progress_free(progress);
    close(signals);
    return rc == 0 ? print_answer(store, err) : rc;
}

static int check_interval(double interval_s, struct err *err)
{
    if (interval_s >= INTERVAL_LEAST_S && interval_s <= INTERVAL_MOST_S)
        return 0;
    return err_set(err, ERR_INPUT, "--interval=%g: choose %g to %g seconds",
                   interval_s, INTERVAL_LEAST_S, INTERVAL_MOST_S);
}

int cmd_watch(int argc, char *argv[])
{
    double interval_s = INTERVAL_S;
    const char *given = NULL;
    const struct option list[] = {
        { "interval", OPTION_REAL, &interval_s, "S",
          "seconds between two looks at the database, 1 by default", NULL },
        { "db", OPTION_TEXT, &given, "FILE",
          "the database, instead of as an argument", NULL },
    };
    const struct options options = {
        .command = "watch",
        .arguments = "[DB]",
        .what = "Watch a sweep from another terminal until it ends.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .first_flag = "db",
        .arguments_max = 1,
        .plain = &given,
    };
    struct store *store = NULL;
    char *path = NULL;
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0)
        rc = check_interval(interval_s, &err);
    if (rc == 0)
        rc = dbpath_find(given, &path, &err);
    if (rc == 0)
        rc = store_open(path, STORE_WHOLE, &store, &err);
    if (rc == 0)
        rc = watch(store, interval_s, &err);
    store_close(store);
    free(path);
    return rc < 0 ? fail_with(rc, &err) : rc;
}
