#include "common/msg.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <msgpack.h>

#include "common/mem.h"
#include "common/msg_fields.h"
#include "common/packed.h"

_Static_assert(offsetof(struct msg, bytes) - offsetof(struct msg, measured) ==
                   sizeof(struct msg_measured),
               "the first of the union must be its largest");

bool msg_is_result(enum msg_type type)
{
    return type == MSG_BUILT || type == MSG_MEASURED || type == MSG_RAN;
}

static int unfit(enum msg_type type, const struct msg_field *field,
                 struct err *err)
{
    bool counted = field->kind != FIELD_REAL && field->kind != FIELD_REALS;

    return counted ? err_set(err, ERR_INPUT, "%s.%s is over its limit of %lld",
                             msg_type_name(type), field->word->name,
                             (long long)field->word->max)
                   : err_set(err, ERR_INPUT, "%s.%s is out of range",
                             msg_type_name(type), field->word->name);
}

static void pack_text(msgpack_packer *pk, const char *text)
{
    size_t n = strlen(text);

    msgpack_pack_str(pk, n);
    msgpack_pack_str_body(pk, text, n);
}

static bool int_ok(int64_t v, const struct msg_field *field)
{
    return v >= (field->word->unknown_ok ? -1 : 0) && v <= field->word->max;
}

static bool real_ok(double v, const struct msg_field *field)
{
    if (isnan(v))
        return field->word->unknown_ok;
    return v >= 0 &&
           (field->word->max == MSG_ANY_SIZE || v <= (double)field->word->max);
}

/* Samples: a time is positive and finite. */
static bool reals_ok(const struct reals *reals, const struct msg_field *field)
{
    for (size_t i = 0; !field->word->unknown_ok && i < reals->n; i++)
        if (!(reals->items[i] > 0 && reals->items[i] < 1e9))
            return false;
    return (int64_t)reals->n <= field->word->max;
}

/* Returns false when the value is not one that get_value() would take. */
static bool pack_value(msgpack_packer *pk, const struct msg_field *field,
                       const void *at)
{
    const struct texts *texts = at;
    const struct blobs *blobs = at;
    const struct reals *reals = at;
    const struct bytes *bytes = at;
    const char *text;

    switch (field->kind) {
    case FIELD_INT:
        msgpack_pack_int64(pk, *(const int64_t *)at);
        return int_ok(*(const int64_t *)at, field);
    case FIELD_REAL:
        msgpack_pack_double(pk, *(const double *)at);
        return real_ok(*(const double *)at, field);
    case FIELD_TEXT:
        text = *(const char *const *)at ? *(const char *const *)at : "";
        pack_text(pk, text);
        return (int64_t)strlen(text) <= field->word->max;
    case FIELD_TEXTS:
        msgpack_pack_array(pk, texts->n);
        for (size_t i = 0; i < texts->n; i++)
            pack_text(pk, texts->items[i]);
        return (int64_t)texts->n <= field->word->max;
    case FIELD_BYTES:
        msgpack_pack_bin(pk, bytes->len);
        msgpack_pack_bin_body(pk, bytes->data, bytes->len);
        return (int64_t)bytes->len <= field->word->max;
    case FIELD_BLOBS:
        msgpack_pack_array(pk, blobs->n);
        for (size_t i = 0; i < blobs->n; i++) {
            msgpack_pack_bin(pk, blobs->items[i].len);
            msgpack_pack_bin_body(pk, blobs->items[i].data,
                                  blobs->items[i].len);
        }
        return (int64_t)blobs->n <= field->word->max;
    case FIELD_REALS:
        msgpack_pack_array(pk, reals->n);
        for (size_t i = 0; i < reals->n; i++)
            msgpack_pack_double(pk, reals->items[i]);
        return reals_ok(reals, field);
    }
    return false;
}

static int write_buf(void *to, const char *bytes, size_t len)
{
    return buf_add(to, bytes, len) ? 0 : -1;
}

static bool is_left_out(const struct msg *msg, const struct msg_field *field)
{
    const void *at = (const char *)msg + field->offset;
    const char *text;

    if (!field->optional)
        return false;
    if (field->kind == FIELD_TEXTS)
        return ((const struct texts *)at)->n == 0;
    if (field->kind == FIELD_INT)
        return *(const int64_t *)at == -1;
    assert(field->kind == FIELD_TEXT);
    text = *(const char *const *)at;
    return !text || !*text;
}

int msg_encode(const struct msg *msg, struct buf *out, struct err *err)
{
    const struct msg_field *field;
    msgpack_packer pk;
    size_t n = 0;

    for (size_t i = 0; (field = msg_fields_of(msg->type, i)); i++)
        n += !is_left_out(msg, field);
    msgpack_packer_init(&pk, out, write_buf);
    msgpack_pack_map(&pk, n + 2);
    pack_text(&pk, "t");
    pack_text(&pk, msg_type_name(msg->type));
    pack_text(&pk, "epoch");
    msgpack_pack_int64(&pk, msg->epoch);
    for (size_t i = 0; (field = msg_fields_of(msg->type, i)); i++) {
        if (is_left_out(msg, field))
            continue;
        pack_text(&pk, field->word->name);
        if (!pack_value(&pk, field, (const char *)msg + field->offset))
            return unfit(msg->type, field, err);
    }
    if (out->truncated)
        return err_set(err, ERR_INPUT, "%s: message over %zu bytes",
                       msg_type_name(msg->type), out->max);
    return 0;
}

static void *own(struct msg *msg, void *p)
{
    if ((msg->n_owned & (msg->n_owned + 1)) == 0) /* 0, 1, 3, 7, ... */
        msg->owned = mem_grow(msg->owned, 2 * msg->n_owned + 1, sizeof(void *));
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
                      const struct msg_field *field, struct texts *out)
{
    size_t n = o->via.array.size;
    const char **items;

    if (o->type != MSGPACK_OBJECT_ARRAY || (int64_t)n > field->word->max)
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
                      const struct msg_field *field, struct blobs *out)
{
    size_t n = o->via.array.size;
    struct bytes *items;

    if (o->type != MSGPACK_OBJECT_ARRAY || (int64_t)n > field->word->max)
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
                      const struct msg_field *field, struct reals *out)
{
    size_t n = o->via.array.size;
    double *items;

    if (o->type != MSGPACK_OBJECT_ARRAY || (int64_t)n > field->word->max)
        return false;
    items = own(msg, mem_new(n, sizeof(*items)));
    for (size_t i = 0; i < n; i++) {
        if (!get_real(&o->via.array.ptr[i], &items[i]))
            return false;
    }
    *out = (struct reals){ items, n };
    return reals_ok(out, field);
}

static bool get_value(struct msg *msg, const msgpack_object *o,
                      const struct msg_field *field)
{
    void *at = (char *)msg + field->offset;

    switch (field->kind) {
    case FIELD_INT:
        if (o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
            *(int64_t *)at = o->via.i64;
        else if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER &&
                 o->via.u64 <= INT64_MAX)
            *(int64_t *)at = (int64_t)o->via.u64;
        else
            return false;
        return int_ok(*(const int64_t *)at, field);
    case FIELD_REAL:
        return get_real(o, at) && real_ok(*(double *)at, field);
    case FIELD_TEXT:
        if (!is_text(o) || (int64_t)o->via.str.size > field->word->max)
            return false;
        *(const char **)at = own(msg, mem_dup(o->via.str.ptr, o->via.str.size));
        return true;
    case FIELD_BYTES:
        if (o->type != MSGPACK_OBJECT_BIN ||
            (int64_t)o->via.bin.size > field->word->max)
            return false;
        *(struct bytes *)at =
            (struct bytes){ own(msg, mem_dup(o->via.bin.ptr, o->via.bin.size)),
                            o->via.bin.size };
        return true;
    case FIELD_TEXTS:
        return get_texts(msg, o, field, at);
    case FIELD_BLOBS:
        return get_blobs(msg, o, field, at);
    case FIELD_REALS:
        return get_reals(msg, o, field, at);
    }
    return false;
}

/* The value of a key.  Most messages have their fields in our order, so it is
 * looked for after the last one first: 'at' is where. */
static const msgpack_object *find(const msgpack_object_map *map,
                                  const char *name, uint32_t *at)
{
    size_t len = strlen(name);

    for (uint32_t n = 0; n < map->size; n++) {
        uint32_t i = (*at + n) % map->size;
        const msgpack_object *key = &map->ptr[i].key;

        if (key->type != MSGPACK_OBJECT_STR || key->via.str.size != len ||
            memcmp(key->via.str.ptr, name, len) != 0)
            continue;
        *at = i + 1;
        return &map->ptr[i].val;
    }
    return NULL;
}

static int decode_type(const msgpack_object_map *map, uint32_t *at,
                       struct msg *out, struct err *err)
{
    const msgpack_object *type = find(map, "t", at);
    const msgpack_object *epoch = find(map, "epoch", at);

    if (!type || !is_text(type))
        return err_set(err, ERR_PROTO, "message without a type");
    for (int i = 0; i < MSG_TYPES; i++) {
        const char *name = msg_type_name((enum msg_type)i);

        if (strlen(name) != type->via.str.size ||
            memcmp(name, type->via.str.ptr, type->via.str.size) != 0)
            continue;
        if (!epoch || epoch->type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
            epoch->via.u64 > INT64_MAX)
            return err_set(err, ERR_PROTO, "%s.epoch is missing or wrong",
                           name);
        out->type = (enum msg_type)i;
        out->epoch = (int64_t)epoch->via.u64;
        return 0;
    }
    return err_set(err, ERR_PROTO, "unknown message type");
}

static void read_as_empty(struct msg *out, const struct msg_field *field)
{
    void *at = (char *)out + field->offset;

    if (field->kind == FIELD_TEXT)
        *(const char **)at = "";
    else if (field->kind == FIELD_INT)
        *(int64_t *)at = -1;
}

static int decode_map(const msgpack_object *root, struct msg *out,
                      struct err *err)
{
    const struct msg_field *field;
    const char *name;
    uint32_t at = 0;
    int rc;

    if (root->type != MSGPACK_OBJECT_MAP)
        return err_set(err, ERR_PROTO, "message is not a map");
    rc = decode_type(&root->via.map, &at, out, err);
    if (rc < 0)
        return rc;
    name = msg_type_name(out->type);
    for (size_t i = 0; (field = msg_fields_of(out->type, i)); i++) {
        const msgpack_object *o = find(&root->via.map, field->word->name, &at);

        if (!o && field->optional) {
            read_as_empty(out, field);
            continue;
        }
        if (!o)
            return err_set(err, ERR_PROTO, "%s.%s is missing", name,
                           field->word->name);
        if (!get_value(out, o, field))
            return err_set(err, ERR_PROTO,
                           "%s.%s has the wrong type or is out of range", name,
                           field->word->name);
    }
    return 0;
}

int msg_decode(const void *bytes, size_t len, struct msg *out, struct err *err)
{
    msgpack_unpacked unpacked;
    msgpack_unpack_return got;
    size_t used = 0;
    int rc;

    *out = (struct msg){ 0 };
    if (len > MSG_BYTES_MAX)
        return err_set(err, ERR_PROTO, "message of %zu bytes", len);
    if (!packed_counts_fit(bytes, len))
        return err_set(err, ERR_PROTO, "message is not one MessagePack object");
    msgpack_unpacked_init(&unpacked);
    errno = 0;
    got = msgpack_unpack_next(&unpacked, bytes, len, &used);
    /* Its own word for that also means nested too deeply. */
    if (got != MSGPACK_UNPACK_SUCCESS && errno == ENOMEM)
        mem_exhausted();
    if (got != MSGPACK_UNPACK_SUCCESS || used != len)
        rc = err_set(err, ERR_PROTO, "message is not one MessagePack object");
    else
        rc = decode_map(&unpacked.data, out, err);
    msgpack_unpacked_destroy(&unpacked);
    if (rc < 0)
        msg_fini(out);
    else
        out->bytes = len;
    return rc;
}

void msg_fini(struct msg *msg)
{
    for (size_t i = 0; i < msg->n_owned; i++)
        free(msg->owned[i]);
    free(msg->owned);
    *msg = (struct msg){ 0 };
}
