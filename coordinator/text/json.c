/* The strict pass finds what cJSON 1.7.15 would accept (007, invalid UTF-8,
 * duplicate keys, text after a NUL) and where each value starts.  cJSON
 * decodes.  The two results are joined value by value, since both are in file
 * order. */
#include "coordinator/text/json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/text/json_scan.h"

struct json_doc {
    cJSON *tree; /* owns the texts */
    struct json root;
};

/* The place to assign to the next value. */
struct joint {
    const struct json_scan *scan;
    size_t next;
};

static void join(struct joint *joint, const cJSON *item, struct json *out)
{
    const struct json_place *place = &joint->scan->places[joint->next++];
    const cJSON *child;
    size_t i = 0;

    *out = (struct json){ .kind = JSON_NULL,
                          .at = place->at,
                          .key = item->string,
                          .key_at = place->key_at };
    if (cJSON_IsBool(item)) {
        out->kind = JSON_BOOL;
        out->truth = cJSON_IsTrue(item);
    } else if (cJSON_IsNumber(item)) {
        out->kind = JSON_NUMBER;
        out->whole = place->whole;
        out->number = item->valuedouble;
    } else if (cJSON_IsString(item)) {
        out->kind = JSON_TEXT;
        out->text = item->valuestring;
    } else if (cJSON_IsArray(item) || cJSON_IsObject(item)) {
        out->kind = cJSON_IsArray(item) ? JSON_ARRAY : JSON_OBJECT;
        for (child = item->child; child; child = child->next)
            out->n++;
        out->items = mem_new(out->n ? out->n : 1, sizeof(*out->items));
        for (child = item->child; child; child = child->next)
            join(joint, child, &out->items[i++]);
    }
}

struct key {
    const char *name;
    size_t at;
};

static int by_name(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int check_keys(const struct caret_text *source,
                      const struct json *object, struct err *err)
{
    struct key *keys = mem_new(object->n + 1, sizeof(*keys));
    int rc = 0;

    for (size_t i = 0; i < object->n; i++)
        keys[i] = (struct key){ object->items[i].key, object->items[i].key_at };
    qsort(keys, object->n, sizeof(*keys), by_name);
    for (size_t i = 1; i < object->n && rc == 0; i++) {
        char why[80];

        if (strcmp(keys[i - 1].name, keys[i].name) != 0)
            continue;
        snprintf(why, sizeof(why), "the first one is on line %d",
                 caret_line_number(source, keys[i - 1].at));
        rc = caret_text_err(err, source, keys[i].at, why,
                            "'%.64s' is given twice", keys[i].name);
    }
    free(keys);
    return rc;
}

static int check_all_keys(const struct caret_text *source,
                          const struct json *json, struct err *err)
{
    int rc = json->kind == JSON_OBJECT ? check_keys(source, json, err) : 0;

    for (size_t i = 0; i < json->n && rc == 0; i++)
        rc = check_all_keys(source, &json->items[i], err);
    return rc;
}

static void fini(struct json *json)
{
    for (size_t i = 0; i < json->n; i++)
        fini(&json->items[i]);
    free(json->items);
}

static int decode(const struct json_scan *scan, struct json_doc **out,
                  struct err *err)
{
    struct json_doc *doc;
    struct joint joint = { .scan = scan };
    cJSON *tree = cJSON_ParseWithLength(scan->plain, scan->source.len + 1);
    int rc;

    if (!tree) /* what it could refuse has not come so far */
        mem_exhausted();
    doc = mem_new(1, sizeof(*doc));
    doc->tree = tree;
    join(&joint, tree, &doc->root);
    rc = check_all_keys(&scan->source, &doc->root, err);
    if (rc < 0)
        json_free(doc);
    else
        *out = doc;
    return rc;
}

int json_parse(const char *file, const char *text, size_t len,
               struct json_doc **out, struct err *err)
{
    struct json_scan scan = { .source = { file, text, len } };
    int rc;

    *out = NULL;
    if (len > JSON_BYTES_MAX)
        return err_set(err, ERR_INPUT,
                       "%s: the file has %zu bytes, more than 8 MiB", file,
                       len);
    rc = json_scan(&scan, err);
    if (rc == 0)
        rc = decode(&scan, out, err);
    free(scan.places);
    free(scan.plain);
    return rc;
}

void json_free(struct json_doc *doc)
{
    if (!doc)
        return;
    fini(&doc->root);
    cJSON_Delete(doc->tree);
    free(doc);
}

const struct json *json_root(const struct json_doc *doc)
{
    return &doc->root;
}

const struct json *json_find(const struct json *object, const char *key)
{
    for (size_t i = 0; i < object->n; i++)
        if (object->items[i].key && strcmp(object->items[i].key, key) == 0)
            return &object->items[i];
    return NULL;
}

const char *json_kind_name(enum json_kind kind)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",       [JSON_BOOL] = "true or false",
        [JSON_NUMBER] = "a number", [JSON_TEXT] = "a text",
        [JSON_ARRAY] = "a list",    [JSON_OBJECT] = "an object",
    };

    return names[kind];
}
