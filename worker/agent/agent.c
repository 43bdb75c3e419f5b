#include "worker/agent/agent.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <zmq.h>

#include "common/log.h"
#include "common/mem.h"
#include "worker/agent/agent_internal.h"
#include "worker/agent/claim.h"
#include "worker/gpu/gpu_spares.h"
#include "worker/process/child.h"
#include "worker/store/workdir.h"

#define SILENCE_NS (15 * NS_PER_S) /* after this silence it connects again */
#define ADDRESS_NS (3 * NS_PER_S)  /* then it tries the next address */
#define LAST_WORDS_MS 1000         /* time to send BYE */
#define FOLDER_NS (1 * NS_PER_S)
#define TRIM_NS (60 * NS_PER_S)
#define REFUSAL_NS (10 * NS_PER_S) /* between two in the log */
#define TURN_NS (1 * NS_PER_S)     /* longer: it was suspended */
#define POLL_MS_MAX 1000

/* the DEALER, the signals, the control socket, then all children: two programs
 * are compiled; a GPU has its runner, the one before and a tool */
#define FDS_MAX            \
    (2 + CONTROL_FDS_MAX + \
     CHILD_FDS_MAX * (2 + SLOTS_MAX + 3 * GPUS_MAX + 2 * GPU_SPARES_MAX))

static int open_signals(struct agent *agent, struct err *err)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);  /* the SSH session may end; the worker stays */
    signal(SIGXFSZ, SIG_IGN); /* the failed write is handled */
    if (sigprocmask(SIG_BLOCK, &set, NULL) == 0)
        agent->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (agent->signals < 0)
        return err_set(err, ERR_SYSTEM, "signals: %s", strerror(errno));
    return 0;
}

static int open_journal(struct agent *agent, struct err *err)
{
    char *path = mem_printf("%s/journal", agent->instance->dir);
    struct journal_damage damage;
    int rc = journal_open(path, &agent->journal, &damage, err);

    agent->lost = damage.records > 0 ? (int64_t)damage.records : -1;
    if (damage.records > 0)
        log_line(LOG_E, "JOURNAL-DAMAGED", "records=%zu bytes=%zu",
                 damage.records, damage.bytes);
    else if (damage.bytes > 0)
        log_line(LOG_W, "JOURNAL-TORN", "bytes=%zu", damage.bytes);
    free(path);
    return rc;
}

int agent_open(const struct instance *instance, FILE *log, struct agent **out,
               struct err *err)
{
    struct agent *agent = mem_new(1, sizeof(*agent));
    int rc;

    agent->instance = instance;
    agent->log = log;
    agent->signals = -1;
    agent->liveness = liveness_uninvited(clock_boot_ns());
    rc = instance_lock(instance, &agent->lock, err);
    if (rc == INSTANCE_ALONE)
        rc = ERR_DEVICE;
    if (rc == 0)
        rc = agent_share_open(agent, instance->gpus, err);
    if (rc == 0)
        rc = open_signals(agent, err);
    if (rc == 0) {
        child_setup();
        rc = open_journal(agent, err);
    }
    if (rc == 0)
        rc = cache_open(instance->home, instance->dir, CACHE_BYTES,
                        &agent->cache, err);
    if (rc == 0)
        rc = control_open(instance->socket, &agent->control, err);
    if (rc != 0) {
        agent_close(agent);
        return rc;
    }
    agent->transfers = transfers_new(agent->cache, TRANSFERS_PARTS_BYTES);
    agent->zctx = zmq_ctx_new();
    log_line(LOG_I, "STARTED", "version=%s dir=%s gpus=%s containment=%s",
             FA_VERSION, instance->dir, instance->gpus, child_containment());
    *out = agent;
    return 0;
}

void agent_close(struct agent *agent)
{
    if (!agent)
        return;
    queue_free(agent->queue);
    resources_close(agent->bench);
    link_close(agent->link, LAST_WORDS_MS);
    if (agent->zctx)
        zmq_ctx_term(agent->zctx);
    /* the relay sends what it has, and ends when this socket closes */
    control_close(agent->control);
    transfers_free(agent->transfers);
    cache_close(agent->cache);
    journal_close(agent->journal);
    if (agent->signals >= 0)
        close(agent->signals);
    agent_share_close(agent);
    instance_unlock(&agent->lock);
    free(agent);
}

static void forget_connection(struct agent *agent, int64_t now_ns)
{
    agent_greet_again(agent, now_ns);
    agent->connection.made_ns = now_ns;
    transfers_forget_wants(agent->transfers);
}

/* Over TCP only silence shows that the other side is gone. */
static bool is_attached(const struct agent *agent)
{
    return control_is_attached(agent->control) ||
           (agent->link &&
            strncmp(link_invite(agent->link)->endpoint, "tcp://", 6) == 0);
}

/* The indices of the GPUs that it holds. */
static const char *held_gpus(const struct agent *agent,
                             char out[CLAIM_GPUS_BYTES])
{
    size_t len = 0;

    out[0] = '\0';
    if (!agent->bench || resources_state(agent->bench) != RESOURCES_READY)
        return out;
    for (size_t i = 0; i < resources_n_gpus(agent->bench); i++) {
        const char *index = gpu_index(resources_gpu(agent->bench, i));

        if (*index && len < CLAIM_GPUS_BYTES - 1)
            len += (size_t)snprintf(out + len, CLAIM_GPUS_BYTES - len, "%s%s",
                                    len ? "," : "", index);
    }
    return out;
}

static struct claim_owner owner_of(const struct agent *agent, const char *gpus,
                                   int64_t now_ns)
{
    bool runs = agent->end.how == AGENT_RUNS;

    return (struct claim_owner){
        .invite = agent->link ? link_invite(agent->link) : NULL,
        .gpus = gpus,
        .attached = runs && is_attached(agent),
        .dismissed = agent->end.asked_by != 0,
        .kept = agent->end.kept_until_ns != 0,
        .invited_ns = now_ns - agent->connection.invited_ns,
        .silent_ns = now_ns - agent->liveness.heard_ns,
        .ends_ns = (agent->end.kept_until_ns ? agent->end.kept_until_ns
                    : runs ? liveness_ends_ns(&agent->liveness)
                           : agent->end.by_ns) -
                   now_ns,
    };
}

static int take_invitation(struct agent *agent, const struct invite *invite,
                           int64_t now_ns, struct err *err)
{
    int64_t epoch = agent->link ? link_epoch(agent->link) : 0;
    char owner[OWNER_PATH_BYTES];
    struct link *link;
    int rc;

    rc = link_open(agent->zctx, invite, &link, err);
    if (rc < 0)
        return rc;
    if (!agent_resume(agent, invite->epoch)) {
        link_close(link, 0);
        return err_set(err, ERR_NETWORK, "the worker is ending");
    }
    if (invite->epoch != epoch && agent->queue)
        queue_drop_idle(agent->queue);
    if (!agent->link)
        agent->connection.tcp = strncmp(invite->endpoint, "tcp://", 6) == 0;
    link_close(agent->link, 0);
    agent->link = link;
    if (invite->epoch != epoch)
        agent->connection.invited_ns = now_ns;
    agent->liveness = (struct liveness){ now_ns, LIVENESS_BEAT_NS,
                                         invite->linger_ms * NS_PER_MS };
    forget_connection(agent, now_ns);
    agent_gather_results(agent);
    owner_text(&invite->owner, owner, sizeof(owner));
    agent_share_name(agent, 0);
    log_line(LOG_I, "INVITED", "epoch=%lld endpoint=%s by=%s",
             (long long)invite->epoch, invite->endpoint, owner);
    return 0;
}

int agent_invite(struct agent *agent, const struct invite *invite,
                 struct err *err)
{
    int64_t now_ns = clock_boot_ns();
    char gpus[CLAIM_GPUS_BYTES];
    struct claim_owner now = owner_of(agent, held_gpus(agent, gpus), now_ns);
    int rc = claim_check(&now, invite, err);

    return rc == 0 ? take_invitation(agent, invite, now_ns, err) : rc;
}

/* A relay that was told to come later asks several times a second. */
static void log_refusal(struct agent *agent, const char *why, int64_t now_ns)
{
    if (now_ns < agent->due.refusal_ns)
        return;
    log_line(LOG_W, "INVITATION-REFUSED", "%s", why);
    agent->due.refusal_ns = now_ns + REFUSAL_NS;
}

static void look_at_control(struct agent *agent, int64_t now_ns)
{
    struct invite invite;
    struct err err;
    int rc;

    if (agent->end.how == AGENT_STOPS) /* for the next worker */
        return;
    if (control_step(agent->control, now_ns, &invite) != 1)
        return;
    rc = claim_endpoint(agent->instance->home, agent->connection.tcp,
                        invite.endpoint, &err);
    if (rc == 0)
        rc = agent_invite(agent, &invite, &err);
    invite_wipe(&invite);
    if (rc == 0) {
        control_accept(agent->control);
        return;
    }
    log_refusal(agent, err.text, now_ns);
    control_refuse(agent->control,
                   rc == CLAIM_BUSY    ? CONTROL_BUSY
                   : rc == ERR_NETWORK ? CONTROL_LATER
                                       : CONTROL_NO,
                   err.text);
}

/* The coordinator of the invitation that this worker dialled back with has a
 * newer run, or the next step of its command.  It has proved that by its key
 * (claim.h), so the worker keeps its own keys and addresses.  Or it is of this
 * run, and asks for HELLO; it may be on its way already. */
static void follow(struct agent *agent, struct invite *invite, int64_t now_ns)
{
    struct claim_owner owner = owner_of(agent, "", now_ns);
    const struct invite *own = link_invite(agent->link);
    struct err err;
    int rc = claim_follow(&owner, invite, &err);

    if (rc == 0) {
        memcpy(invite->public_key, own->public_key, CURVE_KEY_BYTES);
        memcpy(invite->secret_key, own->secret_key, CURVE_KEY_BYTES);
        memcpy(invite->endpoint, own->endpoint, sizeof(invite->endpoint));
        rc = take_invitation(agent, invite, now_ns, &err);
    }
    if (rc == CLAIM_AGAIN) {
        agent->liveness.heard_ns = now_ns;
        agent_resync(agent, now_ns);
    }
    if (rc < 0)
        log_refusal(agent, err.text, now_ns);
}

static void look_at_signals(struct agent *agent)
{
    struct signalfd_siginfo info;

    while (read(agent->signals, &info, sizeof(info)) == sizeof(info)) {
        agent->end.by_signal = true;
        agent_stop(agent, AGENT_STOPS, "signal");
    }
}

/* Nothing can be built or stored any more.  The coordinator starts another
 * worker, which makes the folder again. */
static void look_at_folder(struct agent *agent, int64_t now_ns)
{
    if (now_ns < agent->due.folder_ns || agent->end.how == AGENT_STOPS)
        return;
    agent->due.folder_ns = now_ns + FOLDER_NS;
    if (!instance_is_gone(agent->instance, &agent->lock))
        return;
    snprintf(agent->folder_gone, sizeof(agent->folder_gone),
             "its work folder %s is gone", agent->instance->home);
    agent_stop(agent, AGENT_STOPS, agent->folder_gone);
}

/* On silence, connect again; in the end, assume that the coordinator is
 * gone. */
static void look_at_clock(struct agent *agent, int64_t now_ns)
{
    int64_t silence_ns =
        agent->link && link_tries_others(agent->link) ? ADDRESS_NS : SILENCE_NS;
    struct err err;

    if (now_ns >= liveness_ends_ns(&agent->liveness) &&
        agent->end.how == AGENT_RUNS) {
        agent_stop(agent, AGENT_DRAINS, "the coordinator is silent");
        agent->end.is_abandoned = true;
        agent_drop_long_work(agent, now_ns);
    }
    if (agent->end.kept_until_ns && now_ns >= agent->end.kept_until_ns)
        agent_stop(agent, AGENT_STOPS, "no next step came");
    if (agent->link && now_ns - agent->liveness.heard_ns >= silence_ns &&
        now_ns - agent->connection.made_ns >= silence_ns) {
        if (link_renew(agent->link, &err) < 0)
            log_line(LOG_W, "CONNECT-FAILED", "%s", err.text);
        forget_connection(agent, now_ns);
    }
    if (agent->log && now_ns >= agent->due.trim_ns) {
        workdir_trim_log(agent->instance->dir, agent->log);
        agent->due.trim_ns = now_ns + TRIM_NS;
    }
}

/* Of its GPUs, as claim.h has it for the worker. */
static void say_whose(struct agent *agent, int64_t now_ns)
{
    struct claim_owner owner = owner_of(agent, "", now_ns);
    bool gone = owner.invite && !owner.attached && !owner.kept;

    if (gone != agent->share.gone)
        agent_share_name(agent, gone ? now_ns + owner.ends_ns : 0);
}

static void speak(struct agent *agent, int64_t now_ns)
{
    size_t n;

    if (!agent->link)
        return;
    if (!agent->connection.welcomed) {
        if (now_ns >= agent->due.hello_ns)
            agent_say_hello(agent, now_ns);
        return;
    }
    agent_announce(agent);
    if (agent->connection.announced == RESOURCES_TROUBLE)
        /* the next one may find the host repaired, with another PATH */
        agent_stop(agent, AGENT_STOPS, "it cannot do any work");
    if (now_ns >= agent->due.beat_ns) {
        struct msg beat = { .type = MSG_BEAT };

        journal_entries(agent->journal, &n);
        beat.beat.journal = (int64_t)n;
        agent_send(agent, &beat);
        agent->due.beat_ns = now_ns + agent->liveness.beat_every_ns;
    }
    if (now_ns >= agent->due.resend_ns)
        agent_offer_results(agent, now_ns, false);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static long timeout_ms(const struct agent *agent, int64_t now_ns)
{
    int64_t until_ns = now_ns + POLL_MS_MAX * NS_PER_MS;

    if (agent->bench)
        until_ns = earlier(until_ns, resources_deadline_ns(agent->bench));
    if (agent->link && !agent->connection.welcomed)
        until_ns = earlier(until_ns, agent->due.hello_ns);
    if (agent->link && agent->connection.welcomed)
        until_ns = earlier(until_ns, agent->due.beat_ns);
    until_ns = earlier(until_ns, liveness_ends_ns(&agent->liveness));
    /* at least 1 ms: no timer here is worth a busy loop */
    return until_ns <= now_ns ? 1 : (long)((until_ns - now_ns) / NS_PER_MS) + 1;
}

static void wait_for_something(struct agent *agent, int64_t now_ns)
{
    static zmq_pollitem_t items[FDS_MAX];
    static struct pollfd fds[FDS_MAX];
    size_t n = 0, n_items = 0;

    if (agent->link)
        items[n_items++] = (zmq_pollitem_t){ .socket = link_socket(agent->link),
                                             .events = ZMQ_POLLIN };
    fds[n++] = (struct pollfd){ .fd = agent->signals, .events = POLLIN };
    if (agent->end.how != AGENT_STOPS)
        n += control_fds(agent->control, fds + n);
    if (agent->bench)
        n += resources_poll(agent->bench, fds + n, FDS_MAX - 1 - n);
    for (size_t i = 0; i < n; i++) {
        short events = (fds[i].events & POLLIN ? ZMQ_POLLIN : 0) |
                       (fds[i].events & POLLOUT ? ZMQ_POLLOUT : 0);

        items[n_items++] =
            (zmq_pollitem_t){ .fd = fds[i].fd, .events = events | ZMQ_POLLERR };
    }
    (void)zmq_poll(items, (int)n_items, timeout_ms(agent, now_ns));
}

/* One turn of the loop.  If the process was suspended, that time does not count
 * as silence: it could not have heard anything. */
static void turn(struct agent *agent, int64_t *now_ns)
{
    int64_t before_ns = *now_ns, after_ns, lost_ns;
    struct invite invite;

    wait_for_something(agent, before_ns);
    *now_ns = after_ns = clock_boot_ns();
    lost_ns = after_ns - before_ns - POLL_MS_MAX * NS_PER_MS;
    if (lost_ns > TURN_NS)
        agent->liveness.heard_ns += lost_ns;
    look_at_signals(agent);
    look_at_folder(agent, after_ns);
    look_at_control(agent, after_ns);
    if (agent->link && agent_receive(agent, after_ns, &invite)) {
        follow(agent, &invite, after_ns);
        invite_wipe(&invite);
    }
    look_at_clock(agent, after_ns);
    if (agent->bench)
        resources_step(agent->bench, after_ns);
    agent_share_step(agent, after_ns);
    say_whose(agent, after_ns);
    agent_work(agent, after_ns);
    speak(agent, after_ns);
}

const char *agent_poweroff(const struct agent *agent)
{
    return agent->end.is_abandoned && !agent->end.by_signal
               ? agent->end.poweroff
               : "";
}

int agent_run(struct agent *agent)
{
    int64_t now_ns = clock_boot_ns();
    struct msg bye = { .type = MSG_BYE };
    size_t n;

    while (!agent_is_over(agent, now_ns))
        turn(agent, &now_ns);
    control_deafen(agent->control); /* what follows may take seconds */
    journal_entries(agent->journal, &n);
    bye.bye.journal = (int64_t)n;
    bye.bye.text = agent->end.why;
    agent_send(agent, &bye);
    log_line(LOG_I, "ENDED", "why=%s journal=%zu", agent->end.why, n);
    return agent->end.by_signal ? 1 : 0;
}
