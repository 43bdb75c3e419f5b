#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/page/page_data.h"
#include "coordinator/page/page_history.h"
#include "coordinator/page/page_thin.h"
#include "coordinator/result/report.h"
#include "coordinator/text/json_out.h"

#define KEY_DIGITS_LEAST 8

enum {
    DIGITS = 36,
    SHARED_LEAST = 8 /* configurations a value, for which a digit is shorter */
};

/* What a column is of: a figure at a shape, a metric or a tunable. */
struct column {
    const struct report *report;
    const struct page_history *history;
    size_t nth; /* shape, metric or tunable */
};

typedef double figure(const struct column *column, size_t i);

struct word {
    const char *text;
    double number; /* orders first */
    size_t i;      /* place in the column */
};

typedef struct word word_at(const struct column *column, size_t i);

/* ---- figures */

static const struct report_cell *cell_at(const struct column *column, size_t i)
{
    return &column->report->configs[i].cells[column->nth];
}

static double median_ns(const struct column *column, size_t i)
{
    return 1e9 * cell_at(column, i)->summary.median;
}

static double normalised_ns(const struct column *column, size_t i)
{
    return 1e9 * cell_at(column, i)->normalised_s;
}

static double spread_ns(const struct column *column, size_t i)
{
    return 1e9 * cell_at(column, i)->summary.spread;
}

static double below_ns(const struct column *column, size_t i)
{
    const struct summary *summary = &cell_at(column, i)->summary;

    return 1e9 * (summary->median - summary->min);
}

static double above_ns(const struct column *column, size_t i)
{
    const struct summary *summary = &cell_at(column, i)->summary;

    return 1e9 * (summary->max - summary->median);
}

static double samples(const struct column *column, size_t i)
{
    return (double)cell_at(column, i)->n_samples;
}

static double known(int64_t count)
{
    return count < 0 ? (double)NAN : (double)count;
}

static double registers(const struct column *column, size_t i)
{
    return known(cell_at(column, i)->registers);
}

static double spill_bytes(const struct column *column, size_t i)
{
    return known(cell_at(column, i)->spill_bytes);
}

static double metric(const struct column *column, size_t i)
{
    return column->report->configs[i].cells[0].metrics[column->nth];
}

static double rank(const struct column *column, size_t i)
{
    int rank = column->report->configs[i].rank;

    return rank ? rank : (double)NAN;
}

/* Ranks are 1, 2, ... where all configurations are selected. */
static bool has_gaps(const struct report *report)
{
    for (size_t i = 0; i < report->n_configs; i++)
        if (!report->configs[i].selected)
            return true;
    return false;
}

static double settled_s(const struct column *column, size_t i)
{
    return column->history->settled_s[i];
}

static double turn(const struct column *column, size_t i)
{
    return (double)column->history->turn[i];
}

/* ---- words */

static struct word outcome(const struct column *column, size_t i)
{
    enum outcome outcome = column->report->configs[i].outcome;

    return (struct word){ outcome_name(outcome), (double)outcome, 0 };
}

static struct word reason(const struct column *column, size_t i)
{
    return (struct word){ column->report->configs[i].reason, 0, 0 };
}

static struct word sampling(const struct column *column, size_t i)
{
    return (struct word){ cell_at(column, i)->sampling, 0, 0 };
}

static struct word host(const struct column *column, size_t i)
{
    return (struct word){ cell_at(column, i)->host, 0, 0 };
}

static struct word gpu(const struct column *column, size_t i)
{
    return (struct word){ cell_at(column, i)->gpu, 0, 0 };
}

static struct word warnings(const struct column *column, size_t i)
{
    const char *json = column->report->configs[i].warnings;

    return (struct word){ json[0] ? json : "[]", 0, 0 };
}

static const struct stored_param *param_at(const struct column *column,
                                           size_t i)
{
    const char *name =
        column->report->configs[0].params.items[column->nth].name;

    return stored_params_find_at(&column->report->configs[i].params,
                                 column->nth, name);
}

static struct word tunable(const struct column *column, size_t i)
{
    const struct stored_param *param = param_at(column, i);

    return param ? (struct word){ param->text, param->number, 0 }
                 : (struct word){ "null", (double)INFINITY, 0 };
}

/* ---- columns */

static void real_text(double number, int digits, char *text, size_t size)
{
    if (!isfinite(number))
        snprintf(text, size, "null");
    else if (fabs(number) >= pow(10, digits - 1) && fabs(number) < 1e15)
        snprintf(text, size, "%.0f", number);
    else
        snprintf(text, size, "%.*g", digits, number);
}

void page_data_real(struct json_out *out, const char *key, double number,
                    int digits)
{
    char text[40];

    real_text(number, digits, text, sizeof(text));
    json_out_raw(out, key, text);
}

static bool same(double a, double b)
{
    return a == b || (!isfinite(a) && !isfinite(b));
}

/* ---- columns of few values */

/* How many indices below 'distinct' one digit of base 36 holds. */
static size_t digit_holds(size_t distinct)
{
    size_t held = 0;

    for (size_t states = distinct; states <= DIGITS; states *= distinct)
        held++;
    return held;
}

/* Indices below 'distinct', 2 to 36, as digits of one text, the first of those
 * that share a digit lowest: of two words it holds five. */
static void put_digits(struct json_out *out, const char *key, const double *at,
                       size_t n, size_t distinct)
{
    size_t held = digit_holds(distinct), len = 0;
    char *digits = mem_new(n + 1, 1);

    for (size_t i = 0; i < n; i += held) {
        size_t digit = 0;

        for (size_t k = held; k-- > 0;)
            digit = digit * distinct + (i + k < n ? (size_t)at[i + k] : 0);
        digits[len++] = "0123456789abcdefghijklmnopqrstuvwxyz"[digit];
    }
    json_out_text(out, key, digits);
    free(digits);
}

/* The different ones of 'numbers', in the order in which they come, into
 * 'values', and which one each is into 'at'.  Returns how many there are, or
 * 0 if they are more than 'most'. */
static size_t different(const double *numbers, size_t n, size_t most,
                        double *values, double *at)
{
    size_t distinct = 0;

    for (size_t i = 0; i < n; i++) {
        size_t v = 0;

        while (v < distinct && !same(values[v], numbers[i]))
            v++;
        if (v == most)
            return 0;
        if (v == distinct)
            values[distinct++] = numbers[i];
        at[i] = (double)v;
    }
    return distinct;
}

/* Without the spaces of json_out.h: they would be a sixth of the page. */
static void put_array(struct json_out *out, const char *key,
                      const double *numbers, size_t n, int digits)
{
    char *array, text[40];
    size_t len;
    FILE *to = mem_stream(&array, &len);

    for (size_t i = 0; i < n; i++) {
        real_text(numbers[i], digits, text, sizeof(text));
        fprintf(to, "%c%s", i ? ',' : '[', text);
    }
    fputc(']', to);
    fclose(to);
    json_out_raw(out, key, array);
    free(array);
}

static void put_numbers(struct json_out *out, const char *key,
                        const double *numbers, size_t n, int digits)
{
    double values[DIGITS], *at = mem_new(n + 1, sizeof(*at));
    size_t most = n / SHARED_LEAST < DIGITS ? n / SHARED_LEAST : DIGITS;
    size_t distinct = different(numbers, n, most ? most : 1, values, at);

    if (n == 0 || distinct == 1) {
        page_data_real(out, key, n ? numbers[0] : (double)NAN, digits);
    } else if (distinct) {
        json_out_open(out, key, '{');
        put_array(out, "numbers", values, distinct, digits);
        put_digits(out, "at", at, n, distinct);
        json_out_close(out);
    } else {
        put_array(out, key, numbers, n, digits);
    }
    free(at);
}

static void put_indices(struct json_out *out, const char *key, const double *at,
                        size_t n, size_t distinct)
{
    if (distinct < 2 || distinct > DIGITS)
        put_numbers(out, key, at, n, 15);
    else
        put_digits(out, key, at, n, distinct);
}

static void put_figures(struct json_out *out, const char *key,
                        const struct column *column, figure *value, int digits)
{
    const struct report *report = column->report;
    double *numbers = mem_new(report->n_configs + 1, sizeof(*numbers));
    size_t n = 0;

    for (size_t i = 0; i < report->n_configs; i++)
        if (report->configs[i].selected)
            numbers[n++] = value(column, i);
    put_numbers(out, key, numbers, n, digits);
    free(numbers);
}

static int by_word(const void *a, const void *b)
{
    const struct word *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return strcmp(x->text, y->text);
}

/* Members "words" and "at" of an open object. */
static void put_words(struct json_out *out, const struct column *column,
                      word_at *value)
{
    const struct report *report = column->report;
    struct word *words = mem_new(report->n_configs + 1, sizeof(*words));
    double *at = mem_new(report->n_configs + 1, sizeof(*at));
    size_t n = 0, distinct = 0;

    for (size_t i = 0; i < report->n_configs; i++) {
        if (!report->configs[i].selected)
            continue;
        words[n] = value(column, i);
        words[n].i = n;
        n++;
    }
    qsort(words, n, sizeof(*words), by_word);
    json_out_open(out, "words", '[');
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || by_word(&words[i - 1], &words[i]) != 0) {
            json_out_text(out, NULL, words[i].text);
            distinct++;
        }
        at[words[i].i] = (double)(distinct - 1);
    }
    json_out_close(out);
    put_indices(out, "at", at, n, distinct);
    free(words);
    free(at);
}

static void put_named_words(struct json_out *out, const char *key,
                            const struct column *column, word_at *value)
{
    json_out_open(out, key, '{');
    put_words(out, column, value);
    json_out_close(out);
}

/* ---- keys and tunables */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t page_configs_digits(const struct report *report)
{
    const char **keys = mem_new(report->n_configs + 1, sizeof(*keys));
    size_t digits = KEY_DIGITS_LEAST;

    for (size_t i = 0; i < report->n_configs; i++)
        keys[i] = report->configs[i].key;
    qsort(keys, report->n_configs, sizeof(*keys), by_text);
    for (size_t i = 1; i < report->n_configs; i++) {
        size_t shared = 0;

        while (keys[i][shared] && keys[i][shared] == keys[i - 1][shared])
            shared++;
        if (shared >= digits)
            digits = shared + 1;
    }
    free(keys);
    return digits;
}

/* The keys without anything between them. */
static void put_keys(struct json_out *out, const struct report *report)
{
    int digits = (int)page_configs_digits(report);
    char *keys;
    size_t len;
    FILE *to = mem_stream(&keys, &len);

    for (size_t i = 0; i < report->n_configs; i++)
        if (report->configs[i].selected)
            fprintf(to, "%.*s", digits, report->configs[i].key);
    fclose(to);
    json_out_int(out, "digits", digits);
    json_out_text(out, "keys", keys);
    free(keys);
}

static const char *kind_name(enum stored_param_type type)
{
    switch (type) {
    case STORED_PARAM_INTEGER:
        return "integer";
    case STORED_PARAM_REAL:
        return "real";
    case STORED_PARAM_BOOL:
        return "bool";
    case STORED_PARAM_TEXT:
        break;
    }
    return "text";
}

static void put_tunables(struct json_out *out, struct column column)
{
    const struct report *report = column.report;
    size_t n = report->n_configs ? report->configs[0].params.n : 0;

    json_out_open(out, "tunables", '[');
    for (size_t i = 0; i < n; i++) {
        const struct stored_param *param = &report->configs[0].params.items[i];

        column.nth = i;
        json_out_open(out, NULL, '{');
        json_out_text(out, "name", param->name);
        json_out_text(out, "kind", kind_name(param->type));
        put_words(out, &column, tunable);
        json_out_close(out);
    }
    json_out_close(out);
}

/* ---- the whole */

/* Medians of the selected configurations at these places. */
static void put_medians_at(struct json_out *out, const struct column *column,
                           const size_t *places, size_t n)
{
    double *numbers = mem_new(n, sizeof(*numbers));
    size_t place = 0, k = 0;

    for (size_t i = 0; k < n && i < column->report->n_configs; i++) {
        if (!column->report->configs[i].selected)
            continue;
        if (place++ == places[k])
            numbers[k++] = median_ns(column, i);
    }
    put_numbers(out, NULL, numbers, n, 5);
    free(numbers);
}

static void put_places_of(struct json_out *out, const size_t *places, size_t n)
{
    double *numbers = mem_new(n, sizeof(*numbers));

    for (size_t k = 0; k < n; k++)
        numbers[k] = (double)places[k];
    put_array(out, "median_places", numbers, n, 15);
    free(numbers);
}

static void put_medians(struct json_out *out, struct column column)
{
    size_t *places, n = page_thin(column.report, &places);

    if (n > 0)
        put_places_of(out, places, n);
    json_out_open(out, "median_ns", '[');
    for (size_t s = 0; s < column.report->n_shapes; s++) {
        column.nth = s;
        if (s == 0 || n == 0)
            put_figures(out, NULL, &column, median_ns, 5);
        else
            put_medians_at(out, &column, places, n);
    }
    json_out_close(out);
    free(places);
}

static void put_metrics(struct json_out *out, struct column column)
{
    json_out_open(out, "metrics", '[');
    for (size_t m = 0; m < column.report->n_metrics; m++) {
        column.nth = m;
        json_out_open(out, NULL, '{');
        json_out_text(out, "name", column.report->metrics[m].name);
        json_out_text(out, "unit", column.report->metrics[m].unit);
        put_figures(out, "at", &column, metric, 5);
        json_out_close(out);
    }
    json_out_close(out);
}

static void put_places(struct json_out *out, const struct report *report)
{
    int64_t n = 0, ranked = 0, baseline = -1;

    for (size_t i = 0; i < report->n_configs; i++) {
        if (!report->configs[i].selected)
            continue;
        if (report->configs[i].baseline)
            baseline = n;
        ranked += report->configs[i].rank > 0;
        n++;
    }
    json_out_int(out, "n", n);
    json_out_int(out, "ranked", ranked);
    if (baseline < 0)
        json_out_null(out, "baseline");
    else
        json_out_int(out, "baseline", baseline);
}

void page_configs_json(const struct report *report,
                       const struct page_history *history, struct json_out *out)
{
    struct column column = { .report = report, .history = history };

    json_out_open(out, "configs", '{');
    put_places(out, report);
    put_keys(out, report);
    if (has_gaps(report))
        put_figures(out, "rank", &column, rank, 15);
    put_named_words(out, "outcome", &column, outcome);
    put_named_words(out, "reason", &column, reason);
    put_tunables(out, column);
    put_medians(out, column);
    put_figures(out, "normalised_ns", &column, normalised_ns, 5);
    put_figures(out, "spread_ns", &column, spread_ns, 3);
    put_figures(out, "below_ns", &column, below_ns, 3);
    put_figures(out, "above_ns", &column, above_ns, 3);
    put_figures(out, "samples", &column, samples, 15);
    put_named_words(out, "sampling", &column, sampling);
    put_figures(out, "registers", &column, registers, 15);
    put_figures(out, "spill_bytes", &column, spill_bytes, 15);
    put_metrics(out, column);
    put_named_words(out, "host", &column, host);
    put_named_words(out, "gpu", &column, gpu);
    put_named_words(out, "warnings", &column, warnings);
    put_figures(out, "settled_s", &column, settled_s, 5);
    if (history->total_s <= 0)
        put_figures(out, "turn", &column, turn, 15);
    json_out_close(out);
}
