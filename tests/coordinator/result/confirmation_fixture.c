#include "tests/coordinator/result/confirmation_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_print.h"
#include "coordinator/conclusion/winner.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/store/store.h"
#include "coordinator/text/json_out.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

const char *const scene_keys[4] = { REPORT_BASELINE, REPORT_FASTER,
                                    REPORT_PENDING, REPORT_WRONG };

static void ok(int rc, const struct err *err)
{
    if (rc < 0)
        fail_msg("%s", err->text);
}

double scene_wobble(int block, size_t candidate, int sample)
{
    unsigned x = (unsigned)block * 7919u + (unsigned)candidate * 104729u +
                 (unsigned)sample * 1299709u;

    x = (x ^ x >> 13) * 0x5bd1e995u;
    return 1 + 0.004 * ((double)(x >> 8 & 0xffff) / 65535 - 0.5);
}

const char *scene_gpu(const struct scene *scene, int block)
{
    return block % scene->n_gpus ? "GPU-2" : "GPU-1";
}

static void put_at(struct scene *scene, size_t shape, int block,
                   size_t candidate, const char *outcome)
{
    char *nonce =
        mem_printf("x%lld-%d-%zu-%zu", (long long)scene->confirmation.pass,
                   block, candidate, shape);
    double ms = shape ? scene->odd[candidate] : scene->times[candidate];
    struct store_result result = fixture_result(nonce, scene_keys[candidate]);
    double samples[5];
    struct err err = { "" };

    for (int i = 0; i < 5; i++)
        samples[i] = 1e-3 * ms * scene_wobble(block, candidate, i);
    result.id.shape = scene->confirmation.shapes[shape].name;
    result.id.purpose = "confirm";
    result.id.round = confirmation_round(&scene->confirmation, block);
    result.gpu = scene_gpu(scene, block);
    if (scene->unjudged && candidate == 1)
        result.detail = "3 of 9 elements of 'out' " OUTCOME_UNJUDGED
                        " inputs with large values: there it is infinite";
    result.outcome = outcome;
    if (!scene->same_code)
        result.artifact = scene_keys[candidate];
    result.checked.launches = scene->launches ? scene->launches : 156;
    result.checked.varied = scene->launches < 0 ? -1 : 0;
    result.timing.samples =
        (struct reals){ samples, strcmp(outcome, "correct") == 0 ? 5 : 0 };
    ok(store_result_put(scene->store, &result, &err), &err);
    free(nonce);
}

void scene_put(struct scene *scene, int block, size_t candidate,
               const char *outcome)
{
    for (size_t shape = 0; shape < scene->confirmation.n_shapes; shape++)
        put_at(scene, shape, block, candidate, outcome);
}

void scene_put_blocks(struct scene *scene, int blocks)
{
    for (int b = 1; b <= blocks; b++)
        for (size_t i = 0; i < scene->confirmation.n_running; i++)
            scene_put(scene, b, i, "correct");
}

static void put_shapes(struct confirmation *confirmation, size_t n)
{
    confirmation->n_shapes = n;
    confirmation->shapes = mem_new(n, sizeof(*confirmation->shapes));
    for (size_t i = 0; i < n; i++) {
        confirmation->shapes[i].name = mem_strdup(i ? "odd" : "n16m");
        snprintf(confirmation->shapes[i].measure_key, HASH_HEX, "3e");
    }
}

void scene_begin(struct scene *scene, const char *path, size_t finalists)
{
    struct confirmation *confirmation = &scene->confirmation;
    struct err err = { "" };

    scene->store = report_fixture(path);
    *confirmation = (struct confirmation){ .sweep = 1,
                                           .kind = scene->kind,
                                           .seed = 1,
                                           .blocks = SCENE_BLOCKS,
                                           .samples = 5,
                                           .looks = scene->looks,
                                           .rules = VERDICT_RULES,
                                           .possible = 3,
                                           .cut = (double)NAN };
    if (scene->against)
        confirmation->against = mem_strdup(scene->against);
    confirmation_add(confirmation, scene_keys[0], CONFIRMATION_BASELINE, "");
    for (size_t i = 1; i <= finalists; i++)
        confirmation_add(confirmation, scene_keys[i], CONFIRMATION_FINALIST,
                         "");
    confirmation_add(confirmation, scene_keys[3], CONFIRMATION_REJECTED,
                     "wrong at odd-17");
    for (size_t i = 0; i < confirmation->n; i++)
        snprintf(confirmation->candidates[i].source_key, HASH_HEX, "5c");
    for (size_t i = 0; scene->proof > 0 && i < confirmation->n_running; i++) {
        confirmation->candidates[i].proof_launches = scene->proof;
        confirmation->candidates[i].proof_varied = i == 1;
    }
    put_shapes(confirmation, scene->odd[0] > 0 ? 2 : 1);
    ok(confirmation_put(scene->store, confirmation, &err), &err);
    assert_int_equal(confirmation->pass, 1);
}

void scene_end(struct scene *scene, bool ended)
{
    struct store *store = scene->store;
    struct err err = { "" };

    if (ended)
        ok(confirmation_put_end(store, &scene->confirmation, false, &err),
           &err);
    ok(store_commit(store, &err), &err);
    ok(report_load(store, &scene->report, &err), &err);
    if (scene->objective) {
        free(scene->report->search.objective);
        scene->report->search.objective = mem_strdup(scene->objective);
    }
    ok(report_cost_load(store, &scene->cost, &err), &err);
    ok(conclusion_load(store, scene->report, scene->cost, scene->kind,
                       &scene->conclusion, &err),
       &err);
}

char *scene_text(const struct scene *scene)
{
    struct json_out out;
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    json_out_init(&out, to);
    conclusion_json(scene->conclusion, &out, NULL);
    fprintf(to, "\n");
    conclusion_print(scene->conclusion, to);
    fclose(to);
    return text;
}

struct winner scene_winner(const struct scene *scene, int shape)
{
    struct winner winner;
    struct err err = { "" };

    ok(winner_find(scene->report, shape, &winner, &err), &err);
    winner_confirm(scene->conclusion, &winner);
    return winner;
}

void scene_close(struct scene *scene)
{
    conclusion_free(scene->conclusion);
    report_cost_free(scene->cost);
    report_free(scene->report);
    confirmation_fini(&scene->confirmation);
    store_close(scene->store);
}
