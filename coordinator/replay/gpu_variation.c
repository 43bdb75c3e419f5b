#include "coordinator/replay/gpu_variation.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/text/caret.h"
#include "coordinator/text/json.h"
#include "coordinator/text/suggest.h"

#define FILE_MAX (1 << 20)
#define FACTOR_LEAST 0.01
#define FACTOR_MOST 100.0
#define DRIFT_LEAST (-0.9)
#define DRIFT_MOST 10.0
#define OVER_MOST 1e9
#define GPU_MOST 999

struct card {
    char *host; /* NULL: any */
    int gpu;    /* -1: any */
    double factor, drift, over;
};

struct gpu_variation {
    struct card *list;
    size_t n;
};

struct reader {
    struct caret_text text;
    struct err *err;
};

static int read_number(const struct reader *r, const struct json *json,
                       double least, double most, double *out)
{
    if (json->kind != JSON_NUMBER || json->number < least ||
        json->number > most)
        return caret_text_err(
            r->err, &r->text, json->at,
            "factor is a ratio such as 1.08, drift a share such as 0.03, over "
            "a number of measurements, gpu an index",
            "'%s' is not a number from %g to %g", json->key, least, most);
    *out = json->number;
    return 0;
}

static int read_key(const struct reader *r, const struct json *json,
                    struct card *card)
{
    static const char *const keys[] = { "host", "gpu", "factor", "drift",
                                        "over" };
    const size_t n = sizeof(keys) / sizeof(keys[0]);
    const char *near;
    char why[120];
    double gpu = 0;
    int rc;

    if (strcmp(json->key, "host") == 0) {
        if (json->kind != JSON_TEXT)
            return caret_text_err(r->err, &r->text, json->at,
                                  "as it is written in hosts.txt",
                                  "'host' is %s", json_kind_name(json->kind));
        card->host = mem_strdup(json->text);
        return 0;
    }
    if (strcmp(json->key, "factor") == 0)
        return read_number(r, json, FACTOR_LEAST, FACTOR_MOST, &card->factor);
    if (strcmp(json->key, "drift") == 0)
        return read_number(r, json, DRIFT_LEAST, DRIFT_MOST, &card->drift);
    if (strcmp(json->key, "over") == 0)
        return read_number(r, json, 1, OVER_MOST, &card->over);
    if (strcmp(json->key, "gpu") == 0) {
        rc = read_number(r, json, 0, GPU_MOST, &gpu);
        if (rc == 0 && gpu != (int)gpu)
            return caret_text_err(r->err, &r->text, json->at,
                                  "as the host counts its GPUs, from 0",
                                  "'gpu' is not a whole number");
        card->gpu = rc < 0 ? -1 : (int)gpu;
        return rc;
    }
    near = suggest_name(json->key, strlen(json->key), keys, n);
    snprintf(why, sizeof(why),
             "the keys of a card are host, gpu, factor, drift and over%s%s%s",
             near ? "; did you mean '" : "", near ? near : "",
             near ? "'?" : "");
    return caret_text_err(r->err, &r->text, json->key_at, why,
                          "unknown key '%.64s'", json->key);
}

static int read_card(const struct reader *r, const struct json *json,
                     struct gpu_variation *variation)
{
    struct card *card = &variation->list[variation->n];

    if (json->kind != JSON_OBJECT)
        return caret_text_err(r->err, &r->text, json->at,
                              "as in { \"gpu\": 1, \"factor\": 1.08 }",
                              "a card is %s", json_kind_name(json->kind));
    *card = (struct card){ .gpu = -1, .factor = 1 };
    variation->n++;
    for (size_t i = 0; i < json->n; i++)
        if (read_key(r, &json->items[i], card) < 0)
            return ERR_INPUT;
    if (card->drift != 0 && card->over == 0)
        return caret_text_err(r->err, &r->text, json->at,
                              "give the number of measurements after which it "
                              "has drifted that far, as in \"over\": 200",
                              "a card with 'drift' needs 'over'");
    return 0;
}

static int read_root(const struct reader *r, const struct json *root,
                     struct gpu_variation *variation)
{
    const struct json *list =
        root->kind == JSON_OBJECT ? json_find(root, "cards") : NULL;

    if (!list || list->kind != JSON_ARRAY || root->n != 1)
        return caret_text_err(
            r->err, &r->text, root->at,
            "as in { \"cards\": [ { \"gpu\": 1, \"factor\": "
            "1.08 } ] }",
            "the file must be one object with only a list 'cards'");
    variation->list = mem_new(list->n, sizeof(*variation->list));
    for (size_t i = 0; i < list->n; i++)
        if (read_card(r, &list->items[i], variation) < 0)
            return ERR_INPUT;
    return 0;
}

static int read_file(const char *path, struct buf *out, struct err *err)
{
    FILE *file = fopen(path, "re");
    char chunk[4096];
    size_t n;
    int rc = 0;

    if (!file)
        return err_set(err, ERR_INPUT, "--cards=%s: %s", path, strerror(errno));
    while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0 && !out->truncated)
        buf_add(out, chunk, n);
    if (ferror(file))
        rc = err_set(err, ERR_INPUT, "--cards=%s: %s", path, strerror(errno));
    else if (out->truncated)
        rc = err_set(err, ERR_INPUT,
                     "--cards=%s: the file is larger than 1 MiB", path);
    fclose(file);
    return rc;
}

int gpu_variation_load(const char *path, struct gpu_variation **out,
                       struct err *err)
{
    struct gpu_variation *variation = mem_new(1, sizeof(*variation));
    struct json_doc *doc = NULL;
    struct reader reader = { .err = err };
    struct buf text;
    int rc;

    buf_init(&text, FILE_MAX);
    rc = read_file(path, &text, err);
    reader.text = (struct caret_text){ path, buf_text(&text), text.len };
    if (rc == 0)
        rc = json_parse(path, buf_text(&text), text.len, &doc, err);
    if (rc == 0)
        rc = read_root(&reader, json_root(doc), variation);
    json_free(doc);
    buf_fini(&text);
    if (rc < 0)
        gpu_variation_free(variation);
    else
        *out = variation;
    return rc;
}

void gpu_variation_free(struct gpu_variation *variation)
{
    if (!variation)
        return;
    for (size_t i = 0; i < variation->n; i++)
        free(variation->list[i].host);
    free(variation->list);
    free(variation);
}

static bool fits(const struct card *card, const char *host, int gpu)
{
    return (card->gpu < 0 || card->gpu == gpu) &&
           (!card->host || strcmp(card->host, host) == 0);
}

double gpu_variation_factor(const struct gpu_variation *variation,
                            const char *host, int gpu, long measured)
{
    for (size_t i = 0; variation && i < variation->n; i++) {
        const struct card *card = &variation->list[i];
        double part = card->over > 0 ? (double)measured / card->over : 0;

        if (fits(card, host, gpu))
            return card->factor * (1 + card->drift * (part < 1 ? part : 1));
    }
    return 1;
}
