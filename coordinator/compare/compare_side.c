#include "coordinator/compare/compare_side.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/compare/compare_looks.h"
#include "coordinator/confirm/finalists.h"
#include "coordinator/result/report_current.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/spec/spec.h"
#include "coordinator/stats/stats.h"
#include "coordinator/store/store.h"
#include "coordinator/text/terminal.h"

#define CANARIES_LEAST 5 /* canaries needed to estimate 'between' */

/* One measurement: the samples of one result, ascending. */
struct measurement {
    char config[HASH_HEX];
    char shape[128], gpu[128];
    int64_t round;
    double *samples;
    size_t n;
};

typedef void measurement_fn(struct compare_side *side,
                            const struct measurement *one);

/* ---- reading */

static int each(const struct compare_side *side, enum report_current what,
                report_current_fn *fn, void *arg, struct err *err)
{
    return report_current_each(side->store, side->report->sweep.id, what, fn,
                               arg, err);
}

static char *clean(const char *text)
{
    return terminal_clean(mem_strdup(text), false);
}

static void add_gpu(void *arg, const struct report_current_row *row)
{
    struct compare_side *side = arg;

    side->gpus = mem_grow(side->gpus, side->n_gpus + 1, sizeof(*side->gpus));
    side->gpus[side->n_gpus++] =
        (struct compare_gpu){ clean(row->gpu), clean(row->name),
                              clean(row->driver), clean(row->toolkit) };
}

static void add_way(void *arg, const struct report_current_row *row)
{
    struct compare_side *side = arg;
    struct compare_way *way;

    side->ways = mem_grow(side->ways, side->n_ways + 1, sizeof(*side->ways));
    way = &side->ways[side->n_ways++];
    way->shape = clean(row->shape);
    snprintf(way->key, sizeof(way->key), "%s", row->measure_key);
}

static void add_code(void *arg, const struct report_current_row *row)
{
    struct compare_side *side = arg;
    struct compare_code *code;

    side->codes =
        mem_grow(side->codes, side->n_codes + 1, sizeof(*side->codes));
    code = &side->codes[side->n_codes++];
    snprintf(code->config, sizeof(code->config), "%s", row->config);
    snprintf(code->artifact, sizeof(code->artifact), "%s", row->artifact);
}

struct reals_list {
    double *items;
    size_t n;
};

static void add_real(void *arg, const struct report_current_row *row)
{
    struct reals_list *list = arg;

    list->items = mem_grow(list->items, list->n + 1, sizeof(*list->items));
    list->items[list->n++] = row->value;
}

static double median_of(const double *values, size_t n)
{
    struct summary summary = { .median = NAN };

    if (n)
        stats_summary(values, n, &summary);
    return summary.median;
}

/* The query returns one sample a row; this joins those of a measurement. */
struct gathering {
    struct compare_side *side;
    measurement_fn *fn;
    struct measurement one;
};

static void flush(struct gathering *gathering)
{
    if (gathering->one.n)
        gathering->fn(gathering->side, &gathering->one);
    gathering->one.n = 0;
}

static void add_sample(void *arg, const struct report_current_row *row)
{
    struct gathering *gathering = arg;
    struct measurement *one = &gathering->one;

    if (one->n == 0 || strcmp(one->config, row->config) != 0 ||
        strcmp(one->shape, row->shape) != 0 || one->round != row->round ||
        strcmp(one->gpu, row->gpu) != 0) {
        flush(gathering);
        snprintf(one->config, sizeof(one->config), "%s", row->config);
        snprintf(one->shape, sizeof(one->shape), "%s", row->shape);
        one->round = row->round;
        snprintf(one->gpu, sizeof(one->gpu), "%s", row->gpu);
    }
    one->samples = mem_grow(one->samples, one->n + 1, sizeof(*one->samples));
    one->samples[one->n++] = row->value;
}

static int each_block(struct compare_side *side, measurement_fn *fn,
                      struct err *err)
{
    struct gathering gathering = { .side = side, .fn = fn };
    int rc = each(side, REPORT_CURRENT_BLOCKS, add_sample, &gathering, err);

    flush(&gathering);
    free(gathering.one.samples);
    return rc;
}

/* ---- blocks */

static size_t shape_of(const struct report *report, const char *name)
{
    size_t shape = 0;

    while (shape < report->n_shapes &&
           strcmp(report->shapes[shape].name, name) != 0)
        shape++;
    return shape;
}

static int gpu_of(const struct compare_side *side, const char *uuid)
{
    size_t gpu = 0;

    while (gpu < side->n_gpus && strcmp(side->gpus[gpu].uuid, uuid) != 0)
        gpu++;
    return (int)gpu;
}

static void add_block(struct compare_side *side, const struct measurement *one)
{
    size_t shape = shape_of(side->report, one->shape);
    struct compare_blocks *last =
        side->n_blocks ? &side->blocks[side->n_blocks - 1] : NULL;

    if (shape == side->report->n_shapes)
        return;
    if (!last || strcmp(last->config, one->config) != 0 ||
        last->shape != shape) {
        side->blocks =
            mem_grow(side->blocks, side->n_blocks + 1, sizeof(*side->blocks));
        last = &side->blocks[side->n_blocks++];
        *last = (struct compare_blocks){ .shape = shape };
        snprintf(last->config, sizeof(last->config), "%s", one->config);
    }
    last->medians =
        mem_grow(last->medians, last->n + 1, sizeof(*last->medians));
    last->rounds = mem_grow(last->rounds, last->n + 1, sizeof(*last->rounds));
    last->rounds[last->n] = one->round;
    last->medians[last->n++] =
        (struct location_shift_value){ log(median_of(one->samples, one->n)),
                                       gpu_of(side, one->gpu) };
}

/* ---- noise */

static double sample_noise(const struct report *report)
{
    double *all = mem_new(report->n_configs + 1, sizeof(*all)), noise;
    size_t n = 0;

    for (size_t i = 0; i < report->n_configs; i++) {
        const struct report_cell *cell = &report->configs[i].cells[0];
        struct screened screened;

        if (cell->n_samples < 2 || cell->outcome != OUTCOME_CORRECT)
            continue;
        finalists_screen(cell->samples, cell->n_samples, 1, &screened);
        all[n++] = screened.sd;
    }
    noise = n ? median_of(all, n) : 0;
    free(all);
    return noise;
}

/* The canary is one binary that is measured repeatedly: it shows how much one
 * measurement differs from the next on a card.  Steps between neighbours are
 * used, not the spread of all, because slow drift affects both sides alike. */
struct canary {
    char gpu[128], shape[128];
    double last;
    double *steps;
    size_t n;
};

static void add_canary(void *arg, const struct report_current_row *row)
{
    struct canary *canary = arg;
    double now = log(row->value);

    if (strcmp(canary->gpu, row->gpu) == 0 &&
        strcmp(canary->shape, row->shape) == 0) {
        canary->steps =
            mem_grow(canary->steps, canary->n + 1, sizeof(*canary->steps));
        canary->steps[canary->n++] = fabs(now - canary->last);
    }
    snprintf(canary->gpu, sizeof(canary->gpu), "%s", row->gpu);
    snprintf(canary->shape, sizeof(canary->shape), "%s", row->shape);
    canary->last = now;
}

static int read_between(struct compare_side *side, struct err *err)
{
    struct canary canary = { .n = 0 };
    int rc = each(side, REPORT_CURRENT_CANARIES, add_canary, &canary, err);

    side->between = COMPARE_BETWEEN;
    side->canaries = canary.n + 1 >= CANARIES_LEAST;
    if (side->canaries) /* a step has the noise of two: quartile, sqrt 2 */
        side->between = median_of(canary.steps, canary.n) * 1.4826 / sqrt(2.0);
    free(canary.steps);
    return rc;
}

/* ---- the whole */

static int read_spec(struct compare_side *side, struct err *err)
{
    const struct report *report = side->report;
    struct spec *spec = NULL;
    int rc =
        spec_parse(report->file.folder, report->file.name, report->file.text,
                   strlen(report->file.text), &spec, err);

    if (rc == 0)
        rc = stored_spec_facts(report, &side->facts, err);
    if (rc == 0)
        side->l2 = mem_strdup(spec->measure.l2);
    spec_free(spec);
    return rc < 0 ? err_within(err, rc, "the stored sweep") : 0;
}

static int read_clock(struct compare_side *side, struct err *err)
{
    struct reals_list list = { NULL, 0 };
    int rc = each(side, REPORT_CURRENT_CLOCKS, add_real, &list, err);

    side->clock_mhz = median_of(list.items, list.n);
    free(list.items);
    return rc;
}

static int read_rest(struct compare_side *side, struct err *err)
{
    int rc = read_spec(side, err);

    if (rc == 0)
        rc = each(side, REPORT_CURRENT_GPUS, add_gpu, side, err);
    if (rc == 0)
        rc = each(side, REPORT_CURRENT_WAYS, add_way, side, err);
    /* the artifact of a replay is not machine code */
    if (rc == 0 && !device_kind_is(side->report->device, DEVICE_KIND_REPLAY))
        rc = each(side, REPORT_CURRENT_ARTIFACTS, add_code, side, err);
    if (rc == 0)
        rc = each_block(side, add_block, err);
    if (rc == 0)
        rc = compare_looks_load(side->store, side->report->sweep.id,
                                &side->looks, err);
    if (rc == 0)
        rc = read_clock(side, err);
    if (rc == 0)
        rc = read_between(side, err);
    side->noise = sample_noise(side->report);
    return rc;
}

/* As export does: the confirmed winner, otherwise the screened one. */
static int read_winner(struct compare_side *side, struct err *err)
{
    struct err why = { "" };
    int rc = winner_load(side->store, side->report, NULL, &side->winner, &why);

    if (rc < 0)
        *err = why;
    else if (rc == WINNER_NONE)
        snprintf(side->why_none, sizeof(side->why_none), "%s", why.text);
    return err_only(rc);
}

int compare_side_open(const char *path, struct compare_side *out,
                      struct err *err)
{
    struct stat file = { .st_ino = 0 };
    int rc;

    (void)stat(path, &file); /* the next call reports a missing file */
    *out = (struct compare_side){ .file.path = path,
                                  .file.volume = file.st_dev,
                                  .file.inode = file.st_ino };
    rc = store_open(path, STORE_WHOLE, &out->store, err);
    if (rc < 0)
        return rc; /* its text has the name of the file */
    rc = report_load(out->store, &out->report, err);
    if (rc == 0) {
        rc = read_rest(out, err);
        if (rc == 0)
            rc = read_winner(out, err);
        if (rc < 0)
            err_within(err, rc, "%s", path);
    }
    if (rc < 0) {
        compare_side_close(out);
        return rc;
    }
    return 0;
}

void compare_side_close(struct compare_side *side)
{
    for (size_t i = 0; i < side->n_gpus; i++) {
        free(side->gpus[i].uuid);
        free(side->gpus[i].name);
        free(side->gpus[i].driver);
        free(side->gpus[i].toolkit);
    }
    for (size_t i = 0; i < side->n_blocks; i++) {
        free(side->blocks[i].medians);
        free(side->blocks[i].rounds);
    }
    for (size_t i = 0; i < side->n_ways; i++)
        free(side->ways[i].shape);
    free(side->ways);
    free(side->gpus);
    free(side->blocks);
    free(side->codes);
    free(side->l2);
    compare_looks_free(side->looks);
    report_free(side->report);
    store_close(side->store);
    *side = (struct compare_side){ 0 };
}

const struct report_config *compare_side_config(const struct compare_side *side,
                                                const char *key)
{
    return report_find(side->report, key);
}

/* Shapes come in the order of their names, which is not that of the report,
 * so inside a configuration it is looked through. */
static int by_config(const void *key, const void *element)
{
    return strcmp(key, ((const struct compare_blocks *)element)->config);
}

const struct compare_blocks *
compare_side_blocks(const struct compare_side *side, const char *key,
                    size_t shape)
{
    const struct compare_blocks *end, *at;

    if (side->n_blocks == 0)
        return NULL;
    end = side->blocks + side->n_blocks;
    at = bsearch(key, side->blocks, side->n_blocks, sizeof(*at), by_config);
    while (at && at > side->blocks && strcmp(at[-1].config, key) == 0)
        at--;
    for (; at && at < end && strcmp(at->config, key) == 0; at++)
        if (at->shape == shape)
            return at;
    return NULL;
}

static int by_code(const void *key, const void *element)
{
    return strcmp(key, ((const struct compare_code *)element)->config);
}

const char *compare_side_code(const struct compare_side *side, const char *key)
{
    const struct compare_code *at =
        side->n_codes
            ? bsearch(key, side->codes, side->n_codes, sizeof(*at), by_code)
            : NULL;

    return at ? at->artifact : "";
}
