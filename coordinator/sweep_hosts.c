#include "coordinator/sweep_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "coordinator/replay.h"
#include "coordinator/spec.h"

#define BEAT_MS 5000 /* DESIGN section 3 */

void sweep_forget_running(struct box *box)
{
    for (size_t i = 0; i < box->n_running; i++)
        free(box->running[i]);
    free(box->running);
    box->running = NULL;
    box->n_running = 0;
}

static void set_phase(struct sweep *sweep, size_t host,
                      enum ledger_category phase)
{
    ledger_phase(sweep->ledger, (int)host, phase, clock_boot_ns());
}

static void go_away(struct sweep *sweep, size_t host)
{
    struct box *box = &sweep->boxes[host];

    box->attached = false;
    if (box->state != BOX_FAILED)
        box->state = BOX_AWAY;
    if (sweep->sched)
        sched_host_pause(sweep->sched, (int)host, true);
}

void sweep_give_up(struct sweep *sweep, size_t host, int code, const char *why)
{
    struct box *box = &sweep->boxes[host];

    go_away(sweep, host);
    box->state = BOX_FAILED;
    box->code = code;
    snprintf(box->why, sizeof(box->why), "%s", why);
    if (sweep->n_boxes > 1) /* of a single one the last line tells */
        progress_say(sweep->progress, "%s: not used: %s", box->host->name, why);
    log_line(LOG_E, "HOST-FAILED", "host=%s why=%s", box->host->name, why);
    sweep_host_lost(sweep, host, why);
    ledger_release(sweep->ledger, (int)host, clock_boot_ns());
    crew_dismiss(sweep->crew, host);
}

/* A worker that ended of its own accord has said why. */
static void broken(struct sweep *sweep, const struct crew_news *news)
{
    struct box *box = &sweep->boxes[news->host];
    char why[sizeof(box->why)];

    go_away(sweep, news->host);
    snprintf(why, sizeof(why), "%s%s%s", news->text, box->bye[0] ? ": " : "",
             box->bye);
    log_line(LOG_W, "HOST-BROKEN", "host=%s why=%s", box->host->name, why);
    if (sweep->stopping)
        return;
    if (box->tries == 0 || strcmp(box->why, why) != 0)
        progress_say(sweep->progress, "%s: %s; trying again", box->host->name,
                     why);
    box->tries++;
    box->code = news->code;
    snprintf(box->why, sizeof(box->why), "%s", why);
}

void sweep_crew_news(struct sweep *sweep, const struct crew_news *news)
{
    struct box *box = &sweep->boxes[news->host];

    switch (news->event) {
    case CREW_CONNECTING:
        if (!box->was_ready)
            set_phase(sweep, news->host, LEDGER_ACQUIRING);
        return;
    case CREW_UPLOADING:
        set_phase(sweep, news->host, LEDGER_UPLOADING);
        return;
    case CREW_ATTACHED:
        box->attached = true;
        box->tries = 0;
        box->bye[0] = '\0';
        set_phase(sweep, news->host, LEDGER_SETUP);
        return;
    case CREW_BROKEN:
        broken(sweep, news);
        return;
    case CREW_GAVE_UP:
        sweep_give_up(sweep, news->host, news->code, news->text);
        return;
    case CREW_ENDED:
        go_away(sweep, news->host);
        return;
    }
}

static void welcome(struct sweep *sweep, size_t host)
{
    const struct host *h = sweep->boxes[host].host;
    struct msg msg = { .type = MSG_WELCOME,
                       .protocol = MSG_PROTOCOL,
                       .id.sweep = sweep->spec->name,
                       .device = sweep->options->device,
                       .gpus = h->role == HOST_BUILDER ? "none"
                               : h->gpus[0]            ? h->gpus
                                                       : "all",
                       .nvcc = h->nvcc,
                       .slots = h->slots,
                       .beat_ms = BEAT_MS,
                       .linger_ms = sweep->options->linger_s * 1000 };

    sweep_send(sweep, host, &msg);
}

bool sweep_same_worker(const struct box *a, const struct box *b)
{
    return a->pid != 0 && a->pid == b->pid &&
           strcmp(a->boot_id, b->boot_id) == 0;
}

/* Two names for one work folder reach one worker, which follows the newer
 * invitation: the older name is out of use. */
static void retire_other_name(struct sweep *sweep, size_t host)
{
    for (size_t i = 0; i < sweep->n_boxes; i++) {
        const struct box *box = &sweep->boxes[i];
        char why[320];

        if (i == host || box->state == BOX_FAILED ||
            !sweep_same_worker(box, &sweep->boxes[host]))
            continue;
        snprintf(why, sizeof(why),
                 "it is the worker of %s under another name; give one of "
                 "them another workdir=",
                 sweep->boxes[host].host->name);
        sweep_give_up(sweep, i, ERR_INPUT, why);
    }
}

int sweep_hello(struct sweep *sweep, size_t host, const struct msg *msg,
                struct err *err)
{
    struct box *box = &sweep->boxes[host];

    if (msg->protocol != MSG_PROTOCOL)
        return err_set(err, ERR_PROTO,
                       "worker %s speaks protocol %lld, fa-coord %s speaks %d",
                       msg->version, (long long)msg->protocol, FA_VERSION,
                       MSG_PROTOCOL);
    if (strcmp(box->boot_id, msg->boot_id) != 0 || box->pid != msg->pid)
        box->same_worker = false;
    box->state = BOX_GREETED;
    box->n_gpus = 0;
    box->pid = msg->pid;
    box->cpus = msg->cpus;
    snprintf(box->boot_id, sizeof(box->boot_id), "%s", msg->boot_id);
    retire_other_name(sweep, host);
    snprintf(box->machine, sizeof(box->machine), "%s", msg->host);
    snprintf(box->version, sizeof(box->version), "%s", msg->version);
    sweep_forget_running(box);
    box->running = mem_new(msg->running.n, sizeof(*box->running));
    for (size_t i = 0; i < msg->running.n; i++)
        box->running[box->n_running++] = mem_strdup(msg->running.items[i]);
    if (sweep->sched)
        sched_host_pause(sweep->sched, (int)host, true);
    set_phase(sweep, host, LEDGER_SETUP);
    welcome(sweep, host);
    return 0;
}

/* What is in use: a name that was retired keeps no GPU from its successor. */
static const struct box *other_box_with(const struct sweep *sweep, size_t host,
                                        const char *uuid)
{
    for (size_t i = 0; i < sweep->n_boxes; i++)
        for (int g = 0; i != host && g < sweep->boxes[i].n_gpus; g++)
            if (sweep_is_connected(&sweep->boxes[i]) &&
                strcmp(sweep->boxes[i].gpus[g].uuid, uuid) == 0)
                return &sweep->boxes[i];
    return NULL;
}

int sweep_gpu(struct sweep *sweep, size_t host, const struct msg *msg,
              struct err *err)
{
    struct box *box = &sweep->boxes[host];
    struct box_gpu *gpu = &box->gpus[box->n_gpus];
    const struct box *other = other_box_with(sweep, host, msg->gpu);
    int rc;

    if (box->state != BOX_GREETED || box->n_gpus == BOX_GPUS_MAX)
        return err_set(err, ERR_PROTO, "GPU out of turn");
    if (other) {
        progress_say(sweep->progress,
                     "%s: its GPU %s is the one of %s under another name; "
                     "used once",
                     box->host->name, msg->gpu, other->host->name);
        return 0;
    }
    rc = arch_facts_read(&msg->facts, &gpu->facts, err);
    if (rc < 0)
        return rc;
    snprintf(gpu->uuid, sizeof(gpu->uuid), "%s", msg->gpu);
    snprintf(gpu->name, sizeof(gpu->name), "%s", msg->name);
    if (sweep->spec->replay)
        snprintf(gpu->name, sizeof(gpu->name), "%.200s (recorded)",
                 replay_device(sweep->spec->replay));
    box->n_gpus++;
    return sweep_put_gpu(sweep, host, gpu->name, msg);
}

/* One model a sweep: capability, SM count, memory (DESIGN section 7). */
static void drop_other_models(struct sweep *sweep, struct box *box)
{
    int kept = 0;

    if (strcmp(sweep->options->device, "cuda") != 0)
        return;

    for (int i = 0; i < box->n_gpus; i++) {
        if (arch_same_model(&box->gpus[i].facts, &sweep->facts)) {
            box->gpus[kept++] = box->gpus[i];
            continue;
        }
        progress_say(sweep->progress,
                     "%s: %s is another model than %s; it builds, and does "
                     "not measure",
                     box->host->name, box->gpus[i].name, sweep->gpu_name);
    }
    box->n_gpus = kept;
}

/* One line of HELLO.running taken apart (msg_identity_text). */
struct identity_parts {
    char copy[1024];
    const char *config, *shape, *purpose, *round, *stage;
};

static bool take_apart(const char *text, struct identity_parts *out)
{
    char *rest = out->copy, *part[7];

    if (strlen(text) >= sizeof(out->copy))
        return false;
    memcpy(out->copy, text, strlen(text) + 1);
    for (int i = 0; i < 7; i++) {
        part[i] = strsep(&rest, "/");
        if (!part[i])
            return false;
    }
    out->config = part[1];
    out->shape = part[2];
    out->purpose = part[3];
    out->round = part[4];
    out->stage = part[5];
    return !rest;
}

static enum job_stage stage_of(const char *stage)
{
    return strcmp(stage, "build") == 0 ? JOB_BUILD : JOB_MEASURE;
}

static bool is_same_measurement(const struct sweep *sweep,
                                const struct identity_parts *id,
                                const struct sched_lease *lease)
{
    return strcmp(id->shape, plan_shape_name(sweep->plan, lease->shape)) == 0 &&
           strcmp(id->purpose, sched_purpose_name(lease->purpose)) == 0 &&
           strtol(id->round, NULL, 10) == lease->round;
}

static bool is_running(const struct sweep *sweep, const struct box *box,
                       const struct sched_lease *lease)
{
    const struct plan_unit *unit = plan_unit(sweep->plan, lease->unit);
    const char *config = *unit->key ? unit->key : unit->source_key;

    for (size_t i = 0; i < box->n_running; i++) {
        struct identity_parts id;

        if (take_apart(box->running[i], &id) &&
            strcmp(id.config, config) == 0 &&
            lease->stage == stage_of(id.stage) &&
            (lease->stage == JOB_BUILD ||
             is_same_measurement(sweep, &id, lease)))
            return true;
    }
    return false;
}

/* A lease that a new connection does not know of: it never arrived (the same
 * worker), or died with its worker (another one).  The worker offers its
 * journal before READY, so results that exist are in already. */
static bool drop_one(struct sweep *sweep, size_t host)
{
    struct box *box = &sweep->boxes[host];
    const struct sched_lease *lease;

    for (int i = 0; (lease = sched_lease_at(sweep->sched, i)); i++) {
        if (lease->host != (int)host || is_running(sweep, box, lease))
            continue;
        if (box->same_worker)
            sweep_refuse(sweep, *lease);
        else
            sweep_lose(sweep, *lease, "crash", "its worker died");
        return true;
    }
    return false;
}

/* Builds and what is screened.  What an earlier run ordered is stored when it
 * comes; this run orders for itself. */
static void adopt(struct sweep *sweep, size_t host, const char *text)
{
    struct identity_parts id;
    struct sched_lease lease;
    enum job_stage stage;
    int unit, shape;

    if (!take_apart(text, &id))
        return;
    stage = stage_of(id.stage);
    if (stage == JOB_MEASURE &&
        (strcmp(id.purpose, "screen") != 0 || strcmp(id.round, "0") != 0))
        return;
    unit = sweep_find_unit(sweep, id.config, id.purpose);
    shape = stage == JOB_BUILD ? 0 : plan_find_shape(sweep->plan, id.shape);
    if (unit >= 0 && shape >= 0 &&
        sched_adopt(sweep->sched, stage, unit, shape, (int)host, 0, &lease)) {
        log_line(LOG_I, "LEASE-ADOPTED", "job=%lld host=%s",
                 (long long)lease.id, sweep->boxes[host].host->name);
        sweep_granted(sweep, &lease);
        sweep->grants[lease.id - 1].adopted = true;
        sweep_record_lease(sweep, &lease);
    }
}

/* By its number sched means the GPU that had it before. */
static void note_gpus(struct sweep *sweep, size_t host)
{
    struct box *box = &sweep->boxes[host];

    for (int i = 0; i < box->n_gpus; i++) {
        if (i < box->n_known && strcmp(box->known[i], box->gpus[i].uuid) != 0)
            sched_orders_drop(sweep->sched, (int)host, i, "its GPU is gone");
        memcpy(box->known[i], box->gpus[i].uuid, sizeof(box->known[i]));
    }
    box->n_known = box->n_gpus;
}

void sweep_box_up(struct sweep *sweep, size_t host)
{
    struct box *box = &sweep->boxes[host];

    drop_other_models(sweep, box);
    while (drop_one(sweep, host))
        continue;
    sched_host_up(sweep->sched, (int)host,
                  box->host->role == HOST_GPU ? 0 : box->slots, box->n_gpus,
                  box->credit);
    note_gpus(sweep, host);
    sweep_canary_box(sweep, host);
    for (size_t i = 0; i < box->n_running; i++)
        adopt(sweep, host, box->running[i]);
    sweep_take_cache(sweep, host);
    box->same_worker = true;
}

int sweep_ready(struct sweep *sweep, size_t host, const struct msg *msg,
                struct err *err)
{
    struct box *box = &sweep->boxes[host];

    if (box->state == BOX_AWAY)
        return err_set(err, ERR_PROTO, "READY before HELLO");
    box->state = BOX_READY;
    box->was_ready = true;
    box->is_lost = false;
    box->slots = (int)msg->slots;
    box->credit = (int)msg->measure_credit;
    snprintf(box->toolkit, sizeof(box->toolkit), "%s", msg->toolkit);
    sweep_put_host(sweep, host);
    set_phase(sweep, host, LEDGER_IDLE);
    sweep_put_event(sweep, "I", "HOST-READY", box->host->name);
    progress_say(
        sweep->progress, "%s: ready: %s, %d build slot%s, %d GPU%s%s%s",
        box->host->name, box->toolkit, box->slots, box->slots == 1 ? "" : "s",
        box->n_gpus, box->n_gpus == 1 ? "" : "s", box->n_gpus ? ", " : "",
        box->n_gpus ? box->gpus[0].name : "");
    if (sweep->plan) {
        sweep_box_up(sweep, host);
        return 0;
    }
    if (box->n_gpus == 0)
        return 0;
    sweep->facts = box->gpus[0].facts;
    if (sweep->spec->replay && replay_facts(sweep->spec->replay))
        sweep->facts = *replay_facts(sweep->spec->replay);
    snprintf(sweep->gpu_name, sizeof(sweep->gpu_name), "%s", box->gpus[0].name);
    return sweep_prepare(sweep, err);
}

void sweep_trouble(struct sweep *sweep, size_t host, const struct msg *msg)
{
    sweep_put_event(sweep, "E", "HOST-TROUBLE", msg->text);
    sweep_give_up(sweep, host, ERR_SYSTEM, msg->text);
}
