#include "tests/simulation/sim_trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/msg.h"

static const char *const kinds[SIM_KINDS] = {
    [SIM_SCENE] = "SCENE",
    [SIM_BEGIN] = "BEGIN",
    [SIM_END] = "END",
    [SIM_CRASH] = "CRASH",
    [SIM_SENT] = "sent",
    [SIM_TAKEN] = "taken",
    [SIM_SAID] = "said",
    [SIM_HEARD] = "heard",
    [SIM_GONE] = "LOST",
    [SIM_NEWS] = "news",
    [SIM_RECONNECT] = "RECONNECT",
    [SIM_DISMISS] = "DISMISS",
    [SIM_COMMIT] = "commit",
    [SIM_SLEEP] = "SLEEP",
    [SIM_WORKER] = "WORKER",
    [SIM_FAULT] = "FAULT",
    [SIM_HEAL] = "HEAL",
    [SIM_RENT] = "RENT",
};

void sim_trace_add(struct sim_trace *trace, struct sim_record record)
{
    if (trace->n == trace->cap) {
        trace->cap = trace->cap ? 2 * trace->cap : 4096;
        trace->records =
            mem_grow(trace->records, trace->cap, sizeof(*trace->records));
    }
    trace->records[trace->n++] = record;
}

int sim_trace_id(struct sim_trace *trace, const struct msg *msg)
{
    const struct msg_work *work = msg_work(msg);
    const struct msg_identity *id = work ? &work->id : NULL;
    char text[MSG_IDENTITY_BYTES];

    if (!id || !id->config)
        return sim_name(&trace->names, "");
    snprintf(text, sizeof(text), "%s/%s/%s/%" PRId64 "/%s", id->config,
             id->shape, id->purpose, id->round, id->stage);
    return sim_name(&trace->names, text);
}

/* The most telling text of a message. */
static const char *text_of(const struct msg *msg)
{
    switch (msg->type) {
    case MSG_HELLO:
        return msg->hello.boot_id;
    case MSG_GPU:
        return msg->gpu.uuid;
    case MSG_BUILD:
        return msg->build.bundle;
    case MSG_MEASURE:
        return msg->measure.launch.artifact;
    case MSG_BUILT:
    case MSG_MEASURED:
    case MSG_RAN:
        return msg_result(msg)->outcome;
    case MSG_WANT:
        return msg->want.hash;
    case MSG_FETCH:
        return msg->fetch.hash;
    case MSG_ARTIFACT:
        return msg->artifact.hash;
    case MSG_MISSING:
        return msg->missing.hash;
    case MSG_BUNDLE:
        return msg->bundle.hash;
    case MSG_STOP:
        return msg->stop.what;
    case MSG_REFUSE:
        return msg->refuse.text;
    case MSG_BYE:
        return msg->bye.text;
    case MSG_TROUBLE:
        return msg->trouble.text;
    default:
        return "";
    }
}

static int64_t lease_of(const struct msg *msg)
{
    const struct msg_work *work = msg_work(msg);

    switch (msg->type) {
    case MSG_STARTED:
        return msg->started.lease;
    case MSG_REFUSE:
        return msg->refuse.lease;
    case MSG_CANCEL:
        return msg->cancel.lease;
    default:
        return work ? work->lease : 0;
    }
}

static const char *gpu_of(const struct msg *msg)
{
    const struct msg_launch *launch = msg_launch(msg);

    switch (msg->type) {
    case MSG_GPU:
        return msg->gpu.uuid;
    case MSG_MEASURED:
        return msg->measured.gpu;
    case MSG_RAN:
        return msg->ran.gpu;
    default:
        return launch ? launch->gpu : NULL;
    }
}

static int64_t limit_ms_of(const struct msg *msg)
{
    const struct msg_launch *launch = msg_launch(msg);

    if (msg->type == MSG_BUILD)
        return msg->build.limit_ms;
    return launch ? launch->limit_ms : 0;
}

/* The name of "sweep/config/shape/purpose/round/stage/attempt", without its
 * first and last parts. */
static int name_of_identity(struct sim_trace *trace, const char *text)
{
    const char *from = strchr(text, '/'), *to = strrchr(text, '/');
    char *cut;
    int name;

    if (!from || to <= from)
        return sim_name(&trace->names, text);
    cut = mem_dup(from + 1, (size_t)(to - from - 1));
    name = sim_name(&trace->names, cut);
    free(cut);
    return name;
}

void sim_trace_msg(struct sim_trace *trace, enum sim_kind kind, int64_t at_ns,
                   int host, const struct msg *msg, int64_t number)
{
    const struct msg_result *result = msg_result(msg);
    struct sim_record record = {
        .at_ns = at_ns,
        .kind = kind,
        .host = host,
        .type = (int)msg->type,
        .epoch = msg->epoch,
        .lease = lease_of(msg),
        .number = msg->type == MSG_HELLO ? msg->hello.pid : number,
        .limit_ms = limit_ms_of(msg),
        .id = sim_trace_id(trace, msg),
        .nonce = sim_name(&trace->names, result ? result->nonce : NULL),
        .text = sim_name(&trace->names, text_of(msg)),
        .gpu = sim_name(&trace->names, gpu_of(msg)),
    };
    const struct texts *more = msg->type == MSG_ACK     ? &msg->ack.nonces
                               : msg->type == MSG_HELLO ? &msg->hello.running
                                                        : NULL;

    sim_trace_add(trace, record);
    for (size_t i = 0; more && i < more->n; i++) {
        struct sim_record part = record;

        part.lease = (int64_t)i + 1;
        if (msg->type == MSG_ACK)
            part.nonce = sim_name(&trace->names, more->items[i]);
        else
            part.id = name_of_identity(trace, more->items[i]);
        sim_trace_add(trace, part);
    }
}

const char *sim_trace_text(const struct sim_trace *trace, int name)
{
    return sim_name_text(&trace->names, name);
}

static void print(const struct sim_trace *trace, const struct sim_record *r,
                  FILE *to)
{
    const char *id = sim_trace_text(trace, r->id);
    size_t key = strcspn(id, "/");

    fprintf(to, "%10.4f %-9s", (double)r->at_ns / (double)NS_PER_S,
            kinds[r->kind]);
    if (r->host != SIM_NOBODY)
        fprintf(to, " h%d", r->host);
    if (r->type >= 0)
        fprintf(to, " %s", msg_type_name((enum msg_type)r->type));
    if (r->lease)
        fprintf(to, " lease=%" PRId64, r->lease);
    if (r->id)
        fprintf(to, " %.8s%s", id, id + key);
    if (r->nonce)
        fprintf(to, " nonce=%.8s", sim_trace_text(trace, r->nonce));
    if (r->gpu)
        fprintf(to, " gpu=%s", sim_trace_text(trace, r->gpu));
    if (r->number)
        fprintf(to, " n=%" PRId64, r->number);
    if (r->text)
        fprintf(to, " %s", sim_trace_text(trace, r->text));
    fputc('\n', to);
}

void sim_trace_print(const struct sim_trace *trace, FILE *to)
{
    for (size_t i = 0; i < trace->n; i++)
        print(trace, &trace->records[i], to);
}

void sim_trace_hash(const struct sim_trace *trace, char out[HASH_HEX])
{
    struct hash hash;

    hash_init(&hash);
    for (size_t i = 0; i < trace->n; i++) {
        const struct sim_record *r = &trace->records[i];
        const int64_t numbers[] = { r->at_ns, (int64_t)r->kind, r->host,
                                    r->type,  r->lease,         r->number,
                                    r->epoch, r->limit_ms,      r->id,
                                    r->nonce, r->text,          r->gpu };

        hash_add(&hash, numbers, sizeof(numbers));
    }
    for (size_t i = 0; i < trace->names.n; i++)
        hash_text(&hash, trace->names.texts[i]);
    hash_end(&hash, out);
}

void sim_trace_fini(struct sim_trace *trace)
{
    free(trace->records);
    sim_names_fini(&trace->names);
}
