#include "coordinator/compare/compare_print.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/compare/compare.h"
#include "coordinator/compare/compare_side.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/table.h"
#include "coordinator/text/json_out.h"

/* ---- for people */

static const char *word_of(const struct compare_row *row)
{
    return row->state == COMPARE_TIMED ? verdict_name(row->verdict)
                                       : compare_state_name(row->state);
}

/* Times in the unit that suits those of A. */
static double unit_of(const struct compare *compare, const char **name)
{
    double least = INFINITY;

    for (size_t i = 0; i < compare->n_rows; i++)
        least = fmin(least, compare->rows[i].a_s); /* fmin() ignores NaN */
    *name = least < 1e-3 ? "us" : least < 1 ? "ms" : "s";
    return least < 1e-3 ? 1e6 : least < 1 ? 1e3 : 1;
}

static void print_side(const struct compare_side *side, char letter, FILE *to)
{
    const struct report *report = side->report;
    char *text = NULL;
    size_t len = 0;
    FILE *line = mem_stream(&text, &len);

    fprintf(line, "%c  %s: %s on %s", letter, side->file.path, report->name,
            report->arch);
    for (size_t i = 0; i < side->n_gpus; i++)
        if (i == 0 || strcmp(side->gpus[i].name, side->gpus[i - 1].name) != 0)
            fprintf(line, ", %s", side->gpus[i].name);
    fprintf(line, "; %zu configurations\n", report->n_configs);
    if (!side->winner.config)
        fprintf(line, "%s", side->why_none);
    else
        fprintf(line, "its winner, %s:", side->winner.state);
    for (size_t i = 0; side->winner.config && i < side->winner.config->params.n;
         i++)
        fprintf(line, " %s=%s", side->winner.config->params.items[i].name,
                side->winner.config->params.items[i].text);
    if (side->winner.config)
        fprintf(line, " (%.8s)", side->winner.config->key);
    mem_stream_close(line, &text);
    paragraph_print(to, 3, "%s", text);
    free(text);
}

static void time_columns(struct table *table, const char *unit)
{
    char *a = mem_printf("A %s", unit), *b = mem_printf("B %s", unit);

    table_column(table, 'r', a);
    table_column(table, 'r', b);
    table_column(table, 'r', "A / B");
    table_column(table, 'r', "95 % from");
    table_column(table, 'r', "to");
    table_column(table, 'l', "evidence");
    free(a);
    free(b);
}

static void time_cells(struct table *table, const struct compare_row *row,
                       double scale)
{
    bool timed = row->state == COMPARE_TIMED;

    assert(row->a && row->b);
    table_number(table, 3, row->a_s * scale);
    table_number(table, 3, row->b_s * scale);
    table_number(table, 3, row->speedup.value);
    table_number(table, 3, timed ? row->speedup.lo : (double)NAN);
    table_number(table, 3, timed ? row->speedup.hi : (double)NAN);
    if (timed)
        table_cell(table, "%zu and %zu %s%s%s", row->n_a, row->n_b,
                   row->blocks ? "blocks" : "samples",
                   row->over_baseline ? ", over the baseline" : "",
                   row->same_code ? ", one cubin" : "");
    else
        table_cell(table, "%s in A, %s in B",
                   outcome_name(row->a->cells[row->shape_a].outcome),
                   outcome_name(row->b->cells[row->shape_b].outcome));
}

static void print_winner(const struct compare *compare, double scale,
                         const char *unit, FILE *to)
{
    struct table *table = table_new();

    table_column(table, 'l', "the winner");
    table_column(table, 'l', "shape");
    table_column(table, 'l', "verdict");
    time_columns(table, unit);
    table_column(table, 'l', "key A");
    table_column(table, 'l', "key B");
    for (size_t i = 0; i < compare->n_deciding; i++) {
        const struct compare_row *row = &compare->rows[i];

        table_cell(table, "%s",
                   row->subject == COMPARE_WINNER ? "of A and of B"
                                                  : "of A, kept in B");
        table_cell(table, "%s", compare->a->report->shapes[row->shape_a].name);
        table_cell(table, "%s", word_of(row));
        time_cells(table, row, scale);
        table_cell(table, "%.8s", row->a->key);
        table_cell(table, "%.8s", row->b->key);
    }
    if (compare->n_deciding) {
        fputc('\n', to);
        table_print(table, to);
    }
    table_free(table);
}

static char *counts_text(const struct compare *compare)
{
    static const enum verdict order[] = { VERDICT_SLOW, VERDICT_FAST,
                                          VERDICT_SAME, VERDICT_AMBG };
    char *text = NULL;
    size_t len = 0;
    FILE *line = mem_stream(&text, &len);

    fprintf(line, "configurations, at each shape of both:");
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        fprintf(line, " %s %zu%s", verdict_name(order[i]),
                compare->verdicts[order[i]], i < 3 ? "," : "");
    if (compare->broke)
        fprintf(line, "; correct in A, failed in B: %zu", compare->broke);
    if (compare->mended)
        fprintf(line, "; failed in A, correct in B: %zu", compare->mended);
    if (compare->untimed)
        fprintf(line, "; without a time on both sides: %zu", compare->untimed);
    if (compare->only_a)
        fprintf(line, "; only in A: %zu", compare->only_a);
    if (compare->only_b)
        fprintf(line, "; only in B: %zu", compare->only_b);
    mem_stream_close(line, &text);
    return text;
}

static void print_counts(const struct compare *compare, FILE *to)
{
    char *counts = counts_text(compare);

    fputc('\n', to);
    paragraph_print(to, 2, "%s", counts);
    free(counts);
    if (compare->same_code)
        paragraph_print(
            to, 2,
            "%zu of them have the same cubin in A and B, which is %.3f x as "
            "fast in B: that is the machine, not the kernel",
            compare->same_code, compare->same_code_ratio);
}

static void print_configs(const struct compare *compare, size_t top,
                          double scale, const char *unit, FILE *to)
{
    size_t n = compare->n_rows - compare->n_deciding, shown = 0;
    const struct compare_row *rows = compare->rows + compare->n_deciding;
    struct table *table = table_new();
    const struct stored_params *params = n ? &rows[0].a->params : NULL;

    if (top == 0 || top > n)
        top = n;
    table_column(table, 'l', "verdict");
    table_column(table, 'l', "shape");
    time_columns(table, unit);
    for (size_t i = 0; params && i < params->n; i++)
        table_column(table,
                     params->items[i].type == STORED_PARAM_TEXT ? 'l' : 'r',
                     params->items[i].name);
    table_column(table, 'l', "key");
    for (; shown < top; shown++) {
        const struct compare_row *row = &rows[shown];

        table_cell(table, "%s", word_of(row));
        table_cell(table, "%s", compare->a->report->shapes[row->shape_a].name);
        time_cells(table, row, scale);
        for (size_t i = 0; params && i < params->n; i++) {
            const struct stored_param *param =
                stored_params_find(&row->a->params, params->items[i].name);

            table_cell(table, "%s", param ? param->text : "-");
        }
        table_cell(table, "%.8s", row->a->key);
    }
    if (n) {
        fputc('\n', to);
        table_print(table, to);
    }
    if (shown < n)
        fprintf(to, "%zu of %zu shown; --top 0 shows all\n", shown, n);
    table_free(table);
}

void compare_table(const struct compare *compare, size_t top, FILE *to)
{
    const char *unit;
    double scale = unit_of(compare, &unit);

    fprintf(to, "%s: %s\n\n", compare_outcome_name(compare->outcome),
            compare->why);
    print_side(compare->a, 'A', to);
    print_side(compare->b, 'B', to);
    for (size_t i = 0; i < compare->n_warnings; i++)
        paragraph_print(to, 2, "note: %s", compare->warnings[i]);
    paragraph_print(to, 2,
                    "A / B is the time in A divided by the time in B: above 1, "
                    "B is faster (FAST). Changes of up to %g %% are ignored.",
                    100 * compare->rules.threshold);
    print_winner(compare, scale, unit, to);
    print_counts(compare, to);
    print_configs(compare, top, scale, unit, to);
}

/* ---- for programs */

static void put_side(struct json_out *out, const char *key,
                     const struct compare_side *side)
{
    json_out_open(out, key, '{');
    json_out_text(out, "database", side->file.path);
    json_out_text(out, "name", side->report->name);
    json_out_text(out, "device", side->report->device);
    json_out_text(out, "arch", side->report->arch);
    json_out_utc(out, "created", side->report->sweep.created_utc);
    json_out_text(out, "ending", side->report->sweep.ending);
    json_out_int(out, "asked", (int64_t)side->report->n_configs);
    if (side->winner.config)
        json_out_text(out, "winner", side->winner.config->key);
    else
        json_out_null(out, "winner");
    json_out_text(out, "winner_state",
                  side->winner.config ? side->winner.state : side->why_none);
    json_out_real(out, "clock_mhz", side->clock_mhz);
    json_out_real(out, "noise", side->noise);
    json_out_real(out, "between", side->between);
    json_out_bool(out, "canaries", side->canaries);
    json_out_open(out, "gpus", '[');
    for (size_t i = 0; i < side->n_gpus; i++) {
        json_out_open(out, NULL, '{');
        json_out_text(out, "gpu", side->gpus[i].uuid);
        json_out_text(out, "gpu_name", side->gpus[i].name);
        json_out_text(out, "driver", side->gpus[i].driver);
        json_out_text(out, "toolkit", side->gpus[i].toolkit);
        json_out_close(out);
    }
    json_out_close(out);
    json_out_close(out);
}

static void put_row(struct json_out *out, const struct compare *compare,
                    const struct compare_row *row)
{
    static const char *const subjects[] = { [COMPARE_WINNER] = "winner",
                                            [COMPARE_KEPT] = "kept",
                                            [COMPARE_CONFIG] =
                                                "configuration" };
    bool timed = row->state == COMPARE_TIMED;

    json_out_open(out, NULL, '{');
    json_out_text(out, "subject", subjects[row->subject]);
    json_out_text(out, "shape", compare->a->report->shapes[row->shape_a].name);
    json_out_text(out, "state", compare_state_name(row->state));
    if (timed)
        json_out_text(out, "verdict", verdict_name(row->verdict));
    else
        json_out_null(out, "verdict");
    json_out_raw(out, "config_a", row->a->json);
    json_out_raw(out, "config_b", row->b->json);
    json_out_text(out, "key_a", row->a->key);
    json_out_text(out, "key_b", row->b->key);
    json_out_real(out, "median_a_s", row->a_s);
    json_out_real(out, "median_b_s", row->b_s);
    json_out_real(out, "speedup", row->speedup.value);
    json_out_open(out, "ci_95", '[');
    if (timed) {
        json_out_real(out, NULL, row->speedup.lo);
        json_out_real(out, NULL, row->speedup.hi);
    }
    json_out_close(out);
    json_out_real(out, "p_holm", timed ? row->p_holm : (double)NAN);
    json_out_text(out, "evidence",
                  !timed               ? ""
                  : row->over_baseline ? "ratios"
                  : row->blocks        ? "blocks"
                                       : "samples");
    json_out_int(out, "n_a", (int64_t)row->n_a);
    json_out_int(out, "n_b", (int64_t)row->n_b);
    json_out_bool(out, "same_code", row->same_code);
    json_out_text(out, "reason_a", row->a->cells[row->shape_a].reason);
    json_out_text(out, "reason_b", row->b->cells[row->shape_b].reason);
    json_out_close(out);
}

static void put_rows(struct json_out *out, const struct compare *compare,
                     const char *key, size_t from, size_t to)
{
    json_out_open(out, key, '[');
    for (size_t i = from; i < to; i++)
        put_row(out, compare, &compare->rows[i]);
    json_out_close(out);
}

static void put_counts(struct json_out *out, const struct compare *compare)
{
    json_out_open(out, "counts", '{');
    for (int i = VERDICT_SAME; i <= VERDICT_AMBG; i++)
        json_out_int(out, verdict_name((enum verdict)i),
                     (int64_t)compare->verdicts[i]);
    json_out_int(out, "broke", (int64_t)compare->broke);
    json_out_int(out, "mended", (int64_t)compare->mended);
    json_out_int(out, "untimed", (int64_t)compare->untimed);
    json_out_int(out, "only_a", (int64_t)compare->only_a);
    json_out_int(out, "only_b", (int64_t)compare->only_b);
    json_out_close(out);
}

void compare_json(const struct compare *compare, FILE *to)
{
    struct json_out out;

    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    put_side(&out, "a", compare->a);
    put_side(&out, "b", compare->b);
    json_out_real(&out, "threshold", compare->rules.threshold);
    json_out_bool(&out, "every", compare->rules.every);
    json_out_text(&out, "outcome", compare_outcome_name(compare->outcome));
    json_out_int(&out, "exit_code", (int64_t)compare->outcome);
    json_out_text(&out, "why", compare->why);
    json_out_open(&out, "warnings", '[');
    for (size_t i = 0; i < compare->n_warnings; i++)
        json_out_text(&out, NULL, compare->warnings[i]);
    json_out_close(&out);
    put_counts(&out, compare);
    json_out_int(&out, "same_code", (int64_t)compare->same_code);
    json_out_real(&out, "same_code_speedup", compare->same_code_ratio);
    put_rows(&out, compare, "winner", 0, compare->n_deciding);
    put_rows(&out, compare, "configurations", compare->n_deciding,
             compare->n_rows);
    json_out_close(&out);
}
