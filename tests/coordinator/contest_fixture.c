#include "contest_fixture.h"

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
#include "coordinator/conclusion.h"
#include "coordinator/json_out.h"
#include "coordinator/report.h"
#include "coordinator/report_cost.h"
#include "coordinator/store.h"
#include "report_fixture.h"
#include "store_fixture.h"

const char *const scene_keys[4] = { "b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0",
                                    "c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1",
                                    "c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4",
                                    "c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3" };

static void ok(int rc, const struct err *err)
{
    if (rc < 0)
        fail_msg("%s", err->text);
}

double scene_wobble(int block, size_t contestant, int sample)
{
    unsigned x = (unsigned)block * 7919u + (unsigned)contestant * 104729u +
                 (unsigned)sample * 1299709u;

    x = (x ^ x >> 13) * 0x5bd1e995u;
    return 1 + 0.004 * ((double)(x >> 8 & 0xffff) / 65535 - 0.5);
}

const char *scene_gpu(const struct scene *scene, int block)
{
    return block % scene->n_gpus ? "GPU-2" : "GPU-1";
}

static void put_at(struct scene *scene, size_t shape, int block,
                   size_t contestant, const char *outcome)
{
    char *nonce = mem_printf("x%lld-%d-%zu-%zu", (long long)scene->contest.pass,
                             block, contestant, shape);
    double ms = shape ? scene->odd[contestant] : scene->times[contestant];
    struct store_result result = fixture_result(nonce, scene_keys[contestant]);
    double samples[5];
    struct err err = { "" };

    for (int i = 0; i < 5; i++)
        samples[i] = 1e-3 * ms * scene_wobble(block, contestant, i);
    result.shape = scene->contest.shapes[shape].name;
    result.purpose = "confirm";
    result.round = contest_round(&scene->contest, block);
    result.gpu = scene_gpu(scene, block);
    result.outcome = outcome;
    result.samples =
        (struct reals){ samples, strcmp(outcome, "correct") == 0 ? 5 : 0 };
    ok(store_result_put(scene->store, &result, &err), &err);
    free(nonce);
}

void scene_put(struct scene *scene, int block, size_t contestant,
               const char *outcome)
{
    for (size_t shape = 0; shape < scene->contest.n_shapes; shape++)
        put_at(scene, shape, block, contestant, outcome);
}

void scene_put_blocks(struct scene *scene, int blocks)
{
    for (int b = 1; b <= blocks; b++)
        for (size_t i = 0; i < scene->contest.n_running; i++)
            scene_put(scene, b, i, "correct");
}

static void put_shapes(struct contest *contest, size_t n)
{
    contest->n_shapes = n;
    contest->shapes = mem_new(n, sizeof(*contest->shapes));
    for (size_t i = 0; i < n; i++) {
        contest->shapes[i].name = mem_strdup(i ? "odd" : "n16m");
        snprintf(contest->shapes[i].measure_key, HASH_HEX, "3e");
    }
}

void scene_begin(struct scene *scene, const char *path, size_t finalists)
{
    struct contest *contest = &scene->contest;
    struct err err = { "" };

    scene->store = report_fixture(path);
    *contest = (struct contest){ .sweep = 1,
                                 .kind = scene->kind,
                                 .seed = 1,
                                 .blocks = SCENE_BLOCKS,
                                 .samples = 5,
                                 .rules = VERDICT_RULES,
                                 .possible = 3,
                                 .cut = (double)NAN };
    contest_add(contest, scene_keys[0], CONTEST_BASELINE, "");
    for (size_t i = 1; i <= finalists; i++)
        contest_add(contest, scene_keys[i], CONTEST_FINALIST, "");
    contest_add(contest, scene_keys[3], CONTEST_REJECTED, "wrong at odd-17");
    for (size_t i = 0; i < contest->n; i++)
        snprintf(contest->contestants[i].source_key, HASH_HEX, "5c");
    put_shapes(contest, scene->odd[0] > 0 ? 2 : 1);
    ok(contest_put(scene->store, contest, &err), &err);
    assert_int_equal(contest->pass, 1);
}

void scene_end(struct scene *scene, bool ended)
{
    struct store *store = scene->store;
    struct err err = { "" };

    if (ended)
        ok(contest_put_end(store, &scene->contest, false, &err), &err);
    ok(store_commit(store, &err), &err);
    ok(report_load(store, &scene->report, &err), &err);
    ok(cost_load(store, &scene->cost, &err), &err);
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

void scene_close(struct scene *scene)
{
    conclusion_free(scene->conclusion);
    cost_free(scene->cost);
    report_free(scene->report);
    contest_fini(&scene->contest);
    store_close(scene->store);
}
