#include "coordinator/inspect/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/plan/sanitizer.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/table.h"
#include "coordinator/result/report.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"
#include "coordinator/text/json_out.h"
#include "coordinator/text/terminal.h"

#define STALLS_SHOWN 4

/* ---- from the database */

static char *clean(const char *text)
{
    return terminal_clean(mem_strdup(text), false);
}

#define TOOL(member, kind) ROW_AT(struct store_tool, member, kind)
static const struct row_column tool_columns[] = {
    TOOL(config, TEXT),      TOOL(shape, TEXT),   TOOL(host, TEXT),
    TOOL(gpu, TEXT),         TOOL(outcome, TEXT), TOOL(detail, TEXT),
    TOOL(output, TEXT),      TOOL(log, TEXT),     TOOL(round, INT),
    TOOL(received_utc, INT),
};
static const struct row_shape tool_shape = ROW_SHAPE(NULL, tool_columns);

static void add_entry(struct profile *out, const struct report *report,
                      const struct store_tool *row)
{
    struct profile_entry entry = {
        .config = report_find(report, row->config),
        .ran = outcome_is(row->outcome, OUTCOME_RAN),
        .round = row->round,
        .at_utc = row->received_utc,
    };
    struct err why = { "" };

    if (!entry.config || !report_find_shape(report, row->shape, &entry.shape))
        return;
    if (entry.ran && ncu_read(row->output, row->log, &entry.told, &why) < 0)
        entry.ran = false;
    entry.host = clean(row->host);
    entry.gpu = clean(row->gpu);
    entry.why = mem_strdup("");
    if (!entry.ran) {
        free(entry.why);
        entry.why = mem_printf("%s: %s", row->outcome,
                               why.text[0] ? why.text : row->detail);
        entry.why = terminal_clean(entry.why, false);
    }
    out->entries = mem_grow(out->entries, out->n + 1, sizeof(*out->entries));
    out->entries[out->n++] = entry;
}

static int by_shape(const void *a, const void *b)
{
    const struct profile_entry *x = a, *y = b;

    if (x->shape != y->shape)
        return x->shape < y->shape ? -1 : 1;
    return (x->config > y->config) - (x->config < y->config);
}

int profile_keys(struct store *store, profile_keys_fn *fn, void *arg,
                 struct err *err)
{
    struct row_query query;
    struct store_tool row;
    int rc = row_open(store_db(store),
                      "SELECT DISTINCT config FROM tool"
                      " WHERE purpose='profile' AND counted=1",
                      &tool_shape, &query, err, "");

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        fn(arg, row.config);
    row_close(&query);
    return rc < 0 ? err_within(err, ERR_STORE, "%s", store_path(store)) : 0;
}

int profile_load(struct store *store, const struct report *report,
                 struct profile *out, struct err *err)
{
    static const char text[] =
        "SELECT t.config, t.shape, t.host, t.gpu, t.outcome, t.detail,"
        " t.output, t.log, t.round, t.received_utc FROM tool t"
        " WHERE t.purpose='profile' AND t.counted=1 AND t.round=(SELECT"
        "  max(u.round) FROM tool u WHERE u.purpose='profile' AND u.counted=1"
        "  AND u.round<?1 AND u.config=t.config AND u.shape=t.shape)";
    struct row_query query;
    struct store_tool row;
    int rc = row_open(store_db(store), text, &tool_shape, &query, err, "I",
                      (int64_t)SANITIZER_ROUNDS);

    *out = (struct profile){ NULL, 0 };
    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        add_entry(out, report, &row);
    row_close(&query);
    if (rc < 0) {
        profile_fini(out);
        return err_within(err, ERR_STORE, "%s", store_path(store));
    }
    if (out->n)
        qsort(out->entries, out->n, sizeof(*out->entries), by_shape);
    return 0;
}

void profile_fini(struct profile *profiles)
{
    for (size_t i = 0; i < profiles->n; i++) {
        free(profiles->entries[i].host);
        free(profiles->entries[i].gpu);
        free(profiles->entries[i].why);
    }
    free(profiles->entries);
    *profiles = (struct profile){ NULL, 0 };
}

/* ---- for people */

static bool is_shown(const struct profile_entry *entry, size_t shape)
{
    return entry->ran && entry->shape == shape;
}

static void headings(struct table *table, const struct profile *profiles,
                     const struct report *report, size_t shape)
{
    table_column(table, 'l', report->shapes[shape].name);
    for (size_t i = 0; i < profiles->n; i++) {
        const struct report_config *config = profiles->entries[i].config;
        char *name;

        if (!is_shown(&profiles->entries[i], shape))
            continue;
        name = mem_printf("%s%.8s", config->baseline ? "baseline " : "",
                          config->key);
        table_column(table, 'r', name);
        free(name);
    }
}

static int decimals_of(enum ncu_figure figure)
{
    switch (figure) {
    case NCU_DRAM_BYTES:
    case NCU_SHARED_WAVEFRONTS:
    case NCU_BANK_CONFLICTS:
    case NCU_REGISTERS:
        return 0;
    case NCU_DURATION:
    case NCU_ELIGIBLE:
        return 2;
    default:
        return 1;
    }
}

static void figure_row(struct table *table, const struct profile *profiles,
                       size_t shape, enum ncu_figure figure)
{
    table_cell(table, "%s", ncu_text(figure));
    for (size_t i = 0; i < profiles->n; i++)
        if (is_shown(&profiles->entries[i], shape))
            table_number(table, decimals_of(figure),
                         profiles->entries[i].told.figures[figure] *
                             (figure == NCU_DURATION ? 1e6 : 1));
}

static void stall_row(struct table *table, const struct profile *profiles,
                      size_t shape, size_t place)
{
    table_cell(table, "stalled %zu", place + 1);
    for (size_t i = 0; i < profiles->n; i++) {
        const struct ncu_profile *told = &profiles->entries[i].told;

        if (!is_shown(&profiles->entries[i], shape))
            continue;
        if (place < told->n_stalls)
            table_cell(table, "%s %.2f", told->stalls[place].reason,
                       told->stalls[place].warps);
        else
            table_cell(table, "-");
    }
}

static void print_shape(const struct profile *profiles,
                        const struct report *report, size_t shape, FILE *to)
{
    struct table *table = table_new();

    headings(table, profiles, report, shape);
    for (int f = 0; f < NCU_FIGURES; f++)
        figure_row(table, profiles, shape, (enum ncu_figure)f);
    for (size_t i = 0; i < STALLS_SHOWN; i++)
        stall_row(table, profiles, shape, i);
    fputc('\n', to);
    table_print(table, to);
    table_free(table);
}

void profile_print(const struct profile *profiles, const struct report *report,
                   FILE *to)
{
    size_t shown = 0;

    for (size_t s = 0; s < report->n_shapes; s++) {
        size_t n = 0;

        for (size_t i = 0; i < profiles->n; i++)
            n += is_shown(&profiles->entries[i], s);
        if (n)
            print_shape(profiles, report, s, to);
        shown += n;
    }
    if (shown)
        paragraph_print(
            to, 0,
            "measured by Nsight Compute, which slows kernels down: compare "
            "the shares here, but the times in the sweep's report");
    for (size_t i = 0; i < profiles->n; i++)
        if (!profiles->entries[i].ran)
            fprintf(to, "\nno profile of %.8s at %s, by %s: %s\n",
                    profiles->entries[i].config->key,
                    report->shapes[profiles->entries[i].shape].name,
                    profiles->entries[i].host, profiles->entries[i].why);
}

/* ---- for programs */

static void put_entry(struct json_out *out, const struct report *report,
                      const struct profile_entry *entry)
{
    json_out_open(out, NULL, '{');
    json_out_raw(out, "config", entry->config->json);
    json_out_text(out, "key", entry->config->key);
    json_out_bool(out, "baseline", entry->config->baseline);
    json_out_text(out, "shape", report->shapes[entry->shape].name);
    json_out_text(out, "host", entry->host);
    json_out_text(out, "gpu", entry->gpu);
    json_out_utc(out, "at", entry->at_utc);
    json_out_bool(out, "ran", entry->ran);
    json_out_text(out, "why", entry->why);
    json_out_open(out, "figures", '{');
    for (int f = 0; entry->ran && f < NCU_FIGURES; f++)
        json_out_real(out, ncu_key((enum ncu_figure)f), entry->told.figures[f]);
    json_out_close(out);
    json_out_open(out, "stalls", '[');
    for (size_t i = 0; entry->ran && i < entry->told.n_stalls; i++) {
        json_out_open(out, NULL, '{');
        json_out_text(out, "reason", entry->told.stalls[i].reason);
        json_out_real(out, "warps", entry->told.stalls[i].warps);
        json_out_close(out);
    }
    json_out_close(out);
    json_out_close(out);
}

void profile_json(const struct profile *profiles, const struct report *report,
                  struct json_out *out, const char *key)
{
    json_out_open(out, key, '[');
    for (size_t i = 0; i < profiles->n; i++)
        put_entry(out, report, &profiles->entries[i]);
    json_out_close(out);
}
