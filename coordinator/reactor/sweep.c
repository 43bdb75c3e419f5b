#include "coordinator/reactor/sweep.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/device_kind.h"
#include "common/int64.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/link/host_threads.h"
#include "coordinator/link/link.h"
#include "coordinator/link/self.h"
#include "coordinator/notes/description.h"
#include "coordinator/reactor/dispatch.h"
#include "coordinator/reactor/host_events.h"
#include "coordinator/reactor/inbox.h"
#include "coordinator/notes/host_words.h"
#include "coordinator/notes/notices.h"
#include "coordinator/reactor/prepare.h"
#include "coordinator/reactor/rented.h"
#include "coordinator/reactor/results.h"
#include "coordinator/reactor/shutdown.h"
#include "coordinator/schedule/incumbents.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/artifacts/artifacts.h"
#include "coordinator/state/caps.h"
#include "coordinator/state/host_supply.h"
#include "coordinator/state/leases.h"
#include "coordinator/state/outbox.h"
#include "coordinator/state/progress_view.h"
#include "coordinator/state/reactor.h"
#include "coordinator/state/records.h"
#include "coordinator/store/store.h"
#include "coordinator/text/exit_code.h"

/* docs/reliability.md: the times of suspicion and reassignment. */
#define BEAT_NS (5 * NS_PER_S)
#define SUSPECT_NS (15 * NS_PER_S)
#define LOST_NS (30 * NS_PER_S)
#define MISSED_NS (7 * NS_PER_S) /* a beat, and the delay that it may have */
#define LEASES_NS (100 * NS_PER_MS)
#define FLUSH_NS NS_PER_S
#define LONG_TURN_NS NS_PER_S
#define BUSY_TURN_NS (100 * NS_PER_MS) /* of CPU; hosts wait for so long */
#define TURN_MESSAGES 512 /* taken before the timers get their turn */
#define TICK_NS (100 * NS_PER_MS)

/* Stopping: running work may finish; then it is told to end; then it is
 * abandoned. */
#define STOP_DRAIN_NS (15 * NS_PER_S)
#define STOP_NOW_NS (2 * NS_PER_S)

static int next_message(struct sweep *sweep, size_t *host, struct msg *msg,
                        struct err *err)
{
    return inbox_next_kept(sweep, host, msg)
               ? 1
               : sweep->reactor.io.link.recv(sweep->reactor.io.link.self, host,
                                             msg, err);
}

static void take_messages(struct sweep *sweep)
{
    struct err err;
    struct msg msg;
    size_t host;

    for (int i = 0; i < TURN_MESSAGES && !sweep->reactor.ending; i++) {
        int rc = next_message(sweep, &host, &msg, &err);

        if (rc == 0)
            return;
        if (rc == 1) {
            if (!inbox_keep(sweep, host, &msg))
                rc = inbox_take(sweep, host, &msg, &err);
            msg_fini(&msg);
        }
        if (rc == ERR_STORE) {
            reactor_fail(sweep, EXIT_DATABASE, &err);
        } else if (rc == ERR_INPUT) {
            reactor_fail(sweep, EXIT_INPUT, &err);
        } else if (rc == ERR_SYSTEM) { /* here, not at the host */
            reactor_fail(sweep, EXIT_NO_RESULT, &err);
        } else if (rc < 0) {
            char why[sizeof(err.text)];

            snprintf(why, sizeof(why), "it broke the protocol: %s", err.text);
            host_events_give_up(sweep, host, ERR_PROTO, why);
        }
    }
}

static void take_news(struct sweep *sweep)
{
    const struct sweep_link *link = &sweep->reactor.io.link;
    struct host_thread_news news;

    for (size_t host = 0; host < sweep->fleet.n; host++)
        while (link->news(link->self, host, &news) == 1) {
            /* what the worker said before its link ended, such as BYE */
            if (news.event == HOST_THREADS_BROKEN)
                take_messages(sweep);
            host_events_news(sweep, &news);
        }
}

/* Hosts must not be blamed for a frozen process or a sleeping laptop. */
static void forgive(struct sweep *sweep, int64_t by_ns)
{
    for (size_t i = 0; i < sweep->fleet.n; i++) {
        sweep->fleet.hosts[i].conn.heard_ns += by_ns;
        sweep->fleet.hosts[i].conn.linked_ns += by_ns;
    }
    leases_forgive(sweep, by_ns);
    sweep->fleet.usable_ns += by_ns;
    log_line(LOG_W, "LONG-TURN", "ms=%lld", (long long)(by_ns / NS_PER_MS));
}

/* If only repetitions and canaries on silent hosts are left, no other host has
 * work.  Then the sweep ends sooner without them. */
static int64_t lost_after(const struct sweep *sweep)
{
    bool over = sweep->work.sched && !sweep->passes.lead &&
                sched_open_jobs(sweep->work.sched) ==
                    sched_open_orders(sweep->work.sched);

    return over ? MISSED_NS : LOST_NS;
}

static void check_silence(struct sweep *sweep, int64_t now)
{
    for (size_t i = 0; i < sweep->fleet.n; i++) {
        struct host_state *host_state = &sweep->fleet.hosts[i];
        int64_t silent = now - host_state->conn.heard_ns;

        if (!host_state->was_ready || host_state->state == HOST_STATE_FAILED ||
            host_state->is_lost)
            continue;
        if (silent > SUSPECT_NS && !host_state->suspect) {
            host_state->suspect = true;
            log_line(LOG_W, "HOST-SILENT", "host=%s ms=%lld",
                     host_state->host->name, (long long)(silent / NS_PER_MS));
            if (sweep->work.sched)
                sched_host_pause(sweep->work.sched, (int)i, true);
        }
        if (silent > lost_after(sweep)) {
            host_state->is_lost = true;
            progress_say(sweep->reactor.progress,
                         "%s: silent for %d s; its work goes to others",
                         host_state->host->name, (int)(silent / NS_PER_S));
            host_words_forget(sweep, i);
            results_host_lost(sweep, i, "silent");
        }
    }
}

/* A connection may be open at one end only.  Then nothing comes, or only HELLO
 * again and again, because no answer arrives there. */
static void check_connections(struct sweep *sweep, int64_t now)
{
    const struct sweep_link *link = &sweep->reactor.io.link;

    for (size_t i = 0; i < sweep->fleet.n; i++) {
        struct host_state *host_state = &sweep->fleet.hosts[i];
        int64_t since =
            int64_max(host_state->conn.heard_ns, host_state->conn.linked_ns);

        if (!host_state->conn.attached ||
            host_state->state == HOST_STATE_FAILED ||
            (now - since <= LOST_NS &&
             (!host_state->conn.deaf_ns ||
              now - host_state->conn.deaf_ns <= LOST_NS)))
            continue;
        log_line(LOG_W, "HOST-RECONNECT", "host=%s", host_state->host->name);
        host_state->conn.attached = false;
        host_state->conn.deaf_ns = 0;
        link->reconnect(link->self, i);
    }
}

static void check_leases(struct sweep *sweep, int64_t now)
{
    const struct sched_lease *lease;

    if (!sweep->work.sched)
        return;
    leases_turn(sweep, now);
    while ((lease = leases_expired(sweep, now)))
        results_expired(sweep, *lease);
    artifacts_turn(sweep, now);
}

/* Give up the hosts that were found unusable in this turn. */
static void give_up_condemned(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->fleet.n; i++) {
        const struct host_state *host_state = &sweep->fleet.hosts[i];
        char why[sizeof(host_state->conn.why)];

        if (!host_state->conduct.condemned ||
            host_state->state == HOST_STATE_FAILED)
            continue;
        snprintf(why, sizeof(why), "%s", host_state->conn.why);
        host_events_give_up(sweep, i, host_state->conn.code, why);
    }
}

static void run_timers(struct sweep *sweep)
{
    int64_t now = reactor_now(sweep);

    caps_check(sweep, now); /* before a machine is acquired */
    rented_turn(sweep, now);
    check_silence(sweep, now);
    check_connections(sweep, now);
    inbox_wake_hosts(sweep, now);
    host_events_leave(sweep, now);
    if (now - sweep->reactor.last.leases_ns >= LEASES_NS) {
        sweep->reactor.last.leases_ns = now;
        check_leases(sweep, now);
    }
    if (now - sweep->reactor.last.beat_ns >= BEAT_NS) {
        sweep->reactor.last.beat_ns = now;
        outbox_send_all(sweep, &(struct msg){ .type = MSG_BEAT });
    }
    if (now - sweep->reactor.last.flush_ns >= FLUSH_NS) {
        sweep->reactor.last.flush_ns = now;
        ledger_flush(sweep->fleet.ledger, now);
    }
    progress_view_show(sweep, now, false);
    notices_turn(sweep);
    host_words_turn(sweep, now);
}

static bool is_over(const struct sweep *sweep)
{
    int64_t now = reactor_now(sweep);

    if (sweep->reactor.ending)
        return true;
    if (sweep->reactor.stopping > 1)
        return now - sweep->reactor.stop_ns > STOP_NOW_NS ||
               !sweep->work.sched || sched_leases(sweep->work.sched) == 0;
    if (sweep->reactor.stopping == 1)
        return now - sweep->reactor.stop_ns > STOP_DRAIN_NS ||
               !sweep->work.sched || sched_leases(sweep->work.sched) == 0;
    if (sweep->reactor.closed_ns)
        return now >= sweep->reactor.close_by_ns ||
               sched_leases(sweep->work.sched) == 0;
    if (sweep->passes.lead)
        return sweep->passes.lead->ops->is_over(sweep, sweep->passes.lead);
    return sweep->work.sched && sched_open_jobs(sweep->work.sched) == 0 &&
           !pass_waits(sweep);
}

/* The signals, and the pipes of a strategy that is a program. */
static void wait_for_something(struct sweep *sweep, int signals, long ms)
{
    const struct sweep_link *link = &sweep->reactor.io.link;
    struct pollfd fds[1 + PASS_FDS] = {
        { .fd = signals, .events = POLLIN },
    };

    pass_poll(sweep, &fds[1]);
    link->wait(link->self, fds, 1 + PASS_FDS, ms);
}

/* A turn that computes a lot keeps all hosts waiting. */
static void note_turn(struct sweep *sweep, int64_t busy_ns)
{
    struct reactor *reactor = &sweep->reactor;

    reactor->load.turns++;
    reactor->load.busy_ns += busy_ns;
    reactor->load.busiest_ns = int64_max(reactor->load.busiest_ns, busy_ns);
    if (busy_ns > BUSY_TURN_NS)
        log_line(LOG_W, "BUSY-TURN", "cpu_ms=%lld",
                 (long long)(busy_ns / NS_PER_MS));
}

static int64_t cpu_ns(const struct sweep *sweep)
{
    const struct sweep_clock *clock = &sweep->reactor.io.clock;

    return clock->cpu_ns(clock->self);
}

/* Could something that is idle, or soon will be, have work? */
static bool is_idle(const struct sweep *sweep)
{
    return sweep->work.sched && sched_is_idle(sweep->work.sched);
}

/* Leases that have to wait are given in a later turn. */
static void give_leases(struct sweep *sweep)
{
    dispatch_ask(sweep);
    sweep->reactor.last.leases_wait = !commit_pace_may_lease(
        &sweep->mail.pace, is_idle(sweep), reactor_now(sweep));
    if (!sweep->reactor.last.leases_wait)
        dispatch_leases(sweep);
}

static void commit_if_due(struct sweep *sweep)
{
    struct err err;

    if (commit_pace_is_due(&sweep->mail.pace, reactor_now(sweep)) &&
        outbox_commit(sweep, &err) < 0)
        reactor_fail(sweep, EXIT_DATABASE, &err);
}

/* Whole milliseconds, so that it is time when they are over. */
static long wait_ms(const struct sweep *sweep)
{
    int64_t ns =
        commit_pace_wait_ns(&sweep->mail.pace, sweep->reactor.last.leases_wait,
                            is_idle(sweep), TICK_NS, reactor_now(sweep));

    return (long)((ns + NS_PER_MS - 1) / NS_PER_MS);
}

/* Ends when everything is settled, or when it cannot or must not continue.  Of
 * several long turns in a row only one is forgiven: otherwise, with a disk that
 * is always slow, nothing would ever expire. */
static void turn_until_over(struct sweep *sweep, int signals)
{
    bool is_long, was_long = false;

    sweep->reactor.turn_ns = reactor_now(sweep);
    while (!is_over(sweep)) {
        int64_t began = reactor_now(sweep), busy = cpu_ns(sweep), turn;
        long ms = wait_ms(sweep);

        wait_for_something(sweep, signals, ms);
        turn = reactor_now(sweep) - began - ms * NS_PER_MS;
        is_long = turn > LONG_TURN_NS ||
                  began - sweep->reactor.turn_ns > LONG_TURN_NS;
        if (is_long && !was_long)
            forgive(sweep, reactor_now(sweep) - sweep->reactor.turn_ns);
        was_long = is_long;
        sweep->reactor.turn_ns = reactor_now(sweep);
        take_news(sweep);
        take_messages(sweep);
        shutdown_take_signals(sweep, signals);
        run_timers(sweep);
        give_up_condemned(sweep);
        give_leases(sweep);
        if (!sweep->reactor.stopping)
            host_supply_check(sweep, reactor_now(sweep));
        commit_if_due(sweep);
        note_turn(sweep, cpu_ns(sweep) - busy);
    }
    log_line(LOG_I, "TURNS", "n=%lld cpu_ms=%lld busiest_us=%lld commits=%lld",
             (long long)sweep->reactor.load.turns,
             (long long)(sweep->reactor.load.busy_ns / NS_PER_MS),
             (long long)(sweep->reactor.load.busiest_ns / 1000),
             (long long)sweep->mail.pace.n_commits);
}

/* '*owner' is who runs it. */
static int start(struct sweep *sweep, bool finished, struct owner *owner,
                 struct err *err)
{
    const struct sweep_options *options = sweep->reactor.options;
    int rc = store_next_epoch(sweep->mail.store, sweep->reactor.epoch,
                              &sweep->reactor.epoch, err);

    if (rc == 0)
        rc = self_owner(sweep->mail.store, owner, err);
    if (rc == 0 && options->stay.command)
        memcpy(owner->command, options->stay.command, sizeof(owner->command));
    if (rc == 0)
        rc = store_run_start(sweep->mail.store,
                             &(struct store_run){ .epoch = sweep->reactor.epoch,
                                                  .pid = owner->pid,
                                                  .machine = owner->machine,
                                                  .version = FA_VERSION,
                                                  .command = options->command },
                             err);
    if (rc == 0)
        rc = description_put_request(sweep, err);
    if (rc == 0)
        rc = prepare_begin(sweep, finished, err);
    if (rc == 0)
        rc = sweep->reactor.io.disk.commit(sweep->reactor.io.disk.self,
                                           sweep->mail.store, err);
    return rc;
}

static int open_link(struct sweep *sweep, const struct owner *owner,
                     struct err *err)
{
    const struct sweep_options *options = sweep->reactor.options;
    const struct sweep_link *link = &sweep->reactor.io.link;

    return link->open(link->self, sweep->fleet.list,
                      &(struct sweep_link_options){
                          .epoch = sweep->reactor.epoch,
                          .linger_s = options->stay.linger_s,
                          .owner = owner,
                          .remote = &options->remote,
                          .rents = options->stay.rental.machines != NULL,
                          .dial = options->dial,
                      },
                      err);
}

static void sweep_fini(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->fleet.n; i++)
        host_state_forget_running(&sweep->fleet.hosts[i]);
    pass_free(&sweep->passes);
    sched_free(sweep->work.sched);
    incumbents_free(sweep->work.incumbents);
    tried_fini(&sweep->work.count.tried);
    plan_free(sweep->work.plan);
    space_close(sweep->work.space);
    ledger_free(sweep->fleet.ledger);
    progress_free(sweep->reactor.progress);
    free(sweep->fleet.hosts);
    free(sweep->work.artifacts);
    free(sweep->work.vanished);
    free(sweep->work.issued);
    artifacts_free(sweep);
    free(sweep->work.left.list);
    inbox_forget_kept(sweep);
}

/* From the start of the run on; rented machines and those that dial back are
 * held while they are there. */
static void hold_hosts(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->fleet.n; i++)
        if (!sweep->fleet.hosts[i].conn.is_rented &&
            !sweep->fleet.hosts[i].host->dial.back)
            ledger_hold(sweep->fleet.ledger, (int)i, sweep->reactor.started_ns);
}

/* Run until it is over, then do the last steps.  If nothing is left to do, no
 * host is connected: its worker would stay for the linger time. */
static void run(struct sweep *sweep, bool finished, int signals,
                struct err *err)
{
    struct owner owner;
    int rc = signals < 0 ? signals : start(sweep, finished, &owner, err);
    bool idle = rc == 0 && is_over(sweep);
    struct pass *lead;

    if (rc == 0 && !idle) {
        hold_hosts(sweep);
        rc = open_link(sweep, &owner, err);
    }
    if (rc < 0) {
        sweep->reactor.exit_code = exit_code_of(rc);
        return;
    }
    if (idle)
        progress_say(sweep->reactor.progress,
                     "nothing is left to do: no host is used");
    turn_until_over(sweep, signals);
    lead = sweep->passes.lead;
    if (outbox_commit(sweep, err) < 0)
        reactor_fail(sweep, EXIT_DATABASE, err);
    if (sweep->work.count.settled > 0 || sweep->reactor.options->builds_only ||
        lead)
        progress_view_show(sweep, reactor_now(sweep), true);
    if (lead && lead->ops->end.store && !sweep->reactor.ending)
        lead->ops->end.store(sweep, lead);
    if (!idle)
        shutdown_dismiss(sweep);
    shutdown_close_books(sweep, err);
    shutdown_hand_over(sweep, err);
    notices_end(sweep);
}

static void sweep_init(struct sweep *sweep, const struct sweep_io *io,
                       struct spec *spec, const struct hosts *hosts,
                       struct store *store, const struct sweep_options *options)
{
    *sweep =
        (struct sweep){ .reactor = { .options = options, .io = *io },
                        .fleet = { .list = hosts, .n = hosts->n },
                        .work = { .spec = spec },
                        .mail = { .store = store, .pace = commit_pace_new() } };
    sweep->reactor.epoch = reactor_steady_utc(sweep);
    sweep->reactor.started_ns = sweep->fleet.usable_ns = reactor_now(sweep);
    pass_init(&sweep->passes, options->passes);
    sweep->fleet.hosts = mem_new(sweep->fleet.n, sizeof(*sweep->fleet.hosts));
    sweep->fleet.ledger =
        ledger_new((int)sweep->fleet.n, records_put_interval, sweep);
    ledger_keep_held(sweep->fleet.ledger, records_put_held);
    for (size_t i = 0; i < sweep->fleet.n; i++) {
        sweep->fleet.hosts[i].host = &hosts->list[i];
        sweep->fleet.hosts[i].conn.heard_ns = sweep->reactor.started_ns;
        sweep->fleet.hosts[i].budget = budget_full(sweep->reactor.started_ns);
        if (hosts->list[i].has_rate)
            ledger_price(sweep->fleet.ledger, (int)i, hosts->list[i].rate,
                         sweep->reactor.started_ns);
        rented_begin(sweep, i);
    }
}

/* Would nothing be left to do on the GPU of an earlier run?  'sweep' is made
 * for this question: what it puts into the database is dropped.  A strategy
 * that is a program is not asked, because it would be started twice; what
 * leads a run (blocks, a tool) is only run if something is left. */
static bool is_finished(struct sweep *sweep)
{
    const struct sweep_options *options = sweep->reactor.options;
    struct err err;
    bool over = false;

    if (!device_kind_is(options->device, DEVICE_KIND_CPU) &&
        !options->builds_only && !options->confirmation && !options->tool &&
        !(options->search_settings &&
          search_settings_command(options->search_settings)))
        over = prepare_begin(sweep, true, &err) == 0 &&
               !sweep->reactor.ending && is_over(sweep);
    store_rollback(sweep->mail.store);
    return over;
}

int sweep_run_with(const struct sweep_io *io, struct spec *spec,
                   const struct hosts *hosts, struct store *store,
                   const struct sweep_options *options, struct err *err)
{
    int signals = shutdown_open_signals(err);
    struct sweep sweep;
    bool finished;

    sweep_init(&sweep, io, spec, hosts, store, options);
    sweep.reactor.progress = progress_new(true);
    finished = is_finished(&sweep);
    sweep_fini(&sweep);
    sweep_init(&sweep, io, spec, hosts, store, options);
    sweep.reactor.progress = progress_new(options->watch.quiet);
    run(&sweep, finished, signals, err);
    if (options->caps.reserve)
        *options->caps.held_back = sweep.reactor.closed_ns != 0;
    io->link.close(io->link.self);
    sweep_fini(&sweep);
    if (signals >= 0)
        close(signals);
    return sweep.reactor.exit_code;
}

static int run_once(struct spec *spec, const struct hosts *hosts,
                    struct store *store, const struct sweep_options *options,
                    struct err *err)
{
    struct link *link = link_new();
    struct sweep_io io = { .clock = sweep_clock_real,
                           .link = link_table(link),
                           .disk = sweep_disk_real };
    int code = sweep_run_with(&io, spec, hosts, store, options, err);

    link_free(link);
    return code;
}

int sweep_run(struct spec *spec, const struct hosts *hosts, struct store *store,
              const struct sweep_options *options, struct err *err)
{
    struct sweep_options again = *options;
    int64_t began_ns = clock_boot_ns();
    int code = run_once(spec, hosts, store, options, err);

    if (!options->stay.rental.refuted || !*options->stay.rental.refuted ||
        code != EXIT_DONE)
        return code;
    again.stay.rental.refuted = NULL;
    again.caps.hours_before +=
        (double)(clock_boot_ns() - began_ns) / (3600 * (double)NS_PER_S);
    return run_once(spec, hosts, store, &again, err);
}
