#include "coordinator/reactor/host_events.h"

#include <stdio.h>
#include <string.h>

#include "common/int64.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/owner.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/link/host_threads.h"
#include "coordinator/reactor/believed.h"
#include "coordinator/reactor/claimed_work.h"
#include "coordinator/notes/host_words.h"
#include "coordinator/notes/notices.h"
#include "coordinator/reactor/host_model.h"
#include "coordinator/reactor/prepare.h"
#include "coordinator/reactor/rented.h"
#include "coordinator/reactor/results.h"
#include "coordinator/reactor/resume.h"
#include "coordinator/replay/replay.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/spec/spec.h"
#include "coordinator/state/leases.h"
#include "coordinator/state/outbox.h"
#include "coordinator/state/reactor.h"
#include "coordinator/state/records.h"

#define BEAT_MS 5000            /* docs/reliability.md */
#define LEAVE_NS (2 * NS_PER_S) /* for a worker to hear that it must stop */
#define CANCELS_MAX 1024        /* more than a worker has leases */

static void set_phase(struct sweep *sweep, size_t host,
                      enum ledger_category phase)
{
    ledger_phase(sweep->fleet.ledger, (int)host, phase, reactor_now(sweep));
}

static void go_away(struct sweep *sweep, size_t host)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    host_state->conn.attached = host_state->conn.waits = false;
    if (host_state->state != HOST_STATE_FAILED)
        host_state->state = HOST_STATE_AWAY;
    if (sweep->work.sched)
        sched_host_pause(sweep->work.sched, (int)host, true);
}

/* From here on it costs nothing, or rented.h sees to that. */
static void dismiss(struct sweep *sweep, size_t host)
{
    sweep->fleet.hosts[host].conn.leave_ns = 0;
    if (sweep->fleet.hosts[host].conn.is_rented) {
        rented_park(sweep, host);
        return;
    }
    ledger_release(sweep->fleet.ledger, (int)host, reactor_now(sweep));
    sweep->reactor.io.link.dismiss(sweep->reactor.io.link.self, host);
}

static void put_failed(struct sweep *sweep, const struct host_state *host_state)
{
    char
        text[sizeof(host_state->host->name) + sizeof(host_state->conn.why) + 2];

    snprintf(text, sizeof(text), "%s: %s", host_state->host->name,
             host_state->conn.why);
    records_put_event(sweep, "E", "HOST-FAILED", text);
}

/* Its connection is still there. */
static void fail(struct sweep *sweep, size_t host, int code, const char *why)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    go_away(sweep, host);
    host_words_forget(sweep, host);
    host_state->state = HOST_STATE_FAILED;
    host_state->conn.code = code;
    snprintf(host_state->conn.why, sizeof(host_state->conn.why), "%s", why);
    if (sweep->fleet.n > 1) /* with a single host, the last line says it */
        progress_say(sweep->reactor.progress, "%s: not used: %s",
                     host_state->host->name, why);
    log_line(LOG_E, "HOST-FAILED", "host=%s why=%s", host_state->host->name,
             why);
    if (code == ERR_PROTO) /* that is no fault of its work */
        results_take_back(sweep, host);
    results_host_lost(sweep, host, why);
    put_failed(sweep, host_state);
}

/* Its worker would stay for the linger time, so it is told to stop, and has a
 * moment to hear that. */
void host_events_give_up(struct sweep *sweep, size_t host, int code,
                         const char *why)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];
    bool hears = host_state_is_connected(host_state);

    if (host_state->state == HOST_STATE_FAILED) {
        dismiss(sweep, host); /* it goes on breaking the protocol */
        return;
    }
    fail(sweep, host, code, why);
    if (hears &&
        outbox_send(sweep, host,
                    &(struct msg){ .type = MSG_STOP, .stop.what = "now" }))
        host_state->conn.leave_ns = reactor_now(sweep) + LEAVE_NS;
    else
        dismiss(sweep, host);
}

void host_events_bye(struct sweep *sweep, size_t host)
{
    if (sweep->fleet.hosts[host].conn.leave_ns)
        dismiss(sweep, host);
}

void host_events_leave(struct sweep *sweep, int64_t now)
{
    for (size_t i = 0; i < sweep->fleet.n; i++)
        if (sweep->fleet.hosts[i].conn.leave_ns &&
            now >= sweep->fleet.hosts[i].conn.leave_ns)
            dismiss(sweep, i);
}

/* Its worker has ended, or cannot be heard: the next HELLO tells. */
static void lose_dialled(struct sweep *sweep, size_t host)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];
    int64_t *lost_ns = &host_state->conn.lost_ns;

    if (!host_state->host->dial.back || host_state->host->dial.slurm.task != 0)
        return;
    ledger_release(sweep->fleet.ledger, (int)host, reactor_now(sweep));
    *lost_ns = *lost_ns ? *lost_ns : reactor_now(sweep);
}

/* A worker that was frozen, or could not be reached, has cost all the time. */
static void hold_dialled(struct sweep *sweep, size_t host, bool same_worker)
{
    int64_t *lost_ns = &sweep->fleet.hosts[host].conn.lost_ns;

    if (*lost_ns)
        ledger_hold(sweep->fleet.ledger, (int)host,
                    same_worker ? *lost_ns : reactor_now(sweep));
    *lost_ns = 0;
}

/* A worker that ended by itself has said why. */
static void broken(struct sweep *sweep, const struct host_thread_news *news)
{
    struct host_state *host_state = &sweep->fleet.hosts[news->host];
    char why[sizeof(host_state->conn.why)];

    go_away(sweep, news->host);
    lose_dialled(sweep, news->host);
    snprintf(why, sizeof(why), "%s%s%s", news->text,
             host_state->conn.bye[0] ? ": " : "", host_state->conn.bye);
    log_line(LOG_W, "HOST-BROKEN", "host=%s why=%s", host_state->host->name,
             why);
    if (host_state->conn.is_rented && host_state->conn.leave_ns)
        host_events_bye(sweep, news->host);
    if (sweep->reactor.stopping)
        return;
    host_words_forget(sweep, news->host);
    if (host_state->conn.is_rented && !host_state->conn.is_linked)
        return;
    if (host_state->conn.tries == 0 || strcmp(host_state->conn.why, why) != 0)
        progress_say(sweep->reactor.progress, "%s: %s; trying again",
                     host_state->host->name, why);
    host_state->conn.tries++;
    host_state->conn.code = news->code;
    snprintf(host_state->conn.why, sizeof(host_state->conn.why), "%s", why);
}

/* The text up to the process that has the host. */
static size_t owner_len(const char *why)
{
    const char *pid = strstr(why, ", pid ");

    return pid ? (size_t)(pid - why) + 2 + strcspn(pid + 2, ",") : strlen(why);
}

/* The seconds in the text differ each time, and the database in each step of
 * the command that has the host. */
static bool is_told(const struct host_state *host_state, const char *why)
{
    const char *was = host_state->conn.why;
    size_t len = owner_len(why);

    return host_state->conn.waits && owner_len(was) == len &&
           strncmp(was, why, len) == 0;
}

/* It comes free by itself: this is no try that failed. */
static void waits(struct sweep *sweep, const struct host_thread_news *news)
{
    struct host_state *host_state = &sweep->fleet.hosts[news->host];
    char text[sizeof(host_state->host->name) + sizeof(news->text)];

    host_words_forget(sweep, news->host);
    if (!is_told(host_state, news->text)) {
        set_phase(sweep, news->host, LEDGER_ACQUIRING);
        snprintf(text, sizeof(text), "%s: %s", host_state->host->name,
                 news->text);
        progress_say(sweep->reactor.progress, "%s; waiting", text);
        records_put_event(sweep, "I", "HOST-WAITS", text);
        log_line(LOG_I, "HOST-WAITS", "host=%s why=%s", host_state->host->name,
                 news->text);
    }
    host_state->conn.waits = true;
    host_state->conn.tries = 0;
    host_state->conn.code = ERR_NETWORK;
    snprintf(host_state->conn.why, sizeof(host_state->conn.why), "%s",
             news->text);
}

static void cut(struct sweep *sweep, const struct host_thread_news *news)
{
    struct host_state *host_state = &sweep->fleet.hosts[news->host];

    log_line(LOG_W, "UPLOAD-CUT", "host=%s why=%s", host_state->host->name,
             news->text);
    if (!host_state->conn.was_cut)
        progress_say(sweep->reactor.progress,
                     "%s: %s; the upload continues where it stopped",
                     host_state->host->name, news->text);
    host_state->conn.was_cut = true;
}

/* A node of Slurm costs from the start of its job, which was before now. */
static void hold_since(struct sweep *sweep, const struct host_thread_news *news)
{
    int64_t since = reactor_now(sweep) - news->code * NS_PER_S;

    if (sweep->fleet.hosts[news->host].host->dial.back)
        ledger_hold(sweep->fleet.ledger, (int)news->host,
                    int64_max(since, sweep->reactor.started_ns));
}

/* What was held after the end of its job was not. */
static void job_ended(struct sweep *sweep, const struct host_thread_news *news)
{
    int64_t at = reactor_now(sweep) - news->code * NS_PER_S;

    ledger_release(sweep->fleet.ledger, (int)news->host, at);
    records_cut(sweep, news->host, at);
}

static void attached(struct sweep *sweep, size_t host)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    if (host_state->conn.lost_ns == 0) /* else its HELLO says since when */
        ledger_hold(sweep->fleet.ledger, (int)host, reactor_now(sweep));
    host_state->conn.attached = true;
    host_state->conn.waits = false;
    host_state->conn.linked_ns = reactor_now(sweep);
    host_state->conn.tries = 0;
    host_state->conn.bye[0] = '\0';
    if (host_state->state == HOST_STATE_AWAY) /* HELLO may have come sooner */
        set_phase(sweep, host, LEDGER_SETUP);
}

void host_events_news(struct sweep *sweep, const struct host_thread_news *news)
{
    struct host_state *host_state = &sweep->fleet.hosts[news->host];

    if (host_state->state == HOST_STATE_FAILED) {
        host_events_bye(sweep, news->host); /* or it is out of reach */
        return;
    }
    switch (news->event) {
    case HOST_THREADS_CONNECTING:
        hold_since(sweep, news);
        if (!host_state->was_ready)
            set_phase(sweep, news->host, LEDGER_ACQUIRING);
        return;
    case HOST_THREADS_LOGIN_ASKED: /* host_threads_recv() takes them */
    case HOST_THREADS_LOGIN_ENDED:
        return;
    case HOST_THREADS_REMARK:
        host_words_say(sweep, news->host, "%s", news->text);
        return;
    case HOST_THREADS_UPLOADING:
        set_phase(sweep, news->host, LEDGER_UPLOADING);
        return;
    case HOST_THREADS_WAITING:
        waits(sweep, news);
        return;
    case HOST_THREADS_PROGRESS: /* a slow link is no reason to end */
        host_state->conn.tries = 0;
        sweep->fleet.usable_ns = reactor_now(sweep);
        return;
    case HOST_THREADS_CUT:
        cut(sweep, news);
        return;
    case HOST_THREADS_ATTACHED:
        attached(sweep, news->host);
        return;
    case HOST_THREADS_BROKEN:
        broken(sweep, news);
        return;
    case HOST_THREADS_GAVE_UP:
        fail(sweep, news->host, news->code, news->text);
        dismiss(sweep, news->host);
        return;
    case HOST_THREADS_JOB_ENDED:
        job_ended(sweep, news);
        return;
    case HOST_THREADS_PARKED:
    case HOST_THREADS_ENDED:
        host_state->conn.is_parked |= news->event == HOST_THREADS_PARKED;
        go_away(sweep, news->host);
        return;
    }
}

static void welcome(struct sweep *sweep, size_t host)
{
    const struct host *h = sweep->fleet.hosts[host].host;
    struct msg msg = {
        .type = MSG_WELCOME,
        .welcome = { .protocol = MSG_PROTOCOL,
                     .sweep = sweep->work.spec->name,
                     .device = sweep->reactor.options->device,
                     .gpus = host_gpus(h),
                     .nvcc = h->nvcc,
                     .allow = h->allow,
                     .poweroff = h->rental.poweroff,
                     .slots = h->slots,
                     .beat_ms = BEAT_MS,
                     .linger_ms = sweep->reactor.options->stay.linger_s * 1000 }
    };

    outbox_send(sweep, host, &msg);
}

/* The worker would keep the leases that its other name had: nothing that they
 * want is sent any more, and it has no room for new ones. */
static void cancel_of_other_name(struct sweep *sweep, size_t other, size_t host)
{
    struct msg cancel = { .type = MSG_CANCEL };
    size_t left = CANCELS_MAX;

    for (size_t i = sweep->work.n_issued; i-- > 0 && left > 0;) {
        const struct issued_lease *lease = &sweep->work.issued[i];

        if (lease->host != (int)other || lease->nonce[0])
            continue;
        cancel.cancel.lease = (int64_t)i + 1;
        outbox_send(sweep, host, &cancel);
        left--;
    }
}

/* Two names for one work folder reach one worker, which follows the newer
 * invitation.  The older name is not used any more. */
static void retire_other_name(struct sweep *sweep, size_t host)
{
    for (size_t i = 0; i < sweep->fleet.n; i++) {
        const struct host_state *host_state = &sweep->fleet.hosts[i];
        char why[320];

        if (i == host || host_state->state == HOST_STATE_FAILED ||
            !host_state_same_worker(host_state, &sweep->fleet.hosts[host]))
            continue;
        snprintf(why, sizeof(why),
                 "it is the worker of %s under another name; give one of "
                 "them another workdir=",
                 sweep->fleet.hosts[host].host->name);
        cancel_of_other_name(sweep, i, host);
        fail(sweep, i, ERR_INPUT, why); /* the worker stays */
        dismiss(sweep, i);
    }
}

/* Once, also if a hostile worker says it again and again. */
static void say_lost(struct sweep *sweep, size_t host, int64_t lost)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];
    const char *name = host_state->host->name;

    if (lost <= 0 || host_state->conduct.has_damage)
        return;
    host_state->conduct.has_damage = true;
    log_line(LOG_W, "RESULTS-DAMAGED", "host=%s records=%lld", name,
             (long long)lost);
    progress_say(sweep->reactor.progress,
                 "%s: its disk damaged %lld result%s in the worker's journal; "
                 "what was not stored yet is done again",
                 name, (long long)lost, lost == 1 ? "" : "s");
}

int host_events_hello(struct sweep *sweep, size_t host, const struct msg *msg,
                      struct err *err)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    if (msg->hello.protocol != MSG_PROTOCOL)
        return err_set(err, ERR_PROTO,
                       "worker %s speaks protocol %lld, fa-coord %s speaks %d",
                       msg->hello.version, (long long)msg->hello.protocol,
                       FA_VERSION, MSG_PROTOCOL);
    bool same_worker =
        strcmp(host_state->worker.boot_id, msg->hello.boot_id) == 0 &&
        host_state->worker.pid == msg->hello.pid;
    host_state->same_worker = host_state->same_worker && same_worker;
    host_state->worker.is_elsewhere =
        host_state->worker.is_elsewhere ||
        (host_state->worker.machine[0] &&
         strcmp(host_state->worker.machine, msg->hello.host) != 0);
    hold_dialled(sweep, host, same_worker);
    say_lost(sweep, host, msg->hello.lost);
    if (!host_state->conn.deaf_ns)
        host_state->conn.deaf_ns = reactor_now(sweep);
    host_state->state = HOST_STATE_GREETED;
    host_state->n_gpus = 0;
    host_state->worker.pid = msg->hello.pid;
    host_state->worker.cpus = msg->hello.cpus;
    snprintf(host_state->worker.boot_id, sizeof(host_state->worker.boot_id),
             "%s", msg->hello.boot_id);
    snprintf(host_state->worker.machine, sizeof(host_state->worker.machine),
             "%s", msg->hello.host);
    snprintf(host_state->worker.version, sizeof(host_state->worker.version),
             "%s", msg->hello.version);
    host_state_forget_running(host_state);
    host_state->worker.running =
        mem_new(msg->hello.running.n, sizeof(*host_state->worker.running));
    for (size_t i = 0; i < msg->hello.running.n; i++)
        host_state->worker.running[host_state->worker.n_running++] =
            mem_strdup(msg->hello.running.items[i]);
    if (sweep->work.sched)
        sched_host_pause(sweep->work.sched, (int)host, true);
    set_phase(sweep, host, LEDGER_SETUP);
    welcome(sweep, host);
    retire_other_name(sweep, host);
    return 0;
}

int host_events_gpu(struct sweep *sweep, size_t host, const struct msg *msg,
                    struct err *err)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];
    struct host_state_gpu *gpu = &host_state->gpus[host_state->n_gpus];
    const struct host_state *other =
        host_model_other_name(sweep, host, msg->gpu.uuid);
    int rc;

    if (host_state->state != HOST_STATE_GREETED ||
        host_state->n_gpus == HOST_STATE_GPUS_MAX)
        return err_set(err, ERR_PROTO, "GPU out of turn");
    if (other) {
        host_words_say(
            sweep, host,
            "its GPU %s is the one of %s under another name; used once",
            msg->gpu.uuid, other->host->name);
        return 0;
    }
    rc = gpu_arch_facts_read(&msg->gpu.facts, &gpu->facts, err);
    if (rc < 0)
        return rc;
    snprintf(gpu->uuid, sizeof(gpu->uuid), "%s", msg->gpu.uuid);
    snprintf(gpu->name, sizeof(gpu->name), "%s", msg->gpu.name);
    snprintf(gpu->driver, sizeof(gpu->driver), "%s", msg->gpu.driver);
    if (sweep->work.spec->replay)
        snprintf(gpu->name, sizeof(gpu->name), "%.200s (recorded)",
                 replay_device_shown(sweep->work.spec->replay));
    host_state->n_gpus++;
    return records_put_gpu(sweep, host, gpu->name, msg);
}

/* In sched, this number means the GPU that had it before. */
static void note_gpus(struct sweep *sweep, size_t host)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    for (int i = 0; i < host_state->n_gpus; i++) {
        if (i < host_state->n_known &&
            strcmp(host_state->known[i], host_state->gpus[i].uuid) != 0)
            sched_orders_drop(sweep->work.sched, (int)host, i,
                              "its GPU is gone");
        memcpy(host_state->known[i], host_state->gpus[i].uuid,
               sizeof(host_state->known[i]));
    }
    host_state->n_known = host_state->n_gpus;
}

void host_events_up(struct sweep *sweep, size_t host)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];
    struct err err;

    if (host_model_take(sweep, host, &err) < 0) {
        host_events_give_up(sweep, host, ERR_INPUT, err.text);
        return;
    }
    claimed_work_drop_others(sweep, host);
    sched_host_up(sweep->work.sched, (int)host,
                  host_state->host->role == HOST_GPU ? 0
                                                     : host_state->worker.slots,
                  host_state->n_gpus, leases_credit(sweep, host));
    note_gpus(sweep, host);
    pass_host_up(sweep, host);
    claimed_work_adopt(sweep, host);
    resume_take_cache(sweep, host);
    host_state->same_worker = true;
    host_state->worker.is_elsewhere = false;
}

static void warn_once(struct sweep *sweep, size_t host, const char *warning)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    if (!warning || !warning[0] || host_state->warned)
        return;
    host_state->warned = true;
    host_words_say(sweep, host, "warning: %s", warning);
}

/* With the facts of a GPU.  Builders may have been ready before it. */
static int plan(struct sweep *sweep, struct err *err)
{
    int rc = prepare_plan(sweep, err);

    for (size_t i = 0; rc == 0 && i < sweep->fleet.n; i++)
        if (sweep->fleet.hosts[i].state == HOST_STATE_READY)
            host_events_up(sweep, i);
    return rc;
}

int host_events_ready(struct sweep *sweep, size_t host, const struct msg *msg,
                      struct err *err)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    if (host_state->state == HOST_STATE_AWAY)
        return err_set(err, ERR_PROTO, "READY before HELLO");
    host_state->state = HOST_STATE_READY;
    host_state->was_ready = true;
    host_state->is_lost = false;
    host_state->worker.slots = (int)msg->ready.slots;
    host_state->worker.credit = (int)msg->ready.measure_credit;
    snprintf(host_state->worker.toolkit, sizeof(host_state->worker.toolkit),
             "%s", msg->ready.toolkit);
    records_put_host(sweep, host);
    records_put_ready(sweep, host);
    set_phase(sweep, host, LEDGER_IDLE);
    host_words_ready(sweep, host, msg->ready.waits);
    warn_once(sweep, host, msg->ready.warning);
    if (!believed_check(sweep, host, err))
        return 0;
    if (sweep->work.plan) {
        host_events_up(sweep, host);
        return 0;
    }
    if (host_state->n_gpus == 0)
        return 0;
    sweep->work.facts = host_state->gpus[0].facts;
    if (sweep->work.spec->replay && replay_facts(sweep->work.spec->replay))
        sweep->work.facts = *replay_facts(sweep->work.spec->replay);
    snprintf(sweep->work.gpu_name, sizeof(sweep->work.gpu_name), "%s",
             host_state->gpus[0].name);
    return plan(sweep, err);
}

void host_events_trouble(struct sweep *sweep, size_t host,
                         const struct msg *msg)
{
    records_put_event(sweep, "E", "HOST-TROUBLE", msg->trouble.text);
    host_events_give_up(sweep, host, ERR_SYSTEM, msg->trouble.text);
}
