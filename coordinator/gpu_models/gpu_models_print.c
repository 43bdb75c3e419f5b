/* The sweeps of several GPU models for people. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "coordinator/gpu_models/gpu_models.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/table.h"

#define TEXT_MAX (1 << 16)

static void print_sides(const struct gpu_models *models, FILE *to)
{
    struct table *table = table_new();

    table_column(table, 'l', "model");
    table_column(table, 'l', "GPU");
    table_column(table, 'r', "correct");
    table_column(table, 'r', "speedup");
    table_column(table, 'l', "winner");
    table_column(table, 'l', "database");
    for (size_t i = 0; i < models->n; i++) {
        const struct gpu_models_side *side = &models->sides[i];

        table_cell(table, "%s", side->model);
        table_cell(table, "%s", side->gpu[0] ? side->gpu : "-");
        table_cell(table, "%zu", side->n);
        table_number(table, 3, side->speedup.value);
        table_cell(table, "%s", side->state);
        table_cell(table, "%s", side->database);
    }
    table_print(table, to);
    table_free(table);
}

static bool printed_before(const struct gpu_models *models, size_t i)
{
    for (size_t before = 0; before < i; before++)
        if (strcmp(models->sides[before].winner, models->sides[i].winner) == 0)
            return true;
    return false;
}

static void print_costs_of(const struct gpu_models *models,
                           const struct gpu_models_time *config,
                           const char *what, struct table *table)
{
    for (size_t i = 0; i < models->n; i++) {
        double cost = gpu_models_cost(&models->sides[i], config->key);

        if (isnan(cost))
            table_cell(table, "not measured there");
        else
            table_cell(table, "%+.1f %%", 100 * cost);
    }
    table_cell(table, "%s", config->name);
    table_cell(table, "%s", what);
}

static void put_whose(const struct gpu_models *models, const char *key,
                      struct buf *out)
{
    const char *between = "winner of ";

    for (size_t i = 0; i < models->n; i++) {
        if (strcmp(models->sides[i].winner, key) != 0)
            continue;
        buf_printf(out, "%s%s", between, models->sides[i].model);
        between = ", ";
    }
}

/* Every winner, and the best for all if that is another one. */
static void print_costs(const struct gpu_models *models, FILE *to)
{
    struct gpu_models_common common;
    struct table *table = table_new();
    bool named = false;
    struct buf what;

    buf_init(&what, TEXT_MAX);
    for (size_t i = 0; i < models->n; i++)
        table_column(table, 'r', models->sides[i].model);
    table_column(table, 'l', "configuration");
    table_column(table, 'l', "is");
    gpu_models_common(models, &common);
    for (size_t i = 0; i < models->n; i++) {
        const struct gpu_models_side *side = &models->sides[i];
        const struct gpu_models_time *winner = gpu_models_winner(side);

        if (!winner || side->emulated || printed_before(models, i))
            continue;
        buf_clear(&what);
        put_whose(models, winner->key, &what);
        print_costs_of(models, winner, buf_text(&what), table);
        named = named ||
                (common.config && strcmp(common.config->key, winner->key) == 0);
    }
    if (common.config && !named)
        print_costs_of(models, common.config, "best for all", table);
    fprintf(to, "\nMore time than the winner of each model, by screening "
                "times:\n\n");
    table_print(table, to);
    table_free(table);
    buf_fini(&what);
}

/* Of what is not one sweep on several models, if anything. */
static void print_difference(const struct gpu_models *models, FILE *to)
{
    const char *first = "";

    for (size_t i = 0; i < models->n; i++) {
        const char *name = models->sides[i].sweep;

        if (first[0] && name[0] && strcmp(first, name) != 0) {
            fputc('\n', to);
            paragraph_print(to, 0,
                            "The sweeps are not of one name (%s, %s), so they "
                            "may be of different kernels.",
                            first, name);
            return;
        }
        first = name[0] ? name : first;
    }
    if (gpu_models_same_file(models))
        return;
    fputc('\n', to);
    paragraph_print(to, 0,
                    "The sweep file changed between these sweeps, so they may "
                    "have tried different things.");
}

void gpu_models_print(const struct gpu_models *models, FILE *to)
{
    struct buf text;
    bool any = false;

    buf_init(&text, TEXT_MAX);
    gpu_models_sentence(models, &text);
    buf_printf(&text, ".");
    paragraph_print(to, 0, "%s", buf_text(&text));
    fputc('\n', to);
    print_sides(models, to);
    for (size_t i = 0; i < models->n; i++)
        any = any || (gpu_models_winner(&models->sides[i]) &&
                      !models->sides[i].emulated);
    if (any)
        print_costs(models, to);
    for (size_t i = 0; i < models->n; i++) {
        buf_clear(&text);
        fputc('\n', to);
        buf_printf(&text, "%s: %s.", models->sides[i].model,
                   models->sides[i].verdict);
        paragraph_print(to, 0, "%s", buf_text(&text));
    }
    print_difference(models, to);
    buf_fini(&text);
}
