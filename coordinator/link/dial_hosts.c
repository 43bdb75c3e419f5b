#include "coordinator/link/dial_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "common/clock.h"
#include "common/int64.h"
#include "common/invite.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/owner.h"
#include "coordinator/dial/dial_presence.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/dial/dial_keys.h"
#include "coordinator/link/host_threads.h"
#include "coordinator/link/listen.h"
#include "coordinator/link/router.h"
#include "coordinator/remote/deploy.h"
#include "coordinator/slurm/slurm_files.h"
#include "coordinator/slurm/slurm_thread.h"
#include "coordinator/slurm/slurm_use.h"

#define STEP_NS NS_PER_S
#define FIRST_EPOCH 1 /* of an invitation: before every run */
#define FIRST_LINGER_MS (90 * 1000)

struct dialled {
    bool dials; /* otherwise nothing of it is used */
    struct dial_presence presence;
    struct dial_pair pair;
    int64_t worked_ns; /* its last work, or when it came; CLOCK_BOOTTIME */
    struct slurm_thread *slurm;    /* its line's, or NULL */
    int runs_s;                    /* when it has STARTED */
    int ended_s;                   /* so long ago its job ENDED */
    char why[SLURM_TEXT_BYTES];    /* it is BROKEN or LOST */
    char awaits[SLURM_TEXT_BYTES]; /* what it WAITS for; "": its invitation */
};

struct dial_hosts {
    const struct hosts *hosts;
    struct router *router;
    struct dialled *each; /* [hosts->n] */
    struct invite invite; /* of this run, without a host's keys */
    char *folder;         /* of the invitations */
    struct slurm_thread **lines;
    size_t n_lines;
    int64_t step_ns; /* the next look at the work of the lines */
};

bool dial_hosts_any(const struct hosts *hosts)
{
    for (size_t i = 0; i < hosts->n; i++)
        if (hosts->list[i].dial.back)
            return true;
    return false;
}

bool dial_hosts_slurm(const struct hosts *hosts)
{
    for (size_t i = 0; i < hosts->n; i++)
        if (hosts->list[i].dial.slurm.task > 0)
            return true;
    return false;
}

int dial_hosts_invitation(struct dial_keys *keys, const struct listen *listen,
                          const char *host, struct invite *out, struct err *err)
{
    const struct dial_pair *pair = dial_keys_host(keys, host, err);

    if (!pair)
        return ERR_SYSTEM;
    *out =
        (struct invite){ .epoch = FIRST_EPOCH, .linger_ms = FIRST_LINGER_MS };
    memcpy(out->server_key, dial_keys_server(keys)->public_key,
           CURVE_KEY_BYTES);
    memcpy(out->public_key, pair->public_key, CURVE_KEY_BYTES);
    memcpy(out->secret_key, pair->secret_key, CURVE_KEY_BYTES);
    listen_addresses(listen, dial_keys_port(keys), out->endpoint,
                     sizeof(out->endpoint));
    owner_draw(out->owner.id);
    owner_draw(out->owner.command);
    owner_set(out->owner.user, sizeof(out->owner.user), "invitation");
    owner_set(out->owner.machine, sizeof(out->owner.machine), host);
    owner_set(out->owner.database, sizeof(out->owner.database), "-");
    return 0;
}

/* Listen at the port that earlier invitations name. */
static int listen_on(struct dial_hosts *dial, struct dial_keys *keys,
                     const struct listen *listen, struct err *err)
{
    struct listen at = *listen;
    char endpoint[LISTEN_ADDRESS_BYTES + 32];
    int rc, port;

    if (at.port == 0)
        at.port = dial_keys_port(keys);
    listen_endpoint(&at, endpoint, sizeof(endpoint));
    rc = router_listen(dial->router, endpoint, &port, err);
    if (rc < 0)
        return err_within(err, rc, "workers that dial back");
    dial_keys_set_port(keys, port);
    return 0;
}

/* Where its invitation is, for the caller to free. */
static char *folder_of(const struct dial_hosts *dial, size_t host)
{
    const struct host *one = &dial->hosts->list[host];

    return one->dial.slurm.task > 0
               ? slurm_files_folder(one, dial->invite.server_key)
               : mem_strdup(dial->folder);
}

static int invite_one(struct dial_hosts *dial, struct dial_keys *keys,
                      const struct listen *listen, size_t host, struct err *err)
{
    const char *name = dial->hosts->list[host].name;
    char text[INVITE_BYTES_MAX];
    char *folder = folder_of(dial, host);
    struct invite invite;
    int rc = dial_hosts_invitation(keys, listen, name, &invite, err);

    if (rc < 0) {
        free(folder);
        return rc;
    }
    memcpy(dial->each[host].pair.public_key, invite.public_key,
           CURVE_KEY_BYTES);
    memcpy(dial->each[host].pair.secret_key, invite.secret_key,
           CURVE_KEY_BYTES);
    memcpy(dial->invite.endpoint, invite.endpoint, sizeof(invite.endpoint));
    router_admit_key(dial->router, host, invite.public_key);
    invite_write(&invite, text);
    rc = dial_keys_write(folder, name, text, err);
    sodium_memzero(text, sizeof(text));
    invite_wipe(&invite);
    free(folder);
    return rc;
}

/* The keys are on disk, so that the jobs can be found again by their name. */
static int ask_slurm(struct dial_hosts *dial, size_t host, void *zctx,
                     struct err *err)
{
    const struct host *line = &dial->hosts->list[host];
    int rc;

    dial->lines =
        mem_grow(dial->lines, dial->n_lines + 1, sizeof(struct slurm_thread *));
    rc = slurm_thread_start(zctx, host, line, dial->invite.server_key,
                            &dial->lines[dial->n_lines], err);
    for (int i = 0; rc == 0 && i < line->dial.slurm.most; i++)
        dial->each[host + (size_t)i].slurm = dial->lines[dial->n_lines];
    dial->n_lines += rc == 0;
    return rc;
}

int dial_hosts_open(const struct hosts *hosts, struct router *router,
                    struct dial_keys *keys,
                    const struct dial_hosts_options *options,
                    struct dial_hosts **out, struct err *err)
{
    struct dial_hosts *dial = mem_new(1, sizeof(*dial));
    char name[SLURM_NAME_BYTES];
    int rc;

    *out = dial;
    dial->hosts = hosts;
    dial->router = router;
    dial->each = mem_new(hosts->n, sizeof(*dial->each));
    dial->folder = dial_keys_folder(options->db);
    dial->invite = (struct invite){ .epoch = options->epoch,
                                    .linger_ms = options->linger_s * 1000,
                                    .owner = *options->owner };
    memcpy(dial->invite.server_key, dial_keys_server(keys)->public_key,
           CURVE_KEY_BYTES);
    rc = listen_on(dial, keys, options->listen, err);
    for (size_t i = 0; rc == 0 && i < hosts->n; i++) {
        struct dialled *one = &dial->each[i];

        one->dials = hosts->list[i].dial.back;
        if (one->dials)
            dial_presence_tell(&one->presence, DIAL_PRESENCE_WAITS);
        if (hosts->list[i].dial.slurm.task == 1) {
            slurm_files_name(&hosts->list[i], dial->invite.server_key, name);
            dial_keys_add_job(keys, name);
        }
        if (hosts->list[i].dial.slurm.task > 0)
            snprintf(one->awaits, sizeof(one->awaits),
                     "Slurm is asked for its node");
        if (one->dials && !dial_keys_host(keys, hosts->list[i].name, err))
            rc = ERR_SYSTEM;
    }
    if (rc == 0)
        rc = dial_keys_save(keys, err); /* before they are given away */
    for (size_t i = 0; rc == 0 && i < hosts->n; i++)
        if (hosts->list[i].dial.slurm.task == 1)
            rc = slurm_files_put(&hosts->list[i], dial->invite.server_key,
                                 options->program->bytes, options->program->len,
                                 err);
    for (size_t i = 0; rc == 0 && i < hosts->n; i++)
        if (dial->each[i].dials)
            rc = invite_one(dial, keys, options->listen, i, err);
    for (size_t i = 0; rc == 0 && i < hosts->n; i++)
        if (hosts->list[i].dial.slurm.task == 1)
            rc = ask_slurm(dial, i, options->zctx, err);
    return rc;
}

void dial_hosts_close(struct dial_hosts *dial)
{
    if (!dial)
        return;
    for (size_t i = 0; i < dial->n_lines; i++)
        slurm_thread_stop(dial->lines[i]);
    free(dial->lines);
    sodium_memzero(dial->each, dial->hosts->n * sizeof(*dial->each));
    free(dial->each);
    free(dial->folder);
    free(dial);
}

bool dial_hosts_has(const struct dial_hosts *dial, size_t host)
{
    return dial && dial->each[host].dials;
}

/* It has that of another run, or says HELLO again. */
static void invite_again(struct dial_hosts *dial, size_t host)
{
    struct invite invite = dial->invite;
    char text[INVITE_BYTES_MAX];
    struct msg msg = { .type = MSG_INVITE,
                       .epoch = invite.epoch,
                       .invite = { .text = text } };
    struct err err;

    memcpy(invite.public_key, dial->each[host].pair.public_key,
           CURVE_KEY_BYTES);
    memcpy(invite.secret_key, dial->each[host].pair.secret_key,
           CURVE_KEY_BYTES);
    invite_write(&invite, text);
    if (router_send(dial->router, host, &msg, &err) < 0)
        log_line(LOG_W, "INVITE-FAILED", "host=%s why=%s",
                 dial->hosts->list[host].name, err.text);
    sodium_memzero(text, sizeof(text));
    invite_wipe(&invite);
}

static void say_why(struct dialled *one, const char *why)
{
    snprintf(one->why, sizeof(one->why), "%s", why);
}

static void rivals_text(const struct dialled *one, const char *name, char *out,
                        size_t size)
{
    const struct dial_presence_worker *first = &one->presence.worker,
                                      *second = &one->presence.rival.worker;

    snprintf(out, size,
             "two workers have the invitation of %s: fa-worker %lld on %s, and "
             "fa-worker %lld on %s, which is sent away; each worker needs an "
             "invitation of its own",
             name, (long long)first->pid, first->machine,
             (long long)second->pid, second->machine);
}

/* The last message was of one that has the invitation of a worker that is
 * there. */
static void hold_off(struct dial_hosts *dial, size_t host,
                     const struct dial_presence_answer *answer)
{
    struct dialled *one = &dial->each[host];
    char why[MSG_DETAIL_MAX];
    const struct msg stop = { .type = MSG_STOP,
                              .epoch = dial->invite.epoch,
                              .stop = { .what = "now", .text = why } };
    const struct msg beat = { .type = MSG_BEAT, .epoch = dial->invite.epoch };
    struct err err;

    rivals_text(one, dial->hosts->list[host].name, why, sizeof(why));
    if (answer->refuses) {
        log_line(LOG_W, "WORKER-TWICE", "host=%s %s",
                 dial->hosts->list[host].name, why);
        (void)router_send(dial->router, host, &stop, &err); /* or again later */
    }
    router_turn_back(dial->router, host);
    /* of one that was killed, the connection is gone */
    if (!answer->refuses && !answer->takes &&
        router_send(dial->router, host, &beat, &err) < 0 &&
        dial_presence_leave(&one->presence))
        say_why(one, "its connection is gone");
}

bool dial_hosts_hear(struct dial_hosts *dial, size_t host,
                     const struct msg *msg, uint64_t connection)
{
    struct dialled *one = &dial->each[host];
    const struct dial_presence_message heard = {
        .type = msg->type,
        .is_of_run = msg->epoch == dial->invite.epoch,
        .hello = msg->type == MSG_HELLO ? &msg->hello : NULL,
        .connection = connection,
        .at_ns = clock_boot_ns(),
    };
    struct dial_presence_answer answer =
        dial_presence_hear(&one->presence, &heard);

    if (answer.of_rival)
        hold_off(dial, host, &answer);
    if (answer.invites)
        invite_again(dial, host);
    if (answer.has_left)
        say_why(one, answer.of_rival ? "its worker is silent"
                                     : "its worker has ended");
    if (answer.has_come || (answer.takes && msg_is_result(msg->type)))
        one->worked_ns = heard.at_ns;
    if (answer.has_come && one->slurm)
        slurm_thread_came(one->slurm, host);
    return answer.takes;
}

void dial_hosts_sent(struct dial_hosts *dial, size_t host,
                     const struct msg *msg)
{
    if (msg->type == MSG_BUILD || msg->type == MSG_MEASURE ||
        msg->type == MSG_TOOL)
        dial->each[host].worked_ns = clock_boot_ns();
}

/* Its worker ends when it has nothing to do, and its job with it. */
static void give_back(struct dial_hosts *dial, size_t host)
{
    const struct msg stop = { .type = MSG_STOP,
                              .epoch = dial->invite.epoch,
                              .stop.what = "drain" };
    struct err err;

    log_line(LOG_I, "SLURM-RETURNED", "host=%s why=no work",
             dial->hosts->list[host].name);
    (void)router_send(dial->router, host, &stop, &err); /* or again later */
    dial->each[host].worked_ns = clock_boot_ns();
}

static void look_at_line(struct dial_hosts *dial, size_t first, int64_t now_ns)
{
    const struct host_slurm *slurm = &dial->hosts->list[first].dial.slurm;
    struct slurm_use *nodes = mem_new((size_t)slurm->most, sizeof(*nodes));
    size_t n = (size_t)slurm->most;
    long surplus;

    for (size_t i = 0; i < n; i++) {
        const struct dialled *one = &dial->each[first + i];

        nodes[i] =
            (struct slurm_use){ one->presence.where == DIAL_PRESENCE_HERE,
                                now_ns - one->worked_ns };
    }
    slurm_thread_grows(dial->each[first].slurm, slurm_use_grows(nodes, n));
    surplus = slurm_use_surplus(nodes, n, slurm->least);
    if (surplus >= 0)
        give_back(dial, first + (size_t)surplus);
    free(nodes);
}

void dial_hosts_step(struct dial_hosts *dial)
{
    int64_t now_ns = clock_boot_ns();

    if (!dial || dial->n_lines == 0 || now_ns < dial->step_ns)
        return;
    dial->step_ns = now_ns + STEP_NS;
    for (size_t i = 0; i < dial->hosts->n; i++)
        if (dial->hosts->list[i].dial.slurm.task == 1)
            look_at_line(dial, i, now_ns);
}

void *dial_hosts_socket(const struct dial_hosts *dial, size_t i)
{
    return dial && i < dial->n_lines ? slurm_thread_socket(dial->lines[i])
                                     : NULL;
}

static void take_change(struct dialled *one, const struct slurm_news *news)
{
    struct dial_presence *presence = &one->presence;

    if (presence->where == DIAL_PRESENCE_GONE)
        return;
    switch (news->change) {
    case SLURM_SAME:
        return;
    case SLURM_QUEUED:
        if (presence->where == DIAL_PRESENCE_AWAY)
            dial_presence_tell(presence, DIAL_PRESENCE_WAITS);
        memcpy(one->awaits, news->text, sizeof(one->awaits));
        return;
    case SLURM_STARTED:
        dial_presence_tell(presence, DIAL_PRESENCE_STARTED);
        one->runs_s = (int)int64_min(news->runs_s, INT32_MAX);
        return;
    case SLURM_LEFT:
        dial_presence_job_ended(presence);
        one->ended_s = (int)int64_min(news->ended_s, INT32_MAX);
        break;
    case SLURM_NEVER:
        dial_presence_dismiss(presence, true);
        break;
    }
    memcpy(one->why, news->text, sizeof(one->why));
    memcpy(one->awaits, news->text, sizeof(one->awaits));
}

static void hear_slurm(struct dial_hosts *dial)
{
    struct slurm_news news;

    for (size_t i = 0; i < dial->n_lines; i++)
        while (slurm_thread_recv(dial->lines[i], &news) == 1)
            take_change(&dial->each[news.host], &news);
}

static void say_wait(const struct dial_hosts *dial, size_t host,
                     struct host_thread_news *out)
{
    const char *awaits = dial->each[host].awaits;

    out->event = HOST_THREADS_WAITING;
    if (awaits[0])
        snprintf(out->text, sizeof(out->text), "%s", awaits);
    else
        snprintf(out->text, sizeof(out->text),
                 "its worker has not dialled back; it is started there with "
                 "fa-worker --invitation FILE, and FILE is here %s/%s",
                 dial->folder, dial->hosts->list[host].name);
}

static void tell_end(const struct dialled *one, enum host_threads_event event,
                     struct host_thread_news *out)
{
    out->event = event;
    out->code = ERR_NETWORK;
    snprintf(out->text, sizeof(out->text), "%s", one->why);
}

int dial_hosts_news(struct dial_hosts *dial, size_t host,
                    struct host_thread_news *out)
{
    struct dialled *one = &dial->each[host];

    hear_slurm(dial);
    *out = (struct host_thread_news){ .host = host };
    switch (dial_presence_next(&one->presence)) {
    case DIAL_PRESENCE_NOTHING:
    case DIAL_PRESENCE_NEWS:
        return 0;
    case DIAL_PRESENCE_BROKEN:
        tell_end(one, HOST_THREADS_BROKEN, out);
        return 1;
    case DIAL_PRESENCE_ENDED:
        out->event = HOST_THREADS_JOB_ENDED;
        out->code = one->ended_s;
        return 1;
    case DIAL_PRESENCE_LOST:
        tell_end(one, HOST_THREADS_GAVE_UP, out);
        return 1;
    case DIAL_PRESENCE_WAITS:
        say_wait(dial, host, out);
        return 1;
    case DIAL_PRESENCE_STARTED:
        out->event = HOST_THREADS_CONNECTING;
        out->code = one->runs_s;
        return 1;
    case DIAL_PRESENCE_CAME:
        out->event = HOST_THREADS_ATTACHED;
        return 1;
    case DIAL_PRESENCE_RIVAL:
        out->event = HOST_THREADS_REMARK;
        rivals_text(one, dial->hosts->list[host].name, out->text,
                    sizeof(out->text));
        return 1;
    }
    return 0;
}

void dial_hosts_reconnect(struct dial_hosts *dial, size_t host)
{
    struct dialled *one = &dial->each[host];

    if (dial_presence_leave(&one->presence))
        say_why(one, "its worker is silent");
}

void dial_hosts_dismiss(struct dial_hosts *dial, size_t host)
{
    struct dialled *one = &dial->each[host];

    dial_presence_dismiss(&one->presence, false);
    if (one->slurm)
        slurm_thread_dismiss(one->slurm, host);
}
