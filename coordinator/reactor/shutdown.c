#include "coordinator/reactor/shutdown.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/msg.h"
#include "coordinator/link/host_threads.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/state/leases.h"
#include "coordinator/state/outbox.h"
#include "coordinator/state/reactor.h"
#include "coordinator/store/store.h"
#include "coordinator/text/exit_code.h"

#define BYE_NS (2 * NS_PER_S) /* for the last acknowledgements */
#define TURN_MS 100

int shutdown_open_signals(struct err *err)
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

void shutdown_take_signals(struct sweep *sweep, int fd)
{
    struct signalfd_siginfo info;

    while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        sweep->reactor.stopping++;
        sweep->reactor.stop_ns = reactor_now(sweep);
        sweep->reactor.exit_code = exit_code_of_signal((int)info.ssi_signo);
        if (sweep->reactor.stopping == 1)
            progress_say(sweep->reactor.progress,
                         "stopping: finishing what runs; again to stop at "
                         "once");
        else
            progress_say(sweep->reactor.progress, "stopping at once");
        outbox_send_all(sweep,
                        &(struct msg){ .type = MSG_STOP,
                                       .stop.what = sweep->reactor.stopping > 1
                                                        ? "now"
                                                        : "drain" });
    }
}

/* It says BYE when it has heard STOP. */
static bool is_awaited(const struct host_state *host_state)
{
    return host_state_is_connected(host_state) || host_state->conn.leave_ns;
}

/* The worker has ended, or cannot be reached: a new connection would start
 * another one. */
static void let_go(struct sweep *sweep, size_t host)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    host_state->conn.leave_ns = 0;
    if (host_state->state != HOST_STATE_FAILED)
        host_state->state = HOST_STATE_AWAY;
    sweep->reactor.io.link.dismiss(sweep->reactor.io.link.self, host);
}

/* News that are not taken would end every wait at once. */
static void take_last_words(struct sweep *sweep)
{
    const struct sweep_link *link = &sweep->reactor.io.link;
    struct host_thread_news news;
    struct msg msg;
    size_t host;
    struct err err;

    while (link->recv(link->self, &host, &msg, &err) == 1) {
        if (msg.type == MSG_BYE)
            let_go(sweep, host);
        msg_fini(&msg);
    }
    for (size_t i = 0; i < sweep->fleet.n; i++)
        while (link->news(link->self, i, &news) == 1)
            if (news.event == HOST_THREADS_BROKEN)
                let_go(sweep, i);
}

/* It ended because a GPU has other facts than was believed: it begins again. */
static bool is_refuted(const struct sweep *sweep)
{
    const bool *refuted = sweep->reactor.options->stay.rental.refuted;

    return refuted && *refuted;
}

/* Whether the next step of this command will want the hosts. */
static bool more_follows(const struct sweep *sweep)
{
    const struct reactor *reactor = &sweep->reactor;

    if (reactor->stopping)
        return false;
    return is_refuted(sweep) ||
           (reactor->options->stay.more_follows && !reactor->ending &&
            (sweep->work.count.correct > 0 || reactor->options->ask));
}

void shutdown_dismiss(struct sweep *sweep)
{
    int64_t until = reactor_now(sweep) + BYE_NS;
    bool waiting = true;
    const struct sweep_link *link = &sweep->reactor.io.link;

    outbox_send_all(
        sweep,
        &(struct msg){ .type = MSG_STOP,
                       .stop.what = more_follows(sweep) ? "next" : "now" });
    for (size_t i = 0; i < sweep->fleet.n; i++)
        if (sweep->fleet.hosts[i].state == HOST_STATE_AWAY)
            let_go(sweep, i);
    while (waiting && reactor_now(sweep) < until) {
        link->wait(link->self, NULL, 0, TURN_MS);
        take_last_words(sweep);
        waiting = false;
        for (size_t i = 0; i < sweep->fleet.n; i++)
            waiting = waiting || is_awaited(&sweep->fleet.hosts[i]);
    }
}

/* Everything is settled and nothing is correct. */
static int without_winner(struct sweep *sweep)
{
    err_set(&sweep->reactor.fatal, ERR_INPUT,
            "all is settled and no configuration is correct; 'fa-coord "
            "report' and 'fa-coord explain CONFIG' tell why");
    return EXIT_NO_RESULT;
}

/* A pass may be over while builds for it are still leased.  An interrupted run
 * leaves its leases open instead, because the next run may adopt them. */
static void cancel_leases(struct sweep *sweep)
{
    const struct sched_lease *lease;

    if (!sweep->work.sched || sweep->reactor.ending || sweep->reactor.stopping)
        return;
    for (int i = 0; (lease = sched_lease_at(sweep->work.sched, i)); i++)
        leases_end(sweep, lease, LEASES_CANCELLED, LEDGER_LOST);
}

void shutdown_close_books(struct sweep *sweep, struct err *err)
{
    int64_t now = reactor_now(sweep);
    const char *ending = sweep->reactor.ending      ? sweep->reactor.ending
                         : sweep->reactor.stopping  ? "interrupted"
                         : sweep->reactor.closed_ns ? "budget"
                                                    : "done";
    struct err late;

    cancel_leases(sweep);
    for (size_t i = 0; i < sweep->fleet.n; i++)
        ledger_release(sweep->fleet.ledger, (int)i, now);
    if (sweep->reactor.exit_code == EXIT_DATABASE) {
        *err = sweep->reactor.fatal;
        store_rollback(sweep->mail.store);
        return;
    }
    if (store_run_end(sweep->mail.store, sweep->reactor.epoch, ending,
                      reactor_steady_utc(sweep), &late) < 0 ||
        sweep->reactor.io.disk.commit(sweep->reactor.io.disk.self,
                                      sweep->mail.store, &late) < 0) {
        sweep->reactor.exit_code = EXIT_DATABASE;
        sweep->reactor.fatal = late;
    }
    if (sweep->reactor.exit_code == EXIT_DONE && !is_refuted(sweep) &&
        sweep->work.count.correct == 0 && !sweep->reactor.options->ask &&
        !sweep->reactor.options->builds_only)
        sweep->reactor.exit_code = without_winner(sweep);
    if (sweep->reactor.exit_code)
        *err = sweep->reactor.fatal;
}

void shutdown_hand_over(struct sweep *sweep, struct err *err)
{
    const struct sweep_options *options = sweep->reactor.options;
    struct err why;
    int rc;

    if (!options->done.tell || !sweep->work.plan ||
        sweep->reactor.exit_code == EXIT_DATABASE)
        return;
    rc = options->done.tell(options->done.arg, sweep->work.plan,
                            sweep->mail.store, &why);
    if (rc < 0) {
        sweep->reactor.exit_code = exit_code_of(rc);
        *err = why;
    }
}
