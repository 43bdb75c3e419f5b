#include "coordinator/problem/t1_member.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "coordinator/text/json.h"

/* What early versions of BAT call them. */
static const struct {
    const char *name, *older;
} older_names[] = {
    { "Conditions", "constraints" }, { "LocalSize", "blockSize" },
    { "GlobalSize", "gridSize" },    { "Size", "length" },
    { "FillValue", "value" },
};

bool t1_same_key(const char *key, const char *other)
{
    for (;; key++, other++) {
        key += strspn(key, "_");
        other += strspn(other, "_");
        if (tolower((unsigned char)*key) != tolower((unsigned char)*other))
            return false;
        if (!*key)
            return true;
    }
}

static const struct json *find_alike(const struct json *object, const char *key)
{
    for (size_t i = 0; i < object->n; i++)
        if (t1_same_key(object->items[i].key, key))
            return &object->items[i];
    return NULL;
}

const struct json *t1_member(const struct json *object, const char *key)
{
    const struct json *found;

    if (!object || object->kind != JSON_OBJECT)
        return NULL;
    found = json_find(object, key);
    if (!found)
        found = find_alike(object, key);
    for (size_t i = 0;
         !found && i < sizeof(older_names) / sizeof(older_names[0]); i++)
        if (strcmp(older_names[i].name, key) == 0)
            found = find_alike(object, older_names[i].older);
    return found;
}

const char *t1_text(const struct json *value)
{
    return value && value->kind == JSON_TEXT ? value->text : NULL;
}

bool t1_is_text(const struct json *value, const char *text)
{
    return t1_text(value) && strcasecmp(value->text, text) == 0;
}
