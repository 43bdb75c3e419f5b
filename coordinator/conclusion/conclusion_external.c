/* The external baseline next to the candidates: its times in their blocks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_external.h"
#include "coordinator/conclusion/conclusion_internal.h"
#include "coordinator/confirm/blocks.h"
#include "coordinator/plan/external_baseline.h"
#include "coordinator/result/evidence.h"
#include "coordinator/text/json_out.h"
#include "coordinator/text/table.h"

/* One of its times, in a block that counts for the candidates. */
struct theirs {
    size_t shape;
    struct block_sample sample;
};

struct taking {
    struct conclusion *c;
    const struct conclusion_sample *samples; /* samples of the entries */
    size_t n_samples;
    struct theirs *theirs;
    size_t n, cap;
};

static const struct conclusion_sample *find_block(const struct taking *t,
                                                  size_t shape, int block)
{
    for (size_t i = 0; i < t->n_samples; i++)
        if (t->samples[i].shape == shape && t->samples[i].sample.block == block)
            return &t->samples[i];
    return NULL;
}

static void take_times(struct taking *t, size_t shape, int block,
                       const struct external_baseline_output *output)
{
    const struct conclusion_sample *in = find_block(t, shape, block);

    for (size_t i = 0; in && i < output->n; i++) {
        if (t->n == t->cap) {
            t->cap = t->cap ? 2 * t->cap : 256;
            t->theirs = mem_grow(t->theirs, t->cap, sizeof(*t->theirs));
        }
        t->theirs[t->n++] = (struct theirs){
            shape, { (int)t->c->n, block, in->sample.gpu, output->samples[i] }
        };
    }
}

static void replace_text(char **text, char *by)
{
    free(*text);
    *text = by;
}

static void take_run(void *arg, const struct evidence_external *run)
{
    struct taking *t = arg;
    struct conclusion_external *external = t->c->external;
    int64_t first = confirmation_round(&t->c->confirmation, 0);
    struct external_baseline_output output;
    struct err why = { "" };
    bool ran = outcome_is(run->outcome, OUTCOME_RAN);

    if (!external) {
        external = t->c->external = mem_new(1, sizeof(*external));
        external->says = mem_strdup("");
        external->why = mem_strdup("");
    }
    replace_text(&external->name, mem_strdup(run->name));
    if (ran && external_baseline_read(run->output, strlen(run->output),
                                      run->seconds, &output, &why) == 0) {
        external->ran++;
        replace_text(&external->says, mem_strdup(output.name));
        take_times(t, (size_t)run->shape, (int)(run->round - first), &output);
        external_baseline_output_fini(&output);
        return;
    }
    if (external->failed++ == 0)
        replace_text(
            &external->why,
            mem_printf("%s: %s: %s", run->host,
                       ran ? outcome_name(OUTCOME_GARBAGE) : run->outcome,
                       ran ? why.text : run->detail));
}

static int take_runs(struct taking *t, struct store *store, struct err *err)
{
    const struct confirmation *confirmation = &t->c->confirmation;
    int64_t first = confirmation_round(confirmation, 0);

    return evidence_externals(store, confirmation->pass, first,
                              first + CONFIRMATION_ROUNDS, take_run, t, err);
}

/* Blocks with the entries and, as the last candidate, the external baseline. */
static struct blocks *join(const struct taking *t, size_t shape)
{
    struct block_sample *all = mem_new(t->n_samples + t->n, sizeof(*all));
    struct blocks *blocks;
    size_t n = 0;

    for (size_t i = 0; i < t->n_samples; i++)
        if (t->samples[i].shape == shape)
            all[n++] = t->samples[i].sample;
    for (size_t i = 0; i < t->n; i++)
        if (t->theirs[i].shape == shape)
            all[n++] = t->theirs[i].sample;
    blocks = blocks_new(all, n, t->c->n + 1);
    free(all);
    return blocks;
}

static void judge(const struct taking *t, size_t shape)
{
    struct conclusion *c = t->c;
    struct conclusion_against *against = &c->external->shapes[shape];
    double confidence = 1 - c->confirmation.rules.alpha;
    struct block_time *times = mem_new(c->n + 1, sizeof(*times));
    struct blocks *blocks = join(t, shape);

    blocks_times(blocks, confidence, times);
    against->time = times[c->n];
    against->over = mem_new(c->n, sizeof(*against->over));
    for (size_t i = 0; i < c->n; i++)
        speedup_of(blocks, i, c->n, confidence, &against->over[i]);
    blocks_free(blocks);
    free(times);
}

int conclusion_take_external(struct conclusion *c, struct store *store,
                             const struct conclusion_sample *samples, size_t n,
                             struct err *err)
{
    struct taking t = { .c = c, .samples = samples, .n_samples = n };
    int rc = take_runs(&t, store, err);

    if (rc == 0 && c->external && c->n_shapes > 0) {
        c->external->shapes =
            mem_new(c->n_shapes, sizeof(*c->external->shapes));
        for (size_t i = 0; i < c->n_shapes; i++)
            judge(&t, i);
    }
    free(t.theirs);
    return rc;
}

void conclusion_external_free(struct conclusion *c)
{
    struct conclusion_external *external = c->external;

    if (!external)
        return;
    for (size_t i = 0; external->shapes && i < c->n_shapes; i++)
        free(external->shapes[i].over);
    free(external->shapes);
    free(external->name);
    free(external->says);
    free(external->why);
    free(external);
}

/* ---- renderings */

static void interval_cell(struct table *table, int digits, double lo, double hi)
{
    if (isfinite(hi))
        table_cell(table, "[%.*f, %.*f]", digits, lo, digits, hi);
    else
        table_cell(table, "-");
}

static void row(struct table *table, const struct conclusion *c, size_t shape,
                size_t entry, double scale)
{
    const struct conclusion_against *against = &c->external->shapes[shape];
    const struct speedup *over = &against->over[entry];

    table_cell(table, "%s", c->shapes[shape].name);
    table_number(table, 3, scale * against->time.seconds);
    table_cell(table, "%zu", over->n_blocks);
    table_cell(table, "%s", entry ? "best" : "baseline");
    table_number(table, 3, over->value);
    interval_cell(table, 3, over->lo, over->hi);
    table_cell(table, "%s", c->entries[entry].name);
}

static void print_shapes(const struct conclusion *c, FILE *to)
{
    struct table *table = table_new();
    char *x = mem_printf("x %s", c->external->name);
    size_t shown = 0;

    table_column(table, 'l', "shape");
    table_column(table, 'r', c->emulated ? "its us emulated" : "its us");
    table_column(table, 'r', "blocks");
    table_column(table, 'l', "");
    table_column(table, 'r', x);
    table_column(table, 'r', "interval");
    table_column(table, 'l', "configuration");
    for (size_t i = 0; i < c->n_shapes; i++) {
        if (isnan(c->external->shapes[i].time.seconds))
            continue;
        row(table, c, i, 0, 1e6);
        if (c->shapes[i].best != BEST_SET_NONE)
            row(table, c, i, c->shapes[i].best, 1e6);
        shown++;
    }
    if (shown)
        table_print(table, to);
    table_free(table);
    free(x);
}

void conclusion_external_print(const struct conclusion *c, FILE *to)
{
    const struct conclusion_external *external = c->external;

    if (!external)
        return;
    if (external->ran == 0) {
        fprintf(to,
                "\n"
                "The external baseline %s has no time: %s\n",
                external->name, external->why);
        return;
    }
    fprintf(to,
            "\nExternal baseline %s%s%s%s, measured by its own command "
            "in some of the blocks:\n",
            external->name, external->says[0] ? " (" : "", external->says,
            external->says[0] ? ")" : "");
    print_shapes(c, to);
    if (external->failed)
        fprintf(to, "%zu of its %zu runs gave no time; the first one: %s\n",
                external->failed, external->failed + external->ran,
                external->why);
}

static void put_over(struct json_out *out, const char *key,
                     const struct speedup *over)
{
    if (!over) {
        json_out_null(out, key);
        return;
    }
    json_out_open(out, key, '{');
    json_out_real(out, "speedup", over->value);
    json_out_interval(out, "speedup_ci_95", over->lo, over->hi);
    json_out_int(out, "blocks", (int64_t)over->n_blocks);
    json_out_close(out);
}

static void put_shape(struct json_out *out, const struct conclusion *c,
                      size_t shape)
{
    const struct conclusion_against *against = &c->external->shapes[shape];
    size_t best = c->shapes[shape].best;

    json_out_open(out, NULL, '{');
    json_out_text(out, "shape", c->shapes[shape].name);
    json_out_real(out, "median_s", against->time.seconds);
    json_out_interval(out, "ci_95", against->time.lo, against->time.hi);
    put_over(out, "best", best == BEST_SET_NONE ? NULL : &against->over[best]);
    put_over(out, "baseline", &against->over[0]);
    json_out_close(out);
}

void conclusion_external_json(const struct conclusion *c, struct json_out *out)
{
    const struct conclusion_external *external = c->external;

    if (!external) {
        json_out_null(out, "external");
        return;
    }
    json_out_open(out, "external", '{');
    json_out_text(out, "name", external->name);
    json_out_text(out, "says", external->says);
    json_out_int(out, "ran", (int64_t)external->ran);
    json_out_int(out, "failed", (int64_t)external->failed);
    json_out_text(out, "why", external->why);
    json_out_open(out, "shapes", '[');
    for (size_t i = 0; external->shapes && i < c->n_shapes; i++)
        put_shape(out, c, i);
    json_out_close(out);
    json_out_close(out);
}
