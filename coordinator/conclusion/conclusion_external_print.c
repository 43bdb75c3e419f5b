/* The external baselines of a conclusion, for people and for programs. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_external.h"
#include "coordinator/text/json_out.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/table.h"

#define MISSING_MAX 4096 /* names and a reason */

static void interval_cell(struct table *table, int digits, double lo, double hi)
{
    if (isfinite(hi))
        table_cell(table, "[%.*f, %.*f]", digits, lo, digits, hi);
    else
        table_cell(table, "-");
}

static void row(struct table *table, const struct conclusion *c,
                const struct conclusion_external *external, size_t shape,
                size_t entry)
{
    const struct conclusion_against *against = &external->shapes[shape];
    const struct finding *f = &against->findings[entry];

    table_cell(table, "%s", c->shapes[shape].name);
    table_number(table, 3, 1e6 * against->time.seconds);
    table_cell(table, "%zu", f->speedup.n_blocks);
    table_cell(table, "%s", entry ? "best" : "baseline");
    table_number(table, 3, f->speedup.value);
    interval_cell(table, 3, f->speedup.lo, f->speedup.hi);
    if (!c->emulated)
        table_cell(table, "%s", verdict_words(f->verdict, &f->speedup));
    table_cell(table, "%s", c->entries[entry].name);
}

static void print_shapes(const struct conclusion *c,
                         const struct conclusion_external *external, FILE *to)
{
    struct table *table = table_new();
    char *x = mem_printf("x %s", external->name);
    size_t shown = 0;

    table_column(table, 'l', "shape");
    table_column(table, 'r', c->emulated ? "its us emulated" : "its us");
    table_column(table, 'r', "blocks");
    table_column(table, 'l', "");
    table_column(table, 'r', x);
    table_column(table, 'r', "interval");
    if (!c->emulated)
        table_column(table, 'l', "verdict");
    table_column(table, 'l', "configuration");
    for (size_t i = 0; i < c->n_shapes; i++) {
        if (!external->shapes || isnan(external->shapes[i].time.seconds))
            continue;
        row(table, c, external, i, 0);
        if (c->shapes[i].best != BEST_SET_NONE)
            row(table, c, external, i, c->shapes[i].best);
        shown++;
    }
    if (shown)
        table_print(table, to);
    table_free(table);
    free(x);
}

static void print_one(const struct conclusion *c,
                      const struct conclusion_external *external, FILE *to)
{
    if (external->ran == 0) {
        fprintf(to,
                "\n"
                "The external baseline %s has no time: %s\n",
                external->name, external->why);
        return;
    }
    paragraph_print(to, 0,
                    "\nExternal baseline %s%s%s%s, measured by its own command "
                    "in some of the blocks:",
                    external->name, external->says[0] ? " (" : "",
                    external->says, external->says[0] ? ")" : "");
    print_shapes(c, external, to);
    if (external->failed)
        paragraph_print(
            to, 0, "%zu of its %zu runs gave no time; the first one: %s",
            external->failed, external->failed + external->ran, external->why);
}

static bool is_missing(const struct conclusion_external *external)
{
    return external->ran == 0;
}

char *conclusion_external_missing(const struct conclusion *c)
{
    const struct conclusion_external *first = NULL;
    size_t n = 0, left;
    bool same = true;
    struct buf text;

    for (size_t i = 0; i < c->externals.n; i++) {
        const struct conclusion_external *external = &c->externals.list[i];

        if (!is_missing(external))
            continue;
        first = first ? first : external;
        same = same && strcmp(external->why, first->why) == 0;
        n++;
    }
    if (n == 0)
        return NULL;
    left = n;
    buf_init(&text, MISSING_MAX);
    for (size_t i = 0; i < c->externals.n; i++)
        if (is_missing(&c->externals.list[i])) {
            left--;
            buf_printf(&text, "%s%s", c->externals.list[i].name,
                       left == 0   ? ""
                       : left == 1 ? " and "
                                   : ", ");
        }
    buf_printf(&text, " %s no time: %s%s", n == 1 ? "has" : "have",
               same ? "" : "for the first of them, ", first->why);
    return text.bytes;
}

void conclusion_external_print(const struct conclusion *c, FILE *to)
{
    for (size_t i = 0; i < c->externals.n; i++)
        print_one(c, &c->externals.list[i], to);
}

static void put_over(struct json_out *out, const char *key,
                     const struct conclusion *c, const struct finding *f)
{
    if (!f) {
        json_out_null(out, key);
        return;
    }
    json_out_open(out, key, '{');
    json_out_real(out, "speedup", f->speedup.value);
    json_out_interval(out, "speedup_ci_95", f->speedup.lo, f->speedup.hi);
    if (c->emulated) {
        json_out_null(out, "verdict");
        json_out_null(out, "side");
    } else {
        json_out_text(out, "verdict", verdict_name(f->verdict));
        json_out_text(out, "side", verdict_side(&f->speedup));
    }
    json_out_int(out, "blocks", (int64_t)f->speedup.n_blocks);
    json_out_close(out);
}

static void put_shape(struct json_out *out, const struct conclusion *c,
                      const struct conclusion_external *external, size_t shape)
{
    const struct conclusion_against *against = &external->shapes[shape];
    size_t best = c->shapes[shape].best;

    json_out_open(out, NULL, '{');
    json_out_text(out, "shape", c->shapes[shape].name);
    json_out_real(out, "median_s", against->time.seconds);
    json_out_interval(out, "ci_95", against->time.lo, against->time.hi);
    put_over(out, "best", c,
             best == BEST_SET_NONE ? NULL : &against->findings[best]);
    put_over(out, "baseline", c, &against->findings[0]);
    json_out_close(out);
}

void conclusion_external_json(const struct conclusion *c, struct json_out *out)
{
    if (c->confirmation.against)
        json_out_text(out, "against", c->confirmation.against);
    else
        json_out_null(out, "against");
    json_out_open(out, "externals", '[');
    for (size_t k = 0; k < c->externals.n; k++) {
        const struct conclusion_external *external = &c->externals.list[k];

        json_out_open(out, NULL, '{');
        json_out_text(out, "name", external->name);
        json_out_text(out, "says", external->says);
        json_out_int(out, "ran", (int64_t)external->ran);
        json_out_int(out, "failed", (int64_t)external->failed);
        json_out_text(out, "why", external->why);
        json_out_open(out, "shapes", '[');
        for (size_t i = 0; external->shapes && i < c->n_shapes; i++)
            put_shape(out, c, external, i);
        json_out_close(out);
        json_out_close(out);
    }
    json_out_close(out);
}
