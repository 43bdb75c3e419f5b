#include "coordinator/inspect/findings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/print/table.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"
#include "coordinator/text/json_out.h"
#include "coordinator/text/terminal.h"

/* ---- from the database */

static char *clean(const char *text)
{
    return terminal_clean(mem_strdup(text), false);
}

#define TOOL(member, kind) ROW_AT(struct store_tool, member, kind)
static const struct row_column tool_columns[] = {
    TOOL(shape, TEXT),   TOOL(host, TEXT),   TOOL(gpu, TEXT),
    TOOL(outcome, TEXT), TOOL(detail, TEXT), TOOL(output, TEXT),
    TOOL(log, TEXT),     TOOL(round, INT),   TOOL(received_utc, INT),
};
static const struct row_shape tool_shape = ROW_SHAPE(NULL, tool_columns);

static void run_fini(struct findings_run *run)
{
    free(run->shape);
    free(run->host);
    free(run->gpu);
    free(run->why);
    free(run->told);
}

/* Rows come by shape, tool and age: a newer run replaces the last one. */
static struct findings_run *place_of(struct findings *out, const char *shape,
                                     enum sanitizer_tool tool)
{
    struct findings_run *last = out->n ? &out->runs[out->n - 1] : NULL;

    if (last && last->tool == tool && strcmp(last->shape, shape) == 0) {
        run_fini(last);
        return last;
    }
    out->runs = mem_grow(out->runs, out->n + 1, sizeof(*out->runs));
    return &out->runs[out->n++];
}

static void add_run(struct findings *out, const struct store_tool *row)
{
    struct findings_run run = {
        .ran = outcome_is(row->outcome, OUTCOME_RAN),
        .round = row->round,
        .at_utc = row->received_utc,
        .told = mem_new(1, sizeof(*run.told)),
    };
    struct err why = { "" };

    (void)sanitizer_of_round(row->round, &run.tool);
    if (sanitizer_read(row->output, row->log, run.told, &why) == 0)
        why.text[0] = '\0';
    else
        run.ran = false;
    run.shape = mem_strdup(row->shape);
    run.host = clean(row->host);
    run.gpu = clean(row->gpu);
    run.why =
        run.ran
            ? mem_strdup("")
            : terminal_clean(mem_printf("%s: %s", row->outcome,
                                        *row->detail ? row->detail : why.text),
                             false);
    *place_of(out, row->shape, run.tool) = run;
}

int findings_load(struct store *store, const char *key, struct findings *out,
                  struct err *err)
{
    static const char text[] =
        "SELECT shape, host, gpu, outcome, detail, output, log, round,"
        " received_utc FROM tool"
        " WHERE config=?1 AND purpose='profile' AND round>=?2"
        " ORDER BY shape, round % ?3, round, counted, received_utc";
    struct row_query query;
    struct store_tool row;
    int rc = row_open(store_db(store), text, &tool_shape, &query, err, "sII",
                      key, (int64_t)SANITIZER_ROUNDS, (int64_t)SANITIZER_TOOLS);

    *out = (struct findings){ NULL, 0 };
    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        add_run(out, &row);
    row_close(&query);
    if (rc == 0)
        return 0;
    findings_fini(out);
    return err_within(err, ERR_STORE, "%s", store_path(store));
}

void findings_fini(struct findings *findings)
{
    for (size_t i = 0; i < findings->n; i++)
        run_fini(&findings->runs[i]);
    free(findings->runs);
    *findings = (struct findings){ NULL, 0 };
}

/* The rounds of a check's runs are in one block. */
static int64_t check_of(const struct findings_run *run)
{
    return run->round / SANITIZER_TOOLS;
}

int64_t findings_newest(const struct findings *findings)
{
    int64_t newest = 0;

    for (size_t i = 0; i < findings->n; i++)
        if (check_of(&findings->runs[i]) > newest)
            newest = check_of(&findings->runs[i]);
    return newest;
}

bool findings_are_whole(const struct findings *findings)
{
    int64_t newest = findings_newest(findings);
    int verdicts = 0;

    for (size_t i = 0; i < findings->n; i++)
        verdicts +=
            check_of(&findings->runs[i]) == newest && findings->runs[i].ran;
    return verdicts == SANITIZER_TOOLS;
}

/* ---- for people */

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* What keeps one tool from checking often keeps all of them. */
static char *verdict_of(const struct findings *findings, size_t i)
{
    const struct findings_run *run = &findings->runs[i];
    const struct sanitizer_report *told = run->told;

    if (!run->ran && i > 0 && strcmp(run->why, run[-1].why) == 0)
        return mem_strdup("the same");
    if (!run->ran)
        return mem_strdup(run->why);
    if (told->errors == 0 && told->warnings == 0)
        return mem_strdup("nothing found");
    if (told->warnings == 0)
        return mem_printf("%" PRId64 " error%s", told->errors,
                          plural(told->errors));
    return mem_printf("%" PRId64 " error%s, %" PRId64 " warning%s",
                      told->errors, plural(told->errors), told->warnings,
                      plural(told->warnings));
}

static void print_verdicts(const struct findings *findings, FILE *to)
{
    struct table *table = table_new();

    table_column(table, 'l', "shape");
    table_column(table, 'l', "compute-sanitizer");
    table_column(table, 'l', "checks");
    table_column(table, 'l', "host");
    table_column(table, 'l', "verdict");
    for (size_t i = 0; i < findings->n; i++) {
        const struct findings_run *run = &findings->runs[i];
        char *verdict = verdict_of(findings, i);

        table_cell(table, "%s", run->shape);
        table_cell(table, "%s", sanitizer_name(run->tool));
        table_cell(table, "%s", sanitizer_checks(run->tool));
        table_cell(table, "%s", run->host);
        table_cell(table, "%s", verdict);
        free(verdict);
    }
    fputc('\n', to);
    table_print(table, to);
    table_free(table);
}

static void finding_row(struct table *table, const struct findings_run *run,
                        const struct sanitizer_finding *finding)
{
    table_cell(table, "%s", run->shape);
    table_cell(table, "%s", sanitizer_name(run->tool));
    table_cell(table, "%" PRId64, finding->count);
    table_cell(table, "%s%s", finding->kind,
               finding->warning ? " (warning)" : "");
    table_cell(table, "%s", finding->thread);
    table_cell(table, "%s", finding->block);
    table_cell(table, "%s", finding->where);
}

static void print_findings(const struct findings *findings, FILE *to)
{
    struct table *table = table_new();
    int64_t shown = 0, left_out = 0;

    table_column(table, 'l', "shape");
    table_column(table, 'l', "tool");
    table_column(table, 'r', "count");
    table_column(table, 'l', "finding");
    table_column(table, 'l', "thread");
    table_column(table, 'l', "block");
    table_column(table, 'l', "where");
    for (size_t i = 0; i < findings->n; i++) {
        const struct sanitizer_report *told = findings->runs[i].told;

        for (size_t k = 0; k < told->n; k++, shown++)
            finding_row(table, &findings->runs[i], &told->findings[k]);
        left_out += told->left_out;
    }
    if (shown) {
        fputc('\n', to);
        table_print(table, to);
    }
    if (left_out)
        fprintf(to, "and %" PRId64 " more\n", left_out);
    table_free(table);
}

void findings_print(const struct findings *findings, FILE *to)
{
    bool missing = false;

    if (findings->n == 0)
        return;
    print_verdicts(findings, to);
    print_findings(findings, to);
    for (size_t i = 0; i < findings->n; i++)
        missing = missing || strncmp(findings->runs[i].why, "missing:", 8) == 0;
    if (missing)
        fprintf(to, "\ncompute-sanitizer is part of the CUDA toolkit (package "
                    "cuda-sanitizer-MAJOR-MINOR): install it on that host, or "
                    "put it into the worker's PATH\n");
}

/* ---- for programs */

static void put_finding(struct json_out *out,
                        const struct sanitizer_finding *finding)
{
    json_out_open(out, NULL, '{');
    json_out_text(out, "kind", finding->kind);
    json_out_text(out, "where", finding->where);
    json_out_text(out, "thread", finding->thread);
    json_out_text(out, "block", finding->block);
    json_out_int(out, "count", finding->count);
    json_out_bool(out, "warning", finding->warning);
    json_out_close(out);
}

/* A number that a summary says; null without one. */
static void put_number(struct json_out *out, const char *key, int64_t number)
{
    if (number < 0)
        json_out_null(out, key);
    else
        json_out_int(out, key, number);
}

static void put_run(struct json_out *out, const struct findings_run *run)
{
    json_out_open(out, NULL, '{');
    json_out_text(out, "tool", sanitizer_name(run->tool));
    json_out_text(out, "shape", run->shape);
    json_out_text(out, "host", run->host);
    json_out_text(out, "gpu", run->gpu);
    json_out_utc(out, "at", run->at_utc);
    json_out_bool(out, "ran", run->ran);
    json_out_text(out, "why", run->why);
    put_number(out, "errors", run->told->errors);
    put_number(out, "warnings", run->told->warnings);
    json_out_open(out, "findings", '[');
    for (size_t i = 0; i < run->told->n; i++)
        put_finding(out, &run->told->findings[i]);
    json_out_close(out);
    json_out_int(out, "left_out", run->told->left_out);
    json_out_close(out);
}

void findings_json(const struct findings *findings, struct json_out *out,
                   const char *key)
{
    json_out_open(out, key, '[');
    for (size_t i = 0; i < findings->n; i++)
        put_run(out, &findings->runs[i]);
    json_out_close(out);
}
