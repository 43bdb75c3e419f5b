#include "coordinator/config/config_stored.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/spec/spec_space.h"

/* Parts of the text; a value is as it is written, quotes included. */
struct member {
    const char *name, *value;
    size_t name_len, value_len;
};

struct members {
    struct member items[SPEC_AXES_MAX];
    size_t n;
};

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* Behind the text that begins at the quote, or NULL. */
static const char *end_of_text(const char *at)
{
    if (*at != '"')
        return NULL;
    for (at++; *at != '"'; at++)
        if ((unsigned char)*at < 0x20 || *at == '\\')
            return NULL;
    return at + 1;
}

/* Behind the value, or NULL.  A word that is no value of JSON has another key
 * than any configuration, so it need not be refused. */
static const char *end_of_value(const char *at)
{
    size_t len = strcspn(at, ",}\" \t\r\n");

    if (*at == '"')
        return end_of_text(at);
    return len > 0 ? at + len : NULL;
}

/* Behind the member, or NULL. */
static const char *take_member(const char *at, struct members *members)
{
    struct member *member = &members->items[members->n];
    const char *end = end_of_text(at);

    if (!end || members->n == SPEC_AXES_MAX)
        return NULL;
    member->name = at + 1;
    member->name_len = (size_t)(end - at) - 2;
    at = skip_blanks(end);
    if (*at != ':')
        return NULL;
    member->value = skip_blanks(at + 1);
    end = end_of_value(member->value);
    if (!end)
        return NULL;
    member->value_len = (size_t)(end - member->value);
    members->n++;
    return skip_blanks(end);
}

static bool take_members(const char *at, struct members *members)
{
    char after = '{';

    for (at = skip_blanks(at); at && *at == after; after = ',') {
        at = skip_blanks(at + 1);
        at = take_member(at, members);
    }
    return at && *at == '}' && *skip_blanks(at + 1) == '\0';
}

static int by_name(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    size_t len = x->name_len < y->name_len ? x->name_len : y->name_len;
    int order = memcmp(x->name, y->name, len);

    return order ? order
                 : (x->name_len > y->name_len) - (x->name_len < y->name_len);
}

bool config_stored_key(const char *params, char out[HASH_HEX])
{
    struct members members = { .n = 0 };
    struct hash hash;

    if (!take_members(params, &members))
        return false;
    qsort(members.items, members.n, sizeof(members.items[0]), by_name);
    for (size_t i = 1; i < members.n; i++)
        if (by_name(&members.items[i - 1], &members.items[i]) == 0)
            return false;
    hash_init(&hash);
    for (size_t i = 0; i < members.n; i++) {
        const struct member *member = &members.items[i];

        hash_add(&hash, member->name, member->name_len);
        hash_add(&hash, "=", 1);
        hash_add(&hash, member->value, member->value_len);
        hash_add(&hash, "\n", 1);
    }
    hash_end(&hash, out);
    return true;
}
