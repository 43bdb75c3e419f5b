#include "coordinator/inspect/explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/config/config.h"
#include "coordinator/inspect/findings.h"
#include "coordinator/print/table.h"
#include "coordinator/result/report.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/sql/row.h"
#include "coordinator/sql/row_cells.h"
#include "coordinator/store/store.h"
#include "coordinator/stored/stored_ready.h"
#include "coordinator/text/json_out.h"
#include "coordinator/text/suggest.h"
#include "coordinator/text/terminal.h"

#define TEXT_MAX (1 << 16)

/* For people: empty where there is nothing to say, so that the column can be
 * left out. */
static const char builds_table[] =
    "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', received_utc / 1000000000,"
    " 'unixepoch') AS received, outcome, host,"
    " iif(attempt = 1, '', attempt) AS attempt, round(seconds, 3) AS seconds,"
    " iif(cached, 'yes', '') AS cached, coalesce(registers, '') AS registers,"
    " coalesce(nullif(spill_bytes, 0), '') AS spill_bytes,"
    " iif(counted, '', 'late or repeated: not used') AS note, detail"
    " FROM build WHERE config=? ORDER BY received_utc";
static const char leases_table[] =
    "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', leased_utc / 1000000000,"
    " 'unixepoch') AS leased, iif(stage = 'build', stage, purpose) AS work,"
    " shape, host, substr(gpu, 1, 12) AS gpu,"
    " iif(attempt = 1, '', attempt) AS attempt,"
    " round((ended_utc - leased_utc) / 1e9, 3) AS seconds,"
    " coalesce(nullif(ending, 'done'), iif(ended_utc IS NULL, 'open', ''))"
    " AS ending FROM lease WHERE config=? ORDER BY epoch, id";
static const char results_table[] =
    "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', received_utc / 1000000000,"
    " 'unixepoch') AS received, shape, outcome, purpose, host,"
    " substr(gpu, 1, 12) AS gpu, iif(attempt = 1, '', attempt) AS attempt,"
    " json_array_length(samples) AS n,"
    " iif(sampling IN ('loser', 'unstable'), sampling, '') AS sampling,"
    " iif(relative_l2 IS NULL, '', printf('%.3g', relative_l2)) AS relative_l2,"
    " iif(max_error IS NULL, '', printf('%.3g', max_error)) AS max_error,"
    " iif(counted, '', 'late or repeated: not used') AS note, detail"
    " FROM result WHERE config=? ORDER BY received_utc";

/* The columns of a list: the short form for people, all of them for
 * programs. */
static const struct listing {
    const char *name;
    const char *table;
    const char *json;
} listings[] = {
    { "builds", builds_table,
      "SELECT * FROM build WHERE config=? ORDER BY received_utc" },
    { "leases", leases_table,
      "SELECT * FROM lease WHERE config=? ORDER BY epoch, id" },
    { "results", results_table,
      "SELECT r.*, y.driver, y.toolkit, y.boot_id, y.worker_version"
      " FROM result r" STORED_READY
      " WHERE r.config=? ORDER BY r.received_utc" },
};

/* ---- find the configuration ---- */

/* What is neither values nor a key may be the name of a tunable or a gate. */
static int no_such_name(const struct stored_spec *stored, const char *which,
                        struct err *err)
{
    const struct spec_space *space = &stored->spec->space;
    const char *names[SPEC_AXES_MAX + SPEC_LIST_MAX], *near;
    size_t n = 0;

    for (; n < space->n_axes; n++)
        names[n] = space->axes[n].name;
    for (size_t i = 0; i < space->n_gates; i++)
        names[n++] = space->gates[i].name;
    near = suggest_name(which, strlen(which), names, n);
    if (!near && strlen(which) > 3 &&
        strcmp(which + strlen(which) - 3, ".db") == 0)
        return err_set(err, ERR_INPUT,
                       "'%.64s' is a database; name a configuration too: the "
                       "first digits of its key, or NAME=VALUE for all "
                       "tunables",
                       which);
    if (!near)
        return err_set(err, ERR_INPUT,
                       "'%.64s' is neither NAME=VALUE nor the first digits of "
                       "a key",
                       which);
    if (strcmp(near, which) != 0)
        return err_set(err, ERR_INPUT,
                       "'%.64s' is not a configuration; did you mean '%.64s'?",
                       which, near);
    return err_set(err, ERR_INPUT,
                   "'%.64s' is a name of the sweep file, not a configuration: "
                   "give NAME=VALUE for all tunables, or the first digits of "
                   "a key; fa-coord space lists the gates",
                   which);
}

static int find_by_key(const struct report *report, const char *which,
                       struct explain *out, struct err *err)
{
    size_t n = 0, len = strlen(which);

    for (size_t i = 0; i < report->n_configs; i++) {
        if (strncmp(report->configs[i].key, which, len) != 0)
            continue;
        out->config = &report->configs[i];
        n++;
    }
    if (n == 0)
        return err_set(err, ERR_INPUT,
                       "no configuration of this sweep has a key that begins "
                       "with '%s'",
                       which);
    if (n > 1)
        return err_set(err, ERR_INPUT,
                       "%zu configurations have keys that begin with '%s'; "
                       "give more digits",
                       n, which);
    memcpy(out->key, out->config->key, sizeof(out->key));
    return 0;
}

static int find_by_values(const struct report *report,
                          struct stored_spec *stored, const char *which,
                          struct explain *out, struct err *err)
{
    struct buf texts, text;
    int rc;

    buf_init(&texts, TEXT_MAX);
    buf_init(&text, TEXT_MAX);
    rc = config_parse(stored->spec, which, stored->values, &texts, err);
    if (rc == 0) {
        config_key(stored->spec, stored->values, out->key);
        config_text(stored->spec, stored->values, &text);
        out->text = mem_strdup(buf_text(&text));
        config_remark(stored->spec, stored->values, &out->odd);
        out->rejected_by =
            space_rejected_by(stored->space, stored->values, err);
        if (out->rejected_by == SPACE_ERROR)
            rc = ERR_INPUT;
    }
    if (rc == 0)
        out->config = report_find(report, out->key);
    buf_fini(&texts);
    buf_fini(&text);
    return rc;
}

static char *params_text(const struct stored_params *params)
{
    struct buf buf;
    char *text;

    buf_init(&buf, TEXT_MAX);
    for (size_t i = 0; i < params->n; i++)
        buf_printf(&buf, "%s%s=%s", i ? " " : "", params->items[i].name,
                   params->items[i].text);
    text = mem_strdup(buf_text(&buf));
    buf_fini(&buf);
    return text;
}

int explain_find(const struct report *report, struct stored_spec *stored,
                 const char *which, struct explain *out, struct err *err)
{
    int rc;

    *out = (struct explain){ .rejected_by = SPACE_PASSES };
    if (strchr(which, '='))
        rc = find_by_values(report, stored, which, out, err);
    else if (which[strspn(which, "0123456789abcdef")])
        rc = no_such_name(stored, which, err);
    else
        rc = find_by_key(report, which, out, err);
    if (rc == 0 && !out->text) {
        out->text = params_text(&out->config->params);
        rc = stored_spec_values(stored, &out->config->params, err);
        if (rc == 0)
            out->rejected_by =
                space_rejected_by(stored->space, stored->values, err);
        if (out->rejected_by == SPACE_ERROR)
            rc = ERR_INPUT;
    }
    if (rc < 0)
        explain_fini(out);
    return rc;
}

void explain_fini(struct explain *explain)
{
    free(explain->text);
    explain->text = NULL;
}

/* ---- lists ---- */

static void put_cell(struct json_out *out, const char *name,
                     const struct sql_value *value)
{
    if (value->type == 'I')
        json_out_int(out, name, value->integer);
    else if (value->type == 'd')
        json_out_real(out, name, value->real);
    else if (value->type == 'n')
        json_out_null(out, name);
    else if (value->text[0] == '[' && strcmp(name, "detail") != 0 &&
             strcmp(name, "log") != 0)
        json_out_raw(out, name, value->text); /* samples, clocks */
    else
        json_out_text(out, name, value->text);
}

static void put_row(struct json_out *out, const struct row_cells *row)
{
    json_out_open(out, NULL, '{');
    for (size_t i = 0; i < row->n; i++)
        put_cell(out, row->names[i], &row->values[i]);
    json_out_close(out);
}

static void add_row(struct table *table, const struct row_cells *row,
                    bool first)
{
    for (size_t i = 0; first && i < row->n; i++)
        table_column(table, row->values[i].type == 't' ? 'l' : 'r',
                     row->names[i]);
    for (size_t i = 0; i < row->n; i++)
        table_cell(table, "%s", row_cells_text(row, i));
}

static int list(struct store *store, const struct listing *listing,
                const char *key, struct json_out *out, FILE *to,
                struct err *err)
{
    struct sqlite3_stmt *stmt = NULL;
    struct table *table = table_new();
    struct row_cells row;
    bool first = true;
    int rc = sql_prepare(store_db(store), out ? listing->json : listing->table,
                         &stmt, err);

    if (out)
        json_out_open(out, listing->name, '[');
    if (rc == 0)
        rc = sql_start(stmt, err, "s", key);
    for (; rc >= 0 && (rc = sql_step(stmt, err)) == 1; first = false) {
        row_cells_read(stmt, &row);
        if (out)
            put_row(out, &row);
        else
            add_row(table, &row, first);
    }
    if (out)
        json_out_close(out);
    else
        fprintf(to, first ? "\n%s: none\n" : "\n%s\n", listing->name);
    table_drop_empty(table);
    table_print(table, to);
    table_free(table);
    sql_free(stmt);
    return rc;
}

/* ---- the head ---- */

static const char *gate_verdict(const struct explain *explain, size_t gate,
                                bool warns)
{
    if (warns)
        return "warns";
    if (explain->rejected_by == (int)gate)
        return "rejects";
    /* Gates are evaluated in order, up to the first that rejects. */
    return explain->rejected_by >= 0 && (int)gate > explain->rejected_by
               ? "not asked"
               : "passes";
}

static void put_head(struct json_out *out, const struct explain *explain,
                     const struct report *report,
                     const struct stored_spec *stored)
{
    const struct report_config *config = explain->config;

    json_out_text(out, "key", explain->key);
    json_out_text(out, "text", explain->text);
    json_out_bool(out, "asked", config != NULL);
    if (explain->rejected_by >= 0)
        json_out_text(out, "rejected_by",
                      stored->spec->space.gates[explain->rejected_by].name);
    else
        json_out_null(out, "rejected_by");
    if (!config)
        return;
    json_out_raw(out, "config", config->json);
    json_out_bool(out, "baseline", config->baseline);
    json_out_text(out, "outcome", outcome_name(config->outcome));
    json_out_text(out, "reason", config->reason);
    if (config->rank)
        json_out_int(out, "rank", config->rank);
    else
        json_out_null(out, "rank");
    json_out_raw(out, "warnings",
                 config->warnings[0] ? config->warnings : "[]");
    json_out_open(out, "medians_s", '{');
    for (size_t i = 0; i < report->n_shapes; i++)
        json_out_real(out, report->shapes[i].name,
                      config->cells[i].summary.median);
    json_out_close(out);
}

/* Is this name in the JSON array of warnings? */
static bool is_warned(const struct report_config *config, const char *name)
{
    char *quoted = mem_printf("\"%s\"", name);
    bool found = config && strstr(config->warnings, quoted);

    free(quoted);
    return found;
}

static void print_gates(const struct explain *explain,
                        const struct stored_spec *stored, FILE *to)
{
    struct table *table = table_new();
    bool any = false;

    table_column(table, 'l', "gate");
    table_column(table, 'l', "says");
    table_column(table, 'l', "rule");
    table_column(table, 'l', "why");
    for (size_t i = 0; i < stored->spec->space.n_gates; i++) {
        const struct spec_gate *gate = &stored->spec->space.gates[i];

        if (gate->warns && !is_warned(explain->config, gate->name))
            continue;
        any = true;
        table_cell(table, "%s", gate->name);
        table_cell(table, "%s", gate_verdict(explain, i, gate->warns));
        table_cell(table, "%s", gate->rule.text);
        table_cell(table, "%s", gate->why);
    }
    if (any) {
        fputc('\n', to);
        table_print(table, to);
    }
    table_free(table);
}

/* In the unit of the report. */
static void print_time(const struct report_cell *cell, FILE *to)
{
    double seconds = cell->summary.median;
    const char *unit = seconds < 1e-3 ? "us" : seconds < 1 ? "ms" : "s";
    double scale = seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1;

    fprintf(to, ", median %.3f %s, spread %.3f %s, %zu sample%s",
            seconds * scale, unit, cell->summary.spread * scale, unit,
            cell->n_samples, cell->n_samples == 1 ? "" : "s");
}

static void print_head(const struct explain *explain,
                       const struct report *report, FILE *to)
{
    const struct report_config *config = explain->config;

    fprintf(to, "%s\n%s\n", explain->key, explain->text);
    if (!config) {
        fprintf(to, explain->rejected_by >= 0
                        ? "never built, because a gate rejects it\n"
                        : "not tried in this sweep\n");
        if (explain->rejected_by < 0 && explain->odd.text[0])
            fprintf(to, "%s\n", explain->odd.text);
        return;
    }
    fprintf(to, "%s%s", config->baseline ? "the baseline; " : "",
            config->refuted ? "refuted" : outcome_name(config->outcome));
    if (config->reason[0])
        fprintf(to, ": %s", config->reason);
    if (config->rank)
        fprintf(to, ", rank %d of %" PRId64, config->rank,
                report->counts.outcomes[OUTCOME_CORRECT]);
    fputc('\n', to);
    for (size_t i = 0; i < report->n_shapes; i++) {
        const struct report_cell *cell = &config->cells[i];

        fprintf(to, "  %s: %s", report->shapes[i].name,
                config->refuted && cell->outcome == config->outcome
                    ? "correct in the sweep, before it was refuted"
                    : outcome_name(cell->outcome));
        if (cell->n_samples)
            print_time(cell, to);
        fprintf(to, ", %" PRId64 " attempt%s\n", cell->attempts,
                cell->attempts == 1 ? "" : "s");
    }
}

struct log_row {
    const char *log;
};

static const struct row_column log_columns[] = {
    ROW_AT(struct log_row, log, TEXT),
};
static const struct row_shape log_shape = ROW_SHAPE(NULL, log_columns);

/* The first lines of the last compiler output. */
static int print_log(struct store *store, const char *key, FILE *to,
                     struct err *err)
{
    static const char query_text[] =
        "SELECT substr(log, 1, 2000) AS log FROM build WHERE config=?"
        " AND build.log<>'' ORDER BY received_utc DESC LIMIT 1";
    struct row_query query;
    struct log_row row = { "" };
    int rc = row_open(store_db(store), query_text, &log_shape, &query, err, "s",
                      key);

    if (rc == 0)
        rc = row_next(&query, &row, err);
    if (rc == 1) {
        char *text = terminal_clean(mem_strdup(row.log), true);

        fprintf(to,
                "\n"
                "the beginning of the last build's log\n%s\n",
                text);
        free(text);
    }
    row_close(&query);
    return err_only(rc);
}

static int show_findings(struct store *store, const char *key,
                         struct json_out *out, FILE *to, struct err *err)
{
    struct findings findings;
    int rc = findings_load(store, key, &findings, err);

    if (rc == 0 && out)
        findings_json(&findings, out, "sanitizer");
    else if (rc == 0)
        findings_print(&findings, to);
    findings_fini(&findings);
    return rc;
}

int explain_print(const struct explain *explain, const struct report *report,
                  const struct stored_spec *stored, struct store *store,
                  bool json, FILE *to, struct err *err)
{
    struct json_out out;
    int rc;

    json_out_init(&out, to);
    if (json) {
        json_out_open(&out, NULL, '{');
        put_head(&out, explain, report, stored);
    } else {
        print_head(explain, report, to);
        print_gates(explain, stored, to);
    }
    rc = show_findings(store, explain->key, json ? &out : NULL, to, err);
    for (size_t i = 0; rc == 0 && i < 3; i++)
        rc = list(store, &listings[i], explain->key, json ? &out : NULL, to,
                  err);
    if (json)
        json_out_close(&out);
    else if (rc == 0)
        rc = print_log(store, explain->key, to, err);
    return rc < 0 ? err_within(err, rc, "%s", store_path(store)) : 0;
}
