#include <stdbool.h>

#include "coordinator/lessons/lessons.h"
#include "coordinator/lessons/lessons_print.h"
#include "coordinator/text/json_out.h"

static void put_values(struct json_out *out,
                       const struct lessons_tunable *tunable)
{
    json_out_open(out, "values", '[');
    for (size_t v = 0; v < tunable->n; v++) {
        json_out_open(out, NULL, '{');
        json_out_text(out, "value", tunable->values[v].text);
        json_out_real(out, "best_s", tunable->values[v].best_s);
        json_out_real(out, "median_s", tunable->values[v].median_s);
        json_out_int(out, "timed", (int64_t)tunable->values[v].timed);
        json_out_int(out, "failed", (int64_t)tunable->values[v].failed);
        json_out_close(out);
    }
    json_out_close(out);
}

static void put_tunables(struct json_out *out, const struct lessons *lessons)
{
    json_out_open(out, "tunables", '[');
    for (size_t a = 0; a < lessons->n_tunables; a++) {
        const struct lessons_tunable *tunable = &lessons->tunables[a];

        json_out_open(out, NULL, '{');
        json_out_text(out, "tunable", tunable->name);
        if (lessons->importance.sd > 0)
            json_out_real(out, "share", tunable->share);
        else
            json_out_null(out, "share");
        if (tunable->dead == DEAD_TUNABLES_UNKNOWN)
            json_out_null(out, "dead");
        else
            json_out_bool(out, "dead", tunable->dead == DEAD_TUNABLES_YES);
        if (tunable->best < tunable->n)
            json_out_text(out, "best", tunable->values[tunable->best].text);
        else
            json_out_null(out, "best");
        put_values(out, tunable);
        json_out_close(out);
    }
    json_out_close(out);
}

static void put_pairs(struct json_out *out, const struct lessons *lessons)
{
    json_out_open(out, "pairs", '[');
    for (size_t i = 0; i < lessons->importance.n_pairs; i++) {
        const struct importance_pair *pair = &lessons->importance.pairs[i];

        json_out_open(out, NULL, '{');
        json_out_open(out, "tunables", '[');
        json_out_text(out, NULL, lessons->tunables[pair->a].name);
        json_out_text(out, NULL, lessons->tunables[pair->b].name);
        json_out_close(out);
        json_out_real(out, "share", pair->share);
        json_out_close(out);
    }
    json_out_close(out);
}

static void put_terms(struct json_out *out, const struct lessons *lessons,
                      const char *key, const struct failure_pattern_term *terms,
                      size_t n)
{
    json_out_open(out, key, '[');
    for (size_t t = 0; t < n; t++) {
        const struct lessons_tunable *tunable =
            &lessons->tunables[terms[t].axis];

        json_out_open(out, NULL, '{');
        json_out_text(out, "tunable", tunable->name);
        json_out_open(out, "values", '[');
        for (size_t v = 0; v < terms[t].n; v++)
            json_out_text(out, NULL, tunable->values[terms[t].levels[v]].text);
        json_out_close(out);
        json_out_close(out);
    }
    json_out_close(out);
}

static void put_failures(struct json_out *out, const struct lessons *lessons)
{
    json_out_open(out, "failures", '[');
    for (size_t i = 0; i < lessons->n_failures; i++) {
        const struct lessons_failure *failure = &lessons->failures[i];
        const struct failure_pattern *common = &failure->common;

        json_out_open(out, NULL, '{');
        json_out_text(out, "outcome", failure->outcome);
        json_out_text(out, "reason", failure->reason);
        json_out_int(out, "failures", (int64_t)common->failures);
        put_terms(out, lessons, "shared", common->terms, common->n_terms);
        json_out_int(out, "right", (int64_t)common->right);
        json_out_int(out, "right_sharing", (int64_t)common->right_sharing);
        put_terms(out, lessons, "unvaried", common->unvaried,
                  common->n_unvaried);
        put_terms(out, lessons, "part", common->part, common->n_part);
        json_out_int(out, "part_failures", (int64_t)common->part_failures);
        json_out_close(out);
    }
    json_out_close(out);
}

static void put_gates(struct json_out *out, const struct lessons *lessons)
{
    json_out_open(out, "gates", '[');
    for (size_t g = 0; g < lessons->n_gates; g++) {
        const struct lessons_gate *gate = &lessons->gates[g];

        json_out_open(out, NULL, '{');
        json_out_text(out, "gate", gate->name);
        json_out_int(out, "warned", (int64_t)gate->warned);
        json_out_int(out, "timed", (int64_t)gate->timed);
        json_out_int(out, "failed", (int64_t)gate->failed);
        json_out_int(out, "others_timed", (int64_t)gate->others_timed);
        json_out_int(out, "others_failed", (int64_t)gate->others_failed);
        json_out_real(out, "median_s", gate->median_s);
        json_out_real(out, "others_median_s", gate->others_median_s);
        json_out_real(out, "slower", gate->slower);
        json_out_real(out, "p", gate->p);
        if (gate->truth == LESSONS_UNSEEN)
            json_out_null(out, "came_true");
        else
            json_out_bool(out, "came_true", gate->truth == LESSONS_TRUE);
        if (gate->best_rank)
            json_out_int(out, "best_rank", (int64_t)gate->best_rank);
        else
            json_out_null(out, "best_rank");
        json_out_close(out);
    }
    json_out_close(out);
}

void lessons_json(const struct lessons *lessons, struct json_out *out,
                  const char *key)
{
    json_out_open(out, key, '{');
    json_out_int(out, "timed", (int64_t)lessons->timed);
    json_out_int(out, "failed", (int64_t)lessons->failed);
    json_out_int(out, "pending", (int64_t)lessons->pending);
    json_out_real(out, "sd_log_time", lessons->importance.sd);
    json_out_bool(out, "adjusted", lessons->importance.adjusted);
    put_tunables(out, lessons);
    put_pairs(out, lessons);
    json_out_real(out, "rest", lessons->importance.rest);
    json_out_int(out, "built", (int64_t)lessons->built);
    json_out_int(out, "codes", (int64_t)lessons->codes);
    put_failures(out, lessons);
    json_out_int(out, "other_failures", (int64_t)lessons->other_failures);
    put_gates(out, lessons);
    json_out_close(out);
}
