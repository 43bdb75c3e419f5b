/* External baselines: commands that measure other software. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/msg_work.h"
#include "coordinator/source/identifier.h"
#include "coordinator/spec/spec_internal.h"
#include "coordinator/text/suggest.h"

#define ARGUMENT_MAX 4096 /* bytes */

static const char *const keys[] = { "name",   "command", "files", "timeout_s",
                                    "blocks", "samples", "ask" };

size_t spec_placeholder(const char *text, size_t *len)
{
    for (const char *at = text; (at = strchr(at, '{')); at++) {
        const char *end = at + 1;

        while (isalnum((unsigned char)*end) || *end == '_')
            end++;
        if (*end == '}' && end > at + 1 && !isdigit((unsigned char)at[1])) {
            *len = (size_t)(end - at) + 1;
            return (size_t)(at - text);
        }
    }
    *len = 0;
    return strlen(text);
}

static int check_placeholder(const struct reader *r, size_t at,
                             const char *name, size_t len)
{
    const struct spec *spec = r->spec;
    const char *words[SPEC_VARS_MAX + 1], *near;
    char why[160];
    size_t n = 0;

    for (; n < spec->shapes.n_vars; n++)
        words[n] = spec->shapes.vars[n];
    words[n++] = SPEC_SAMPLES;
    for (size_t i = 0; i < n; i++)
        if (strlen(words[i]) == len && memcmp(words[i], name, len) == 0)
            return 0;
    near = suggest_name(name, len, words, n);
    snprintf(why, sizeof(why),
             "a shape variable or {" SPEC_SAMPLES "} may stand in braces%s%s%s",
             near ? "; did you mean {" : "", near ? near : "",
             near ? "}?" : "");
    return spec_read_flaw(r, at, why, "there is no shape variable '%.*s'",
                          (int)(len < SPEC_NAME_MAX ? len : SPEC_NAME_MAX),
                          name);
}

static int check_argument(const struct reader *r, const struct json *json)
{
    const char *text = json->text;
    size_t len;

    if (strlen(text) > ARGUMENT_MAX)
        return spec_read_flaw(r, json->at, "at most 4,096 bytes",
                              "this argument is too long");
    for (text += spec_placeholder(text, &len); len;
         text += spec_placeholder(text, &len)) {
        if (check_placeholder(r, json->at, text + 1, len - 2) < 0)
            return ERR_INPUT;
        text += len;
    }
    return 0;
}

/* The program as a worker looks it up: not a path relative to its folder. */
static int check_program(const struct reader *r, const struct json *json)
{
    size_t len;

    (void)spec_placeholder(json->text, &len);
    if (len)
        return spec_read_flaw(
            r, json->at, "only arguments may have placeholders",
            "the program '%.64s' has a placeholder", json->text);
    if (!*json->text || (strchr(json->text, '/') && json->text[0] != '/'))
        return spec_read_flaw(
            r, json->at,
            "name a program in the worker's PATH, or write a path from the "
            "root; pass files of this folder as arguments, as in [\"python3\", "
            "\"measure.py\"]",
            "'%.64s' cannot be the program", json->text);
    return 0;
}

static int read_command(struct reader *r, const struct json *object,
                        struct spec_external *out)
{
    const struct json *list;

    if (spec_read_member(r, object, "command", JSON_ARRAY, true, &list) < 0)
        return ERR_INPUT;
    if (list->n < 1 || list->n > MSG_COMMAND_MAX)
        return spec_read_flaw(
            r, list->at,
            "write a program and its arguments, at most 64 together",
            "there are %zu of them", list->n);
    out->command = mem_new(list->n, sizeof(*out->command));
    for (size_t i = 0; i < list->n; i++) {
        const struct json *item = &list->items[i];

        if (item->kind != JSON_TEXT)
            return spec_read_flaw(
                r, item->at, "arguments are texts, numbers too: \"100\"",
                "an argument is %s", json_kind_name(item->kind));
        if (check_argument(r, item) < 0 ||
            (i == 0 && check_program(r, item) < 0))
            return ERR_INPUT;
        out->command[out->n_command++] = mem_strdup(item->text);
    }
    return 0;
}

/* A question has the arguments of one run. */
static int read_ask(struct reader *r, const struct json *object,
                    struct spec_external *out)
{
    const struct json *list;
    size_t bytes = 0;

    if (spec_read_member(r, object, "ask", JSON_ARRAY, false, &list) < 0)
        return ERR_INPUT;
    if (!list)
        return 0;
    if (list->n < 1 || list->n > MSG_COMMAND_MAX)
        return spec_read_flaw(r, list->at,
                              "write 1 to 64 texts, as in [\"{samples}\", "
                              "\"{N}\"]",
                              "there are %zu of them", list->n);
    out->ask = mem_new(list->n, sizeof(*out->ask));
    for (size_t i = 0; i < list->n; i++) {
        const struct json *item = &list->items[i];

        if (item->kind != JSON_TEXT)
            return spec_read_flaw(
                r, item->at, "they are texts, numbers too: \"100\"",
                "a part of the question is %s", json_kind_name(item->kind));
        if (check_argument(r, item) < 0)
            return ERR_INPUT;
        bytes += strlen(item->text);
        out->ask[out->n_ask++] = mem_strdup(item->text);
    }
    if (bytes > SPEC_EXTERNAL_ASK_MAX)
        return spec_read_flaw(r, list->at,
                              "put what is always the same into "
                              "'command'; at most 500 bytes",
                              "this question has %zu bytes", bytes);
    return 0;
}

/* The same rules as for a source, and no part of the path is hidden. */
static const char *file_flaw(const char *path)
{
    const char *flaw = identifier_path_flaw(path);

    if (!flaw && (*path == '.' || strstr(path, "/.")))
        flaw = "no part of a path may begin with a dot";
    return flaw;
}

static int read_files(struct reader *r, const struct json *object,
                      struct spec_external *out)
{
    const struct json *list;

    if (spec_read_member(r, object, "files", JSON_ARRAY, false, &list) < 0)
        return ERR_INPUT;
    if (!list)
        return 0;
    if (list->n > SPEC_LIST_MAX)
        return spec_read_flaw(r, list->at, "at most 64", "there are %zu files",
                              list->n);
    out->files = mem_new(list->n + 1, sizeof(*out->files));
    out->files_at = mem_new(list->n + 1, sizeof(*out->files_at));
    for (size_t i = 0; i < list->n; i++) {
        const struct json *item = &list->items[i];

        if (spec_read_text(r, item, file_flaw, "the file", &out->files[i]) < 0)
            return ERR_INPUT;
        out->files_at[out->n_files++] = item->at;
        for (size_t j = 0; j < i; j++)
            if (strcmp(out->files[j], out->files[i]) == 0)
                return spec_read_flaw(r, item->at, "name it once",
                                      "'%s' is listed twice", item->text);
    }
    return 0;
}

static int read_name(struct reader *r, const struct json *object,
                     struct spec_external *out)
{
    const struct spec_externals *externals = &r->spec->externals;
    const struct json *name;

    if (spec_read_member(r, object, "name", JSON_TEXT, true, &name) < 0 ||
        spec_read_text(r, name, identifier_label_flaw, "name", &out->name) < 0)
        return ERR_INPUT;
    for (size_t i = 0; i < externals->n; i++)
        if (&externals->list[i] != out &&
            strcmp(externals->list[i].name, out->name) == 0)
            return spec_read_flaw(r, name->at,
                                  "reports and databases tell external "
                                  "baselines apart by their names",
                                  "two external baselines are called '%s'",
                                  out->name);
    return 0;
}

static int read_one(struct reader *r, const struct json *object,
                    struct spec_external *out)
{
    int64_t blocks = SPEC_EXTERNAL_BLOCKS, samples = SPEC_EXTERNAL_SAMPLES;

    out->timeout_s = SPEC_EXTERNAL_TIMEOUT_S;
    if (spec_read_object(r, object, "'external_baseline'", keys,
                         sizeof(keys) / sizeof(keys[0])) < 0 ||
        read_name(r, object, out) < 0 || read_command(r, object, out) < 0 ||
        read_ask(r, object, out) < 0 || read_files(r, object, out) < 0 ||
        spec_read_real(r, object, "timeout_s", 1, 3600, &out->timeout_s) < 0 ||
        spec_read_whole(r, object, "blocks", 1, 1000, &blocks) < 0 ||
        spec_read_whole(r, object, "samples", 1, SPEC_SAMPLES_MAX, &samples) <
            0)
        return ERR_INPUT;
    out->blocks = (int)blocks;
    out->samples = (int)samples;
    return 0;
}

int spec_read_external(struct reader *r, const struct json *root)
{
    struct spec_externals *out = &r->spec->externals;
    const struct json *json = json_find(root, "external_baseline");
    bool list = json && json->kind == JSON_ARRAY;
    size_t n = list ? json->n : 1;

    if (!json)
        return 0;
    if (list && n > SPEC_EXTERNALS_MAX)
        return spec_read_flaw(r, json->at, "at most 8",
                              "there are %zu external baselines", n);
    out->list = mem_new(n + 1, sizeof(*out->list));
    for (size_t i = 0; i < n; i++) {
        const struct json *item = list ? &json->items[i] : json;

        if (item->kind != JSON_OBJECT)
            return spec_read_flaw(
                r, item->at,
                "write an object with a name and a command, or a list of them",
                "%s is %s",
                list ? "an external baseline" : "'external_baseline'",
                json_kind_name(item->kind));
        out->n++;
        if (read_one(r, item, &out->list[i]) < 0)
            return ERR_INPUT;
    }
    return 0;
}
