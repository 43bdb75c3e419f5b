/* How the finalists are confirmed, and what counts as success. */
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/spec/spec_internal.h"
#include "coordinator/text/suggest.h"

/* The rule is against the baseline, or against an external one by its name. */
static int read_against(struct reader *r, const struct json *confirm)
{
    const struct spec_externals *externals = &r->spec->externals;
    const char *names[SPEC_EXTERNALS_MAX], *near;
    const struct json *json;
    char why[200];

    if (spec_read_member(r, confirm, "against", JSON_TEXT, false, &json) < 0)
        return ERR_INPUT;
    if (!json)
        return 0;
    for (size_t i = 0; i < externals->n; i++) {
        names[i] = externals->list[i].name;
        if (strcmp(names[i], json->text) == 0)
            r->spec->confirm.against = names[i];
    }
    if (r->spec->confirm.against)
        return 0;
    near = suggest_name(json->text, strlen(json->text), names, externals->n);
    snprintf(why, sizeof(why),
             "write the name of an external baseline, or leave 'against' out: "
             "then the rule is against the baseline%s%s%s",
             near ? "; did you mean '" : "", near ? near : "",
             near ? "'?" : "");
    return spec_read_flaw(r, json->at, why,
                          "there is no external baseline '%.64s'", json->text);
}

/* With 3.5 times as many blocks as a bench has, a gap of twice the floor is
 * found at 1 % noise (docs/statistics.md). */
#define CAP_HALVES 7

static int read_looks(struct reader *r, const struct json *json,
                      struct spec_confirm *out)
{
    out->blocks_max = CAP_HALVES * out->blocks / 2;
    if (spec_read_whole(r, json, "blocks_max", 2, 4000, &out->blocks_max) < 0)
        return ERR_INPUT;
    return spec_read_whole(r, json, "blocks_group", 1, 4000,
                           &out->blocks_group);
}

int spec_read_confirm(struct reader *r, const struct json *root)
{
    static const char *const keys[] = {
        "blocks",        "samples", "floor",      "target_speedup", "alpha",
        "finalists_max", "fuzz",    "blocks_max", "blocks_group",   "against"
    };
    struct spec_confirm *out = &r->spec->confirm;
    const struct json *json = json_find(root, "confirm"), *fuzz;

    if (!json)
        return 0;
    if (json->kind == JSON_BOOL && !json->truth) {
        out->off = true;
        return 0;
    }
    if (json->kind != JSON_OBJECT)
        return spec_read_flaw(
            r, json->at,
            "write an object, as in { \"blocks\": 20 }, or false for no "
            "confirmation",
            "'confirm' is %s",
            json->kind == JSON_BOOL ? "true" : json_kind_name(json->kind));
    if (spec_read_object(r, json, "'confirm'", keys,
                         sizeof(keys) / sizeof(keys[0])) < 0 ||
        spec_read_whole(r, json, "blocks", 2, 1000, &out->blocks) < 0 ||
        read_looks(r, json, out) < 0 ||
        spec_read_whole(r, json, "samples", 1, 1000, &out->samples) < 0 ||
        spec_read_real(r, json, "floor", 0, 1, &out->floor) < 0 ||
        spec_read_real(r, json, "target_speedup", 1, 1000, &out->target) < 0 ||
        spec_read_real(r, json, "alpha", 1e-6, 0.5, &out->alpha) < 0 ||
        spec_read_whole(r, json, "finalists_max", 1, 1000,
                        &out->finalists_max) < 0 ||
        read_against(r, json) < 0 ||
        spec_read_member(r, json, "fuzz", JSON_BOOL, false, &fuzz) < 0)
        return ERR_INPUT;
    out->unproved = fuzz && !fuzz->truth;
    return 0;
}
