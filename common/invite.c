#include "common/invite.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#define LINGER_MS_MAX (INT64_C(24) * 3600 * 1000)
#define Z85_DIGITS                                                   \
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
    ".-:+=^!/*?&<>()[]{}@%$#"

enum kind {
    FORM,
    KEY,
    NUMBER,
    HASH,
    TEXT,
    ENDPOINT
};

static const struct field {
    const char *name;
    enum kind kind;
    size_t offset;
    int64_t max; /* largest number, or bytes including the NUL */
} fields[] = {
    { "fa-invitation", FORM, 0, 0 },
    { "server_key", KEY, offsetof(struct invite, server_key), 0 },
    { "public_key", KEY, offsetof(struct invite, public_key), 0 },
    { "secret_key", KEY, offsetof(struct invite, secret_key), 0 },
    { "epoch", NUMBER, offsetof(struct invite, epoch), INT64_MAX },
    { "linger_ms", NUMBER, offsetof(struct invite, linger_ms), LINGER_MS_MAX },
    { "owner", HASH, offsetof(struct invite, owner.id), 0 },
    { "command", HASH, offsetof(struct invite, owner.command), 0 },
    { "user", TEXT, offsetof(struct invite, owner.user), OWNER_NAME_BYTES },
    { "machine", TEXT, offsetof(struct invite, owner.machine),
      OWNER_NAME_BYTES },
    { "pid", NUMBER, offsetof(struct invite, owner.pid), INT32_MAX },
    { "database", TEXT, offsetof(struct invite, owner.database),
      OWNER_PATH_BYTES },
    { "since", NUMBER, offsetof(struct invite, owner.since_utc), INT64_MAX },
    { "endpoint", ENDPOINT, offsetof(struct invite, endpoint), 0 },
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

size_t invite_write(const struct invite *invite, char out[INVITE_BYTES_MAX])
{
    const struct owner *owner = &invite->owner;

    return (size_t)snprintf(
        out, INVITE_BYTES_MAX,
        "fa-invitation 1\nserver_key %s\npublic_key %s\nsecret_key %s\n"
        "epoch %lld\nlinger_ms %lld\nowner %s\ncommand %s\nuser %s\nmachine "
        "%s\n"
        "pid %lld\ndatabase %s\nsince %lld\nendpoint %s\n\n",
        invite->server_key, invite->public_key, invite->secret_key,
        (long long)invite->epoch, (long long)invite->linger_ms, owner->id,
        owner->command, owner->user, owner->machine, (long long)owner->pid,
        owner->database, (long long)owner->since_utc, invite->endpoint);
}

int invite_end(const char *bytes, size_t len, struct err *err)
{
    const char *end = memmem(bytes, len, "\n\n", 2);

    if (end && end + 2 - bytes < INVITE_BYTES_MAX)
        return (int)(end + 2 - bytes);
    if (len >= INVITE_BYTES_MAX)
        return err_set(err, ERR_PROTO, "no invitation in %d bytes",
                       INVITE_BYTES_MAX);
    return 0;
}

static bool get_key(const char *value, size_t len, char *to)
{
    if (len != CURVE_KEY_BYTES - 1)
        return false;
    for (size_t i = 0; i < len; i++)
        if (!memchr(Z85_DIGITS, value[i], sizeof(Z85_DIGITS) - 1))
            return false;
    memcpy(to, value, len);
    to[len] = '\0';
    return true;
}

static bool get_number(const char *value, size_t len, int64_t max, int64_t *to)
{
    int64_t n = 0;

    if (len == 0 || len > 19)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (value[i] < '0' || value[i] > '9')
            return false;
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, value[i] - '0', &n))
            return false;
    }
    *to = n;
    return n <= max;
}

static bool get_hash(const char *value, size_t len, char *to)
{
    if (len != HASH_HEX - 1)
        return false;
    memcpy(to, value, len);
    to[len] = '\0';
    return hash_is_hex(to);
}

static bool get_text(const char *value, size_t len, int64_t max, char *to)
{
    if ((int64_t)len >= max)
        return false;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)value[i] < ' ' || value[i] == 0x7f)
            return false;
    memcpy(to, value, len);
    to[len] = '\0';
    return true;
}

static bool starts(const char *value, size_t len, const char *with)
{
    return len > strlen(with) && memcmp(value, with, strlen(with)) == 0;
}

static bool get_endpoint(const char *value, size_t len, char *to)
{
    if (len >= INVITE_ENDPOINT_BYTES)
        return false;
    for (size_t i = 0; i < len; i++)
        if (value[i] <= ' ' || value[i] > '~')
            return false;
    memcpy(to, value, len);
    to[len] = '\0';
    return strcmp(to, INVITE_RELAY) == 0 || starts(value, len, "tcp://") ||
           starts(value, len, "ipc://");
}

static bool get(const struct field *field, const char *value, size_t len,
                struct invite *out)
{
    void *to = (char *)out + field->offset;

    switch (field->kind) {
    case FORM:
        return len == 1 && value[0] == '1';
    case KEY:
        return get_key(value, len, to);
    case NUMBER:
        return get_number(value, len, field->max, to);
    case HASH:
        return get_hash(value, len, to);
    case TEXT:
        return get_text(value, len, field->max, to);
    case ENDPOINT:
        return get_endpoint(value, len, to);
    }
    return false;
}

/* The field that a line is for, or -1. '*value' is the text after its space. */
static int match(const char *line, size_t len, const char **value)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        size_t n = strlen(fields[i].name);

        if (len > n && line[n] == ' ' && memcmp(line, fields[i].name, n) == 0) {
            *value = line + n + 1;
            return (int)i;
        }
    }
    return -1;
}

static int parse(const char *at, size_t len, struct invite *out,
                 struct err *err)
{
    const char *end = at + len, *value, *eol;
    unsigned seen = 0;

    for (int n = 1; at < end; n++, at = eol + 1) {
        int i;

        eol = memchr(at, '\n', (size_t)(end - at));
        if (!eol)
            return err_set(err, ERR_INPUT, "invitation: line %d is cut off", n);
        if (eol == at)
            break;
        i = match(at, (size_t)(eol - at), &value);
        if (i < 0)
            return err_set(err, ERR_INPUT,
                           "invitation: line %d has an unknown key", n);
        if (seen & 1u << i)
            return err_set(err, ERR_INPUT, "invitation: '%s' is given twice",
                           fields[i].name);
        if (!get(&fields[i], value, (size_t)(eol - value), out))
            return err_set(err, ERR_INPUT,
                           "invitation: the value of '%s' is malformed",
                           fields[i].name);
        seen |= 1u << i;
    }
    for (size_t i = 0; i < N_FIELDS; i++)
        if (!(seen & 1u << i))
            return err_set(err, ERR_INPUT, "invitation: '%s' is missing",
                           fields[i].name);
    return 0;
}

int invite_parse(const char *bytes, size_t len, struct invite *out,
                 struct err *err)
{
    int rc;

    *out = (struct invite){ 0 };
    rc = parse(bytes, len, out, err);
    if (rc < 0)
        invite_wipe(out);
    return rc;
}

void invite_address(const struct invite *invite,
                    char out[INVITE_ENDPOINT_BYTES])
{
    size_t len = strcspn(invite->endpoint, ",");

    memcpy(out, invite->endpoint, len);
    out[len] = '\0';
}

bool invite_next_address(struct invite *invite)
{
    char first[INVITE_ENDPOINT_BYTES];
    size_t len = strlen(invite->endpoint), rest;

    invite_address(invite, first);
    if (strlen(first) == len)
        return false;
    rest = len - strlen(first) - 1;
    memmove(invite->endpoint, invite->endpoint + strlen(first) + 1, rest);
    invite->endpoint[rest] = ',';
    memcpy(invite->endpoint + rest + 1, first, strlen(first));
    return true;
}

void invite_wipe(struct invite *invite)
{
    sodium_memzero(invite, sizeof(*invite));
}
