#include "coordinator/sweep.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <zmq.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/mem.h"
#include "coordinator/rundir.h"
#include "coordinator/space.h"
#include "coordinator/sweep_state.h"

/* DESIGN section 3: the times of suspicion and reassignment. */
#define BEAT_NS (5 * NS_PER_S)
#define SUSPECT_NS (15 * NS_PER_S)
#define LOST_NS (30 * NS_PER_S)
#define COMMIT_NS (20 * NS_PER_MS)
#define COMMIT_ROWS 256
#define FLUSH_NS NS_PER_S
#define LONG_TURN_NS NS_PER_S
#define TURN_MESSAGES 512 /* taken before the timers get their turn */
#define TICK_MS 100

/* Stopping: what runs may finish; then it is told to end; then it is left. */
#define STOP_DRAIN_NS (15 * NS_PER_S)
#define STOP_NOW_NS (2 * NS_PER_S)
#define REQUEST_MAX (64 << 10) /* of a recorded kernel: a handful of lines */

void sweep_fail(struct sweep *sweep, int exit_code, const char *ending,
                const struct err *why)
{
    if (sweep->ending)
        return;
    sweep->ending = ending;
    sweep->exit_code = exit_code;
    if (why)
        sweep->fatal = *why;
}

static void set_pollitem(zmq_pollitem_t *item, void *socket, int fd)
{
    *item =
        (zmq_pollitem_t){ .socket = socket, .fd = fd, .events = ZMQ_POLLIN };
}

static int next_message(struct sweep *sweep, size_t *host, struct msg *msg,
                        struct err *err)
{
    return sweep_next_kept(sweep, host, msg)
               ? 1
               : server_recv(sweep->server, host, msg, err);
}

static void take_messages(struct sweep *sweep)
{
    struct err err;
    struct msg msg;
    size_t host;

    for (int i = 0; i < TURN_MESSAGES && !sweep->ending; i++) {
        int rc = next_message(sweep, &host, &msg, &err);

        if (rc == 0)
            return;
        if (rc == 1) {
            if (!sweep_keep(sweep, host, &msg))
                rc = sweep_take(sweep, host, &msg, &err);
            msg_fini(&msg);
        }
        if (rc == ERR_STORE) {
            sweep_fail(sweep, 7, "error", &err);
        } else if (rc == ERR_INPUT) {
            sweep_fail(sweep, 2, "error", &err);
        } else if (rc < 0) {
            char why[sizeof(err.text)];

            snprintf(why, sizeof(why), "it broke the protocol: %s", err.text);
            sweep_give_up(sweep, host, ERR_PROTO, why);
        }
    }
}

static void take_news(struct sweep *sweep)
{
    struct crew_news news;

    for (size_t host = 0; host < sweep->n_boxes; host++)
        while (crew_recv(sweep->crew, host, &news) == 1)
            sweep_crew_news(sweep, &news);
}

static void take_signals(struct sweep *sweep, int fd)
{
    struct signalfd_siginfo info;

    while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        sweep->stopping++;
        sweep->stop_ns = clock_boot_ns();
        sweep->exit_code = 128 + (int)info.ssi_signo;
        if (sweep->stopping == 1)
            progress_say(sweep->progress,
                         "stopping: finishing what runs; again to stop at "
                         "once");
        else
            progress_say(sweep->progress, "stopping at once");
        sweep_send_all(
            sweep,
            &(struct msg){ .type = MSG_STOP,
                           .what = sweep->stopping > 1 ? "now" : "drain" });
    }
}

/* What a frozen process or a sleeping laptop must not be blamed on hosts. */
static void forgive(struct sweep *sweep, int64_t by_ns)
{
    for (size_t i = 0; i < sweep->n_boxes; i++)
        sweep->boxes[i].heard_ns += by_ns;
    sweep->usable_ns += by_ns;
    log_line(LOG_W, "LONG-TURN", "ms=%lld", (long long)(by_ns / NS_PER_MS));
}

static void check_silence(struct sweep *sweep, int64_t now)
{
    for (size_t i = 0; i < sweep->n_boxes; i++) {
        struct box *box = &sweep->boxes[i];
        int64_t silent = now - box->heard_ns;

        if (!box->was_ready || box->state == BOX_FAILED || box->is_lost)
            continue;
        if (silent > SUSPECT_NS && !box->suspect) {
            box->suspect = true;
            log_line(LOG_W, "HOST-SILENT", "host=%s ms=%lld", box->host->name,
                     (long long)(silent / NS_PER_MS));
            if (sweep->sched)
                sched_host_pause(sweep->sched, (int)i, true);
        }
        if (silent > LOST_NS) {
            box->is_lost = true;
            progress_say(sweep->progress,
                         "%s: silent for %d s; its work goes to others",
                         box->host->name, (int)(silent / NS_PER_S));
            sweep_host_lost(sweep, i, "silent for 30 s");
        }
    }
}

double sweep_usd(const struct sweep *sweep)
{
    double usd = sweep->usd_before;
    bool priced = sweep->usd_before > 0;
    int64_t now = clock_boot_ns();

    for (size_t i = 0; i < sweep->n_boxes; i++) {
        const struct box *box = &sweep->boxes[i];

        if (!box->host->has_rate)
            continue;
        priced = true;
        usd += box->host->rate * (double)(now - sweep->started_ns) /
               (3600.0 * (double)NS_PER_S);
    }
    return priced ? usd : NAN;
}

static void check_caps(struct sweep *sweep, int64_t now)
{
    const struct sweep_options *options = sweep->options;
    double hours = options->hours_before + (double)(now - sweep->started_ns) /
                                               (3600.0 * (double)NS_PER_S);
    double usd = sweep_usd(sweep);
    struct err err;

    if (options->max_hours > 0 && hours >= options->max_hours) {
        err_set(&err, ERR_INPUT, "the cap of %g hours is reached",
                options->max_hours);
        sweep_fail(sweep, 6, "budget", &err);
    }
    if (options->budget_usd > 0 && usd >= options->budget_usd) {
        err_set(&err, ERR_INPUT, "the budget of $%g is spent",
                options->budget_usd);
        sweep_fail(sweep, 6, "budget", &err);
    }
}

static void run_timers(struct sweep *sweep)
{
    int64_t now = clock_boot_ns();

    check_silence(sweep, now);
    check_caps(sweep, now);
    if (now - sweep->beat_ns >= BEAT_NS) {
        sweep->beat_ns = now;
        sweep_send_all(sweep, &(struct msg){ .type = MSG_BEAT });
    }
    if (now - sweep->flush_ns >= FLUSH_NS) {
        sweep->flush_ns = now;
        ledger_flush(sweep->ledger, now);
    }
    sweep_show(sweep, now, false);
}

static bool is_over(const struct sweep *sweep)
{
    int64_t now = clock_boot_ns();

    if (sweep->ending)
        return true;
    if (sweep->stopping > 1)
        return now - sweep->stop_ns > STOP_NOW_NS || !sweep->sched ||
               sched_leases(sweep->sched) == 0;
    if (sweep->stopping == 1)
        return now - sweep->stop_ns > STOP_DRAIN_NS || !sweep->sched ||
               sched_leases(sweep->sched) == 0;
    if (sweep->contest)
        return sweep_contest_is_over(sweep);
    if (sweep->options->profile)
        return sweep->profile && sweep_profile_is_over(sweep);
    return sweep->sched && sched_open_jobs(sweep->sched) == 0 &&
           !sweep_canary_waits(sweep);
}

/* A strategy of somebody else's is a program with pipes. */
static void set_strategy_items(const struct sweep *sweep, zmq_pollitem_t *items)
{
    int fds[SWEEP_SEARCH_FDS];
    short events[SWEEP_SEARCH_FDS];

    sweep_search_poll(sweep, fds, events);
    for (size_t i = 0; i < SWEEP_SEARCH_FDS; i++)
        items[i] = (zmq_pollitem_t){ .fd = fds[i], .events = events[i] };
}

/* Ends when all is settled, or it cannot or must not go on. */
static void turn_until_over(struct sweep *sweep, int signals)
{
    size_t n = sweep->n_boxes + 3 + SWEEP_SEARCH_FDS;
    zmq_pollitem_t *items = mem_new(n, sizeof(*items));
    struct err err;

    set_pollitem(&items[0], server_router(sweep->server), -1);
    set_pollitem(&items[1], server_zap(sweep->server), -1);
    set_pollitem(&items[2], NULL, signals);
    for (size_t i = 0; i < sweep->n_boxes; i++)
        set_pollitem(&items[3 + i], crew_socket(sweep->crew, i), -1);
    sweep->turn_ns = clock_boot_ns();
    while (!is_over(sweep)) {
        int64_t began = clock_boot_ns(), turn;
        long wait_ms = sweep->pending ? (long)(COMMIT_NS / NS_PER_MS) : TICK_MS;

        set_strategy_items(sweep, &items[3 + sweep->n_boxes]);
        zmq_poll(items, (int)n, wait_ms);
        turn = clock_boot_ns() - began - wait_ms * NS_PER_MS;
        if (turn > LONG_TURN_NS || began - sweep->turn_ns > LONG_TURN_NS)
            forgive(sweep, clock_boot_ns() - sweep->turn_ns);
        sweep->turn_ns = clock_boot_ns();
        server_step(sweep->server);
        take_news(sweep);
        take_messages(sweep);
        take_signals(sweep, signals);
        run_timers(sweep);
        sweep_dispatch(sweep);
        if (!sweep->stopping)
            sweep_check_hosts(sweep, clock_boot_ns());
        if (sweep->pending &&
            (sweep->pending >= COMMIT_ROWS ||
             clock_boot_ns() - sweep->pending_ns >= COMMIT_NS) &&
            sweep_commit(sweep, &err) < 0)
            sweep_fail(sweep, 7, "error", &err);
    }
    free(items);
}

static int start(struct sweep *sweep, void *zctx, const char *socket_path,
                 struct err *err)
{
    const struct sweep_options *options = sweep->options;
    struct crew_options crew = {
        .socket_path = socket_path,
        .epoch = sweep->epoch,
        .linger_s = options->linger_s,
        .remote = options->remote,
    };
    char machine[256] = "";
    int rc;

    gethostname(machine, sizeof(machine) - 1);
    rc = store_run_start(sweep->store,
                         &(struct store_run){ .epoch = sweep->epoch,
                                              .pid = getpid(),
                                              .machine = machine,
                                              .version = FA_VERSION,
                                              .command = options->command },
                         err);
    if (rc == 0)
        rc = sweep_begin(sweep, err);
    if (rc == 0)
        rc = store_commit(sweep->store, err);
    if (rc == 0)
        rc =
            server_open(zctx, socket_path, sweep->n_boxes, &sweep->server, err);
    if (rc == 0)
        rc = crew_start(zctx, sweep->hosts, sweep->server, &crew, &sweep->crew,
                        err);
    return rc;
}

/* Blocked before the first thread, so that every thread inherits it. */
static int open_signals(struct err *err)
{
    sigset_t set;
    int fd;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "signalfd: %s", strerror(errno));
    return fd;
}

static void sweep_fini(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->n_boxes; i++)
        sweep_forget_running(&sweep->boxes[i]);
    sweep_contest_free(sweep->contest);
    sweep_canary_free(sweep);
    sweep_search_free(sweep);
    sweep_race_free(sweep);
    sched_free(sweep->sched);
    sweep_tools_free(sweep);
    sweep_profile_free(sweep);
    incumbents_free(sweep->incumbents);
    plan_free(sweep->plan);
    space_close(sweep->space);
    ledger_free(sweep->ledger);
    progress_free(sweep->progress);
    free(sweep->boxes);
    free(sweep->artifacts);
    free(sweep->grants);
    free(sweep->wants);
    sweep_forget_kept(sweep);
    buf_fini(&sweep->request);
}

int sweep_run(struct spec *spec, const struct hosts *hosts, struct store *store,
              const struct sweep_options *options, struct err *err)
{
    struct sweep sweep = { .options = options,
                           .spec = spec,
                           .hosts = hosts,
                           .store = store,
                           .n_boxes = hosts->n,
                           .epoch = clock_utc_ns(),
                           .started_ns = clock_boot_ns() };
    char socket_path[RUNDIR_PATH_BYTES];
    struct rundir rundir = { 0 };
    void *zctx = NULL;
    int signals = open_signals(err), rc = signals;

    buf_init(&sweep.request, REQUEST_MAX);
    sweep.boxes = mem_new(sweep.n_boxes, sizeof(*sweep.boxes));
    sweep.ledger = ledger_new((int)sweep.n_boxes, sweep_put_interval, &sweep);
    sweep.progress = progress_new(options->quiet);
    sweep.usable_ns = sweep.started_ns;
    for (size_t i = 0; i < sweep.n_boxes; i++) {
        sweep.boxes[i].host = &hosts->list[i];
        sweep.boxes[i].heard_ns = sweep.started_ns;
        ledger_hold(sweep.ledger, (int)i, sweep.started_ns);
    }
    if (rc >= 0)
        rc = rundir_open(&rundir, err);
    if (rc >= 0) {
        rundir_file(&rundir, "router", socket_path);
        zctx = zmq_ctx_new();
        rc = start(&sweep, zctx, socket_path, err);
    }
    if (rc < 0) {
        sweep.exit_code = sweep_exit_code(rc);
    } else {
        if (!is_over(&sweep))
            turn_until_over(&sweep, signals);
        if (sweep_commit(&sweep, err) < 0)
            sweep_fail(&sweep, 7, "error", err);
        if (sweep.n_settled > 0 || options->builds_only || sweep.contest)
            sweep_show(&sweep, clock_boot_ns(), true);
        if (sweep.contest && !sweep.ending)
            sweep_contest_end(&sweep);
        sweep_dismiss(&sweep);
        sweep_close_books(&sweep, err);
        sweep_hand_over(&sweep, err);
    }
    if (crew_stop(sweep.crew)) {
        server_close(sweep.server);
        if (zctx)
            zmq_ctx_term(zctx);
    }
    sweep_fini(&sweep);
    rundir_close(&rundir);
    if (signals >= 0)
        close(signals);
    return sweep.exit_code;
}
