#include "common/msg.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <msgpack.h>

#include "common/mem.h"
#include "common/packed.h"

enum kind {
    INT,
    REAL,
    TEXT,
    TEXTS,
    BYTES,
    BLOBS,
    REALS
};

#define NAME_MAX_BYTES 128
#define DETAIL_MAX 4096
#define HEADER_MAX (64 << 10)

/* Every field there is.  'max' is the largest length, count or number; a
 * number is at least 0.  Where it may be unknown, an INT may be -1, REALs and
 * REALS may be NaN. */
struct field {
    const char *name;
    size_t offset;
    enum kind kind;
    int64_t max;
    bool unknown_ok;
};

#define F(name, member, kind, max)                           \
    {                                                        \
        name, offsetof(struct msg, member), kind, max, false \
    }
#define FN(name, member, kind, max)                         \
    {                                                       \
        name, offsetof(struct msg, member), kind, max, true \
    }

enum {
    LEASE,
    SWEEP,
    CONFIG,
    SHAPE,
    PURPOSE,
    STAGE,
    ROUND,
    ATTEMPT,
    NONCE,
    PROTOCOL,
    VERSION,
    HOST,
    BOOT_ID,
    PID,
    CPUS,
    RUNNING,
    JOURNAL,
    DEVICE,
    GPUS,
    NVCC,
    SLOTS,
    BEAT_MS,
    LINGER_MS,
    GPU,
    INDEX,
    NAME,
    DRIVER,
    FACTS,
    TOOLKIT,
    N_GPUS,
    MEASURE_CREDIT,
    HASH,
    NAMES,
    CONTENTS,
    KEY,
    BUNDLE,
    SOURCE,
    HEADER,
    ENTRY,
    STANDARD,
    FLAGS,
    ARCH,
    LIMIT_MS,
    OUTCOME,
    DETAIL,
    ARTIFACT,
    ARTIFACT_BYTES,
    LOG,
    SECONDS,
    CACHED,
    REGISTERS,
    SPILL_BYTES,
    STATIC_SMEM,
    REFERENCE,
    REQUEST,
    FRESH,
    ARGUMENT,
    RELATIVE_L2,
    MAX_ERROR,
    MAX_AT,
    SAMPLES,
    SAMPLING,
    REJECTED,
    L2,
    BLOCKED,
    CLOCK_MHZ,
    TEMP_C,
    POWER_W,
    THROTTLE,
    HELD_S,
    COMMAND,
    STATUS,
    OUTPUT,
    OFFSET,
    TOTAL,
    CHUNK,
    NONCES,
    WHAT,
    TEXT_,
    FIELDS,
};

#define INT_MAX_FIELD INT64_MAX

static const struct field fields[FIELDS] = {
    [LEASE] = F("lease", lease, INT, INT_MAX_FIELD),
    [SWEEP] = F("sweep", id.sweep, TEXT, NAME_MAX_BYTES),
    [CONFIG] = F("config", id.config, TEXT, NAME_MAX_BYTES),
    [SHAPE] = F("shape", id.shape, TEXT, NAME_MAX_BYTES),
    [PURPOSE] = F("purpose", id.purpose, TEXT, NAME_MAX_BYTES),
    [STAGE] = F("stage", id.stage, TEXT, NAME_MAX_BYTES),
    [ROUND] = F("round", id.round, INT, 1 << 30),
    [ATTEMPT] = F("attempt", id.attempt, INT, 1 << 30),
    [NONCE] = F("nonce", nonce, TEXT, 32),
    [PROTOCOL] = F("protocol", protocol, INT, 1 << 30),
    [VERSION] = F("version", version, TEXT, NAME_MAX_BYTES),
    [HOST] = F("host", host, TEXT, 256),
    [BOOT_ID] = F("boot_id", boot_id, TEXT, 64),
    [PID] = F("pid", pid, INT, INT32_MAX),
    [CPUS] = F("cpus", cpus, INT, 1 << 16),
    [RUNNING] = F("running", running, TEXTS, 4096),
    [JOURNAL] = F("journal", journal, INT, INT_MAX_FIELD),
    [DEVICE] = F("device", device, TEXT, 16),
    [GPUS] = F("gpus", gpus, TEXT, 1024),
    [NVCC] = F("nvcc", nvcc, TEXT, 4096),
    [SLOTS] = F("slots", slots, INT, 4096),
    [BEAT_MS] = F("beat_ms", beat_ms, INT, INT32_MAX),
    [LINGER_MS] = F("linger_ms", linger_ms, INT, INT32_MAX),
    [GPU] = F("gpu", gpu, TEXT, NAME_MAX_BYTES),
    [INDEX] = F("index", index, INT, 4096),
    [NAME] = F("name", name, TEXT, 256),
    [DRIVER] = F("driver", driver, TEXT, NAME_MAX_BYTES),
    [FACTS] = F("facts", facts, TEXTS, 64),
    [TOOLKIT] = F("toolkit", toolkit, TEXT, 256),
    [N_GPUS] = F("n_gpus", n_gpus, INT, 256),
    [MEASURE_CREDIT] = F("measure_credit", measure_credit, INT, 64),
    [HASH] = F("hash", hash, TEXT, 32),
    [NAMES] = F("names", names, TEXTS, MSG_FILES_MAX),
    [CONTENTS] = F("contents", contents, BLOBS, MSG_FILES_MAX),
    [KEY] = F("key", key, TEXT, 32),
    [BUNDLE] = F("bundle", bundle, TEXT, 32),
    [SOURCE] = F("source", source, TEXT, 256),
    [HEADER] = F("header", header, TEXT, HEADER_MAX),
    [ENTRY] = F("entry", entry, TEXT, NAME_MAX_BYTES),
    [STANDARD] = F("standard", standard, TEXT, 16),
    [FLAGS] = F("flags", flags, TEXTS, 64),
    [ARCH] = F("arch", arch, TEXT, 32),
    [LIMIT_MS] = F("limit_ms", limit_ms, INT, INT32_MAX),
    [OUTCOME] = F("outcome", outcome, TEXT, 32),
    [DETAIL] = F("detail", detail, TEXT, DETAIL_MAX),
    [ARTIFACT] = F("artifact", artifact, TEXT, 32),
    [ARTIFACT_BYTES] = F("artifact_bytes", artifact_bytes, INT, INT32_MAX),
    [LOG] = F("log", log, TEXT, MSG_LOG_MAX + 256),
    [SECONDS] = F("seconds", seconds, REAL, 1 << 30),
    [CACHED] = F("cached", cached, INT, 1),
    [REGISTERS] = FN("registers", registers, INT, 1 << 16),
    [SPILL_BYTES] = FN("spill_bytes", spill_bytes, INT, INT32_MAX),
    [STATIC_SMEM] = FN("static_smem", static_smem, INT, INT32_MAX),
    [REFERENCE] = F("reference", reference, TEXT, 32),
    [REQUEST] = F("request", request, TEXT, HEADER_MAX),
    [FRESH] = F("fresh", fresh, INT, 1),
    [ARGUMENT] = F("argument", argument, TEXT, NAME_MAX_BYTES),
    [RELATIVE_L2] = FN("relative_l2", relative_l2, REAL, INT64_MAX),
    [MAX_ERROR] = FN("max_error", max_error, REAL, INT64_MAX),
    [MAX_AT] = FN("max_at", max_at, INT, INT_MAX_FIELD),
    [SAMPLES] = F("samples", samples, REALS, MSG_SAMPLES_MAX),
    [SAMPLING] = F("sampling", sampling, TEXT, 16),
    [REJECTED] = F("rejected", rejected, REALS, MSG_SAMPLES_MAX),
    [L2] = F("l2", l2, TEXT, 32),
    [BLOCKED] = F("blocked", blocked, INT, 1),
    [CLOCK_MHZ] = FN("clock_mhz", clock_mhz, REALS, MSG_SAMPLES_MAX),
    [TEMP_C] = FN("temp_c", temp_c, REALS, MSG_SAMPLES_MAX),
    [POWER_W] = FN("power_w", power_w, REALS, MSG_SAMPLES_MAX),
    [THROTTLE] = FN("throttle", throttle, REALS, MSG_SAMPLES_MAX),
    [HELD_S] = F("held_s", held_s, REAL, 1 << 30),
    [COMMAND] = F("command", command, TEXTS, MSG_COMMAND_MAX),
    [STATUS] = FN("status", status, INT, 255),
    [OUTPUT] = F("output", output, TEXT, MSG_OUTPUT_MAX),
    [OFFSET] = F("offset", offset, INT, INT32_MAX),
    [TOTAL] = F("total", total, INT, INT32_MAX),
    [CHUNK] = F("chunk", chunk, BYTES, MSG_CHUNK_MAX),
    [NONCES] = F("nonces", nonces, TEXTS, 1024),
    [WHAT] = F("what", what, TEXT, 32),
    [TEXT_] = F("text", text, TEXT, DETAIL_MAX),
};

#define END FIELDS
#define IDENTITY SWEEP, CONFIG, SHAPE, PURPOSE, STAGE, ROUND, ATTEMPT
#define FIELDS_PER_MESSAGE 40

/* Which fields each message has; all of them are required. */
static const struct shape {
    const char *name;
    unsigned char has[FIELDS_PER_MESSAGE];
} shapes[MSG_TYPES] = {
    [MSG_HELLO] = { "HELLO",
                    { PROTOCOL, VERSION, HOST, BOOT_ID, PID, CPUS, RUNNING,
                      JOURNAL, END } },
    [MSG_WELCOME] = { "WELCOME",
                      { PROTOCOL, SWEEP, DEVICE, GPUS, NVCC, SLOTS, BEAT_MS,
                        LINGER_MS, END } },
    [MSG_GPU] = { "GPU", { INDEX, GPU, NAME, DRIVER, FACTS, END } },
    [MSG_READY] = { "READY", { TOOLKIT, SLOTS, N_GPUS, MEASURE_CREDIT, END } },
    [MSG_TROUBLE] = { "TROUBLE", { WHAT, TEXT_, END } },
    [MSG_BUNDLE] = { "BUNDLE", { HASH, NAMES, CONTENTS, END } },
    [MSG_BUILD] = { "BUILD",
                    { LEASE, IDENTITY, KEY, BUNDLE, SOURCE, HEADER, ENTRY,
                      STANDARD, FLAGS, ARCH, LIMIT_MS, END } },
    [MSG_BUILT] = { "BUILT",
                    { LEASE, IDENTITY, NONCE, KEY, OUTCOME, DETAIL, ARTIFACT,
                      ARTIFACT_BYTES, LOG, SECONDS, CACHED, REGISTERS,
                      SPILL_BYTES, STATIC_SMEM, END } },
    [MSG_MEASURE] = { "MEASURE",
                      { LEASE, IDENTITY, KEY, GPU, ARTIFACT, REFERENCE, REQUEST,
                        FRESH, LIMIT_MS, END } },
    [MSG_MEASURED] = { "MEASURED",
                       { LEASE,       IDENTITY,    NONCE,     KEY,
                         GPU,         ARTIFACT,    OUTCOME,   DETAIL,
                         ARGUMENT,    RELATIVE_L2, MAX_ERROR, MAX_AT,
                         SAMPLES,     SAMPLING,    REJECTED,  L2,
                         BLOCKED,     CLOCK_MHZ,   TEMP_C,    POWER_W,
                         THROTTLE,    HELD_S,      SECONDS,   REGISTERS,
                         SPILL_BYTES, STATIC_SMEM, END } },
    [MSG_TOOL] = { "TOOL",
                   { LEASE, IDENTITY, KEY, GPU, BUNDLE, COMMAND, ARTIFACT,
                     REFERENCE, REQUEST, LIMIT_MS, END } },
    [MSG_RAN] = { "RAN",
                  { LEASE, IDENTITY, NONCE, KEY, GPU, OUTCOME, DETAIL, STATUS,
                    OUTPUT, LOG, SECONDS, END } },
    [MSG_STARTED] = { "STARTED", { LEASE, END } },
    [MSG_REFUSE] = { "REFUSE", { LEASE, TEXT_, END } },
    [MSG_WANT] = { "WANT", { WHAT, HASH, END } },
    [MSG_FETCH] = { "FETCH", { HASH, END } },
    [MSG_ARTIFACT] = { "ARTIFACT", { HASH, OFFSET, TOTAL, CHUNK, END } },
    [MSG_MISSING] = { "MISSING", { HASH, END } },
    [MSG_ACK] = { "ACK", { NONCES, END } },
    [MSG_CANCEL] = { "CANCEL", { LEASE, END } },
    [MSG_BEAT] = { "BEAT", { JOURNAL, END } },
    [MSG_STOP] = { "STOP", { WHAT, END } },
    [MSG_BYE] = { "BYE", { TEXT_, JOURNAL, END } },
};

const char *msg_type_name(enum msg_type type)
{
    return type < MSG_TYPES ? shapes[type].name : "?";
}

bool msg_is_result(enum msg_type type)
{
    return type == MSG_BUILT || type == MSG_MEASURED || type == MSG_RAN;
}

void msg_identity_text(const struct msg_identity *id,
                       char out[MSG_IDENTITY_BYTES])
{
    snprintf(out, MSG_IDENTITY_BYTES, "%s/%s/%s/%s/%lld/%s/%lld", id->sweep,
             id->config, id->shape, id->purpose, (long long)id->round,
             id->stage, (long long)id->attempt);
}

static int over(const struct shape *shape, const struct field *field, int code,
                struct err *err)
{
    return err_set(err, code, "%s.%s is over its limit of %lld", shape->name,
                   field->name, (long long)field->max);
}

static void pack_text(msgpack_packer *pk, const char *text)
{
    size_t n = strlen(text);

    msgpack_pack_str(pk, n);
    msgpack_pack_str_body(pk, text, n);
}

static bool int_ok(int64_t v, const struct field *field)
{
    return v >= (field->unknown_ok ? -1 : 0) && v <= field->max;
}

static bool real_ok(double v, const struct field *field)
{
    return isnan(v)   ? field->unknown_ok
           : isinf(v) ? field->unknown_ok
                      : v >= 0 && v <= (double)field->max;
}

/* Returns false when the value is over the field's ceiling. */
static bool pack_value(msgpack_packer *pk, const struct field *field,
                       const void *at)
{
    const struct texts *texts = at;
    const struct blobs *blobs = at;
    const struct reals *reals = at;
    const struct bytes *bytes = at;
    const char *text;

    switch (field->kind) {
    case INT:
        msgpack_pack_int64(pk, *(const int64_t *)at);
        return int_ok(*(const int64_t *)at, field);
    case REAL:
        msgpack_pack_double(pk, *(const double *)at);
        return real_ok(*(const double *)at, field);
    case TEXT:
        text = *(const char *const *)at ? *(const char *const *)at : "";
        pack_text(pk, text);
        return (int64_t)strlen(text) <= field->max;
    case TEXTS:
        msgpack_pack_array(pk, texts->n);
        for (size_t i = 0; i < texts->n; i++)
            pack_text(pk, texts->items[i]);
        return (int64_t)texts->n <= field->max;
    case BYTES:
        msgpack_pack_bin(pk, bytes->len);
        msgpack_pack_bin_body(pk, bytes->data, bytes->len);
        return (int64_t)bytes->len <= field->max;
    case BLOBS:
        msgpack_pack_array(pk, blobs->n);
        for (size_t i = 0; i < blobs->n; i++) {
            msgpack_pack_bin(pk, blobs->items[i].len);
            msgpack_pack_bin_body(pk, blobs->items[i].data,
                                  blobs->items[i].len);
        }
        return (int64_t)blobs->n <= field->max;
    case REALS:
        msgpack_pack_array(pk, reals->n);
        for (size_t i = 0; i < reals->n; i++)
            msgpack_pack_double(pk, reals->items[i]);
        return (int64_t)reals->n <= field->max;
    }
    return false;
}

static int write_buf(void *to, const char *bytes, size_t len)
{
    return buf_add(to, bytes, len) ? 0 : -1;
}

int msg_encode(const struct msg *msg, struct buf *out, struct err *err)
{
    const struct shape *shape = &shapes[msg->type];
    msgpack_packer pk;
    size_t n = 0;

    while (shape->has[n] != END)
        n++;
    msgpack_packer_init(&pk, out, write_buf);
    msgpack_pack_map(&pk, n + 2);
    pack_text(&pk, "t");
    pack_text(&pk, shape->name);
    pack_text(&pk, "epoch");
    msgpack_pack_int64(&pk, msg->epoch);
    for (size_t i = 0; i < n; i++) {
        const struct field *field = &fields[shape->has[i]];

        pack_text(&pk, field->name);
        if (!pack_value(&pk, field, (const char *)msg + field->offset))
            return over(shape, field, ERR_INPUT, err);
    }
    if (out->truncated)
        return err_set(err, ERR_INPUT, "%s: message over %zu bytes",
                       shape->name, out->max);
    return 0;
}

static void *own(struct msg *msg, void *p)
{
    msg->owned = mem_grow(msg->owned, msg->n_owned + 1, sizeof(void *));
    msg->owned[msg->n_owned++] = p;
    return p;
}

static bool is_text(const msgpack_object *o)
{
    return o->type == MSGPACK_OBJECT_STR &&
           !memchr(o->via.str.ptr, '\0', o->via.str.size);
}

static bool get_real(const msgpack_object *o, double *out)
{
    if (o->type == MSGPACK_OBJECT_FLOAT64 || o->type == MSGPACK_OBJECT_FLOAT32)
        *out = o->via.f64;
    else if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
        *out = (double)o->via.u64;
    else
        return false;
    return true;
}

static bool get_texts(struct msg *msg, const msgpack_object *o,
                      const struct field *field, struct texts *out)
{
    size_t n = o->via.array.size;
    const char **items;

    if (o->type != MSGPACK_OBJECT_ARRAY || (int64_t)n > field->max)
        return false;
    items = own(msg, mem_new(n, sizeof(*items)));
    for (size_t i = 0; i < n; i++) {
        const msgpack_object *e = &o->via.array.ptr[i];

        if (!is_text(e))
            return false;
        items[i] = own(msg, mem_dup(e->via.str.ptr, e->via.str.size));
    }
    *out = (struct texts){ items, n };
    return true;
}

static bool get_blobs(struct msg *msg, const msgpack_object *o,
                      const struct field *field, struct blobs *out)
{
    size_t n = o->via.array.size;
    struct bytes *items;

    if (o->type != MSGPACK_OBJECT_ARRAY || (int64_t)n > field->max)
        return false;
    items = own(msg, mem_new(n, sizeof(*items)));
    for (size_t i = 0; i < n; i++) {
        const msgpack_object *e = &o->via.array.ptr[i];

        if (e->type != MSGPACK_OBJECT_BIN)
            return false;
        items[i].len = e->via.bin.size;
        items[i].data = own(msg, mem_dup(e->via.bin.ptr, e->via.bin.size));
    }
    *out = (struct blobs){ items, n };
    return true;
}

static bool get_reals(struct msg *msg, const msgpack_object *o,
                      const struct field *field, struct reals *out)
{
    size_t n = o->via.array.size;
    double *items;

    if (o->type != MSGPACK_OBJECT_ARRAY || (int64_t)n > field->max)
        return false;
    items = own(msg, mem_new(n, sizeof(*items)));
    for (size_t i = 0; i < n; i++) {
        if (!get_real(&o->via.array.ptr[i], &items[i]))
            return false;
        if (!field->unknown_ok && !(items[i] > 0 && items[i] < 1e9))
            return false; /* samples: a time is positive and finite */
    }
    *out = (struct reals){ items, n };
    return true;
}

static bool get_value(struct msg *msg, const msgpack_object *o,
                      const struct field *field)
{
    void *at = (char *)msg + field->offset;

    switch (field->kind) {
    case INT:
        if (o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
            *(int64_t *)at = o->via.i64;
        else if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER &&
                 o->via.u64 <= INT64_MAX)
            *(int64_t *)at = (int64_t)o->via.u64;
        else
            return false;
        return int_ok(*(const int64_t *)at, field);
    case REAL:
        return get_real(o, at) && real_ok(*(double *)at, field);
    case TEXT:
        if (!is_text(o) || (int64_t)o->via.str.size > field->max)
            return false;
        *(const char **)at = own(msg, mem_dup(o->via.str.ptr, o->via.str.size));
        return true;
    case BYTES:
        if (o->type != MSGPACK_OBJECT_BIN ||
            (int64_t)o->via.bin.size > field->max)
            return false;
        *(struct bytes *)at =
            (struct bytes){ own(msg, mem_dup(o->via.bin.ptr, o->via.bin.size)),
                            o->via.bin.size };
        return true;
    case TEXTS:
        return get_texts(msg, o, field, at);
    case BLOBS:
        return get_blobs(msg, o, field, at);
    case REALS:
        return get_reals(msg, o, field, at);
    }
    return false;
}

static const msgpack_object *find(const msgpack_object_map *map,
                                  const char *name)
{
    for (uint32_t i = 0; i < map->size; i++) {
        const msgpack_object *key = &map->ptr[i].key;

        if (key->type == MSGPACK_OBJECT_STR &&
            key->via.str.size == strlen(name) &&
            memcmp(key->via.str.ptr, name, key->via.str.size) == 0)
            return &map->ptr[i].val;
    }
    return NULL;
}

static int decode_type(const msgpack_object_map *map, struct msg *out,
                       struct err *err)
{
    const msgpack_object *type = find(map, "t");
    const msgpack_object *epoch = find(map, "epoch");

    if (!type || !is_text(type))
        return err_set(err, ERR_PROTO, "message without a type");
    for (int i = 0; i < MSG_TYPES; i++) {
        if (strlen(shapes[i].name) != type->via.str.size ||
            memcmp(shapes[i].name, type->via.str.ptr, type->via.str.size) != 0)
            continue;
        if (!epoch || epoch->type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
            epoch->via.u64 > INT64_MAX)
            return err_set(err, ERR_PROTO, "%s.epoch is missing or wrong",
                           shapes[i].name);
        out->type = (enum msg_type)i;
        out->epoch = (int64_t)epoch->via.u64;
        return 0;
    }
    return err_set(err, ERR_PROTO, "unknown message type");
}

static int decode_map(const msgpack_object *root, struct msg *out,
                      struct err *err)
{
    const struct shape *shape;
    int rc;

    if (root->type != MSGPACK_OBJECT_MAP)
        return err_set(err, ERR_PROTO, "message is not a map");
    rc = decode_type(&root->via.map, out, err);
    if (rc < 0)
        return rc;
    shape = &shapes[out->type];
    for (size_t i = 0; shape->has[i] != END; i++) {
        const struct field *field = &fields[shape->has[i]];
        const msgpack_object *o = find(&root->via.map, field->name);

        if (!o)
            return err_set(err, ERR_PROTO, "%s.%s is missing", shape->name,
                           field->name);
        if (!get_value(out, o, field))
            return err_set(err, ERR_PROTO,
                           "%s.%s has the wrong type or is out of range",
                           shape->name, field->name);
    }
    return 0;
}

int msg_decode(const void *bytes, size_t len, struct msg *out, struct err *err)
{
    msgpack_unpacked unpacked;
    size_t used = 0;
    int rc;

    *out = (struct msg){ 0 };
    if (len > MSG_BYTES_MAX)
        return err_set(err, ERR_PROTO, "message of %zu bytes", len);
    if (!packed_counts_fit(bytes, len))
        return err_set(err, ERR_PROTO, "message is not one MessagePack object");
    msgpack_unpacked_init(&unpacked);
    if (msgpack_unpack_next(&unpacked, bytes, len, &used) !=
            MSGPACK_UNPACK_SUCCESS ||
        used != len)
        rc = err_set(err, ERR_PROTO, "message is not one MessagePack object");
    else
        rc = decode_map(&unpacked.data, out, err);
    msgpack_unpacked_destroy(&unpacked);
    if (rc < 0)
        msg_fini(out);
    return rc;
}

void msg_fini(struct msg *msg)
{
    for (size_t i = 0; i < msg->n_owned; i++)
        free(msg->owned[i]);
    free(msg->owned);
    *msg = (struct msg){ 0 };
}
