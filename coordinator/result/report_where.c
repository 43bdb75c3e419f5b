#include "coordinator/result/report_where.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/result/report.h"
#include "coordinator/sql/sql.h"
#include "coordinator/text/suggest.h"

#define TEXT_MAX (1 << 16)
#define COLUMNS_MAX 200

struct column {
    const char *name;
    struct sql_value value;
};

static struct sql_value text(const char *s)
{
    return (struct sql_value){ .type = 't', .text = s, .len = strlen(s) };
}

static struct sql_value integer(int64_t n)
{
    return (struct sql_value){ .type = 'I', .integer = n };
}

static struct sql_value count(int64_t n)
{
    if (n < 0)
        return (struct sql_value){ .type = 'n' };
    return integer(n);
}

static struct sql_value real(double x)
{
    struct sql_value value[SQL_VALUES_MAX];

    sql_values(value, "d", x);
    return value[0];
}

static struct sql_value param_value(const struct stored_param *param)
{
    if (param->type == STORED_PARAM_TEXT)
        return text(param->text);
    if (param->type == STORED_PARAM_REAL)
        return real(param->number);
    return integer((int64_t)param->number);
}

static void add(struct column *columns, size_t *n, const char *name,
                struct sql_value value)
{
    for (size_t i = 0; i < *n; i++)
        if (strcasecmp(columns[i].name, name) == 0)
            return;
    if (*n < COLUMNS_MAX)
        columns[(*n)++] = (struct column){ name, value };
}

/* The columns for one configuration; names and order are the same for all. */
static size_t row(const struct report *report,
                  const struct report_config *config, struct column *columns)
{
    const struct stored_params *names = &report->configs[0].params;
    const struct report_cell *cell = &config->cells[0];
    size_t n = 0;

    for (size_t i = 0; i < names->n; i++) {
        const struct stored_param *param =
            stored_params_find(&config->params, names->items[i].name);

        add(columns, &n, names->items[i].name,
            param ? param_value(param) : (struct sql_value){ .type = 'n' });
    }
    add(columns, &n, "key", text(config->key));
    add(columns, &n, "rank",
        config->rank ? integer(config->rank)
                     : (struct sql_value){ .type = 'n' });
    add(columns, &n, "baseline", integer(config->baseline));
    add(columns, &n, "outcome", text(outcome_name(config->outcome)));
    add(columns, &n, "reason", text(config->reason));
    add(columns, &n, "median_s", real(cell->summary.median));
    add(columns, &n, "normalised_s", real(cell->normalised_s));
    add(columns, &n, "spread_s", real(cell->summary.spread));
    add(columns, &n, "samples", integer((int64_t)cell->n_samples));
    add(columns, &n, "sampling", text(cell->sampling));
    add(columns, &n, "registers", count(cell->registers));
    add(columns, &n, "spill_bytes", count(cell->spill_bytes));
    add(columns, &n, "host", text(cell->host));
    add(columns, &n, "gpu", text(cell->gpu));
    for (size_t i = 0; i < report->n_metrics; i++)
        add(columns, &n, report->metrics[i].name, real(cell->metrics[i]));
    return n;
}

static int create(struct sqlite3 *db, const struct column *columns, size_t n,
                  struct sqlite3_stmt **insert, struct err *err)
{
    struct buf make, put;
    int rc;

    buf_init(&make, TEXT_MAX);
    buf_init(&put, TEXT_MAX);
    for (size_t i = 0; i < n; i++) {
        char *name = sqlite3_mprintf("\"%w\"", columns[i].name);

        buf_printf(&make, "%s%s", i ? ", " : "CREATE TABLE configuration(",
                   name);
        buf_printf(&put, "%s?", i ? ", " : "INSERT INTO configuration VALUES(");
        sqlite3_free(name);
    }
    buf_add(&make, ")", 1);
    buf_add(&put, ")", 1);
    rc = sql_run(db, buf_text(&make), err);
    if (rc == 0)
        rc = sql_prepare(db, buf_text(&put), insert, err);
    buf_fini(&make);
    buf_fini(&put);
    return rc;
}

static int fill(struct sqlite3 *db, const struct report *report,
                struct err *err)
{
    struct column *columns = mem_new(COLUMNS_MAX, sizeof(*columns));
    struct sql_value *values = mem_new(COLUMNS_MAX, sizeof(*values));
    struct sqlite3_stmt *insert = NULL;
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < report->n_configs; i++) {
        size_t n = row(report, &report->configs[i], columns);

        if (i == 0)
            rc = create(db, columns, n, &insert, err);
        for (size_t c = 0; c < n; c++)
            values[c] = columns[c].value;
        if (rc >= 0)
            rc = sql_exec_values(insert, values, n, err);
    }
    sql_free(insert);
    free(columns);
    free(values);
    return err_only(rc);
}

static void append(struct err *err, const char *text)
{
    size_t len = strlen(err->text);

    snprintf(err->text + len, sizeof(err->text) - len, "%s", text);
}

/* SQLite names the column that it does not find at the end of its text. */
static void suggest_column(const struct report *report, struct err *err)
{
    static const char says[] = "no such column: ";
    const char *at = strstr(err->text, says), *names[COLUMNS_MAX];
    struct column *columns;
    char ending[SUGGEST_BYTES];
    size_t n;

    if (!at || report->n_configs == 0)
        return;
    at += strlen(says);
    columns = mem_new(COLUMNS_MAX, sizeof(*columns));
    n = row(report, &report->configs[0], columns);
    for (size_t i = 0; i < n; i++)
        names[i] = columns[i].name;
    append(err, suggest_ending(at, strlen(at), names, n, ending));
    if (!ending[0])
        append(err, "; the columns are");
    for (size_t i = 0; !ending[0] && i < n; i++) {
        append(err, " ");
        append(err, names[i]);
    }
    free(columns);
}

/* Prepare 'query'. A message about its end must not name what is put there. */
static int prepare(struct sqlite3 *db, char *query, struct sqlite3_stmt **out,
                   struct err *err)
{
    int rc = sql_prepare(db, query, out, err);

    free(query);
    if (rc == ERR_INPUT && strcmp(err->text, "incomplete input") == 0)
        return err_set(err, rc, "something is missing at its end");
    return rc;
}

/* The parentheses refuse what may stand behind a condition in SQL, but SQLite
 * would name them where the condition is wrong.  So it is parsed without them
 * first. */
static int parse(struct sqlite3 *db, const char *condition,
                 struct sqlite3_stmt **out, struct err *err)
{
    static const char front[] = "SELECT rowid FROM configuration WHERE";
    int rc = prepare(db, mem_printf("%s %s", front, condition), out, err);

    sql_free(*out);
    *out = NULL;
    if (rc < 0)
        return rc;
    return prepare(db, mem_printf("%s (%s\n)", front, condition), out, err);
}

static int choose(struct sqlite3 *db, struct report *report,
                  const char *condition, struct err *err)
{
    struct sqlite3_stmt *stmt = NULL;
    int rc = parse(db, condition, &stmt, err);

    for (size_t i = 0; i < report->n_configs; i++)
        report->configs[i].selected = false;
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
        report->configs[sql_only_int(stmt) - 1].selected = true;
    sql_free(stmt);
    if (rc < 0) {
        suggest_column(report, err);
        return err_within(err, ERR_INPUT, "--where '%s'", condition);
    }
    return 0;
}

int report_where(struct report *report, const char *condition, struct err *err)
{
    struct sqlite3 *db = NULL;
    int rc;

    if (report->n_configs == 0)
        return 0;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK) {
        rc = err_set(err, ERR_STORE, ":memory:: %s", sqlite3_errmsg(db));
        goto out;
    }
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0); /* no file can be attached */
    rc = fill(db, report, err);
    if (rc == 0)
        rc = choose(db, report, condition, err);
out:
    sqlite3_close(db);
    return rc;
}

/* ---- texts that no configuration has */

/* What a text may be compared with; borrowed. */
struct known_texts {
    const char **list;
    size_t n, cap;
};

static void add_text(struct known_texts *texts, const char *one)
{
    if (texts->n == texts->cap) {
        texts->cap = texts->cap ? texts->cap * 2 : 256;
        texts->list = mem_grow(texts->list, texts->cap, sizeof(*texts->list));
    }
    texts->list[texts->n++] = one;
}

/* Keys have no spelling, so they are left out. */
static void gather(const struct report *report, struct known_texts *out)
{
    struct column *columns = mem_new(COLUMNS_MAX, sizeof(*columns));

    for (int i = 0; i < OUTCOMES_OF_CONFIG; i++)
        add_text(out, outcome_name((enum outcome)i));
    for (size_t i = 0; i < report->n_gates; i++)
        add_text(out, report->gates[i].name);
    for (size_t i = 0; i < report->n_configs; i++) {
        size_t n = row(report, &report->configs[i], columns);

        for (size_t c = 0; c < n; c++)
            if (columns[c].value.type == 't' && columns[c].value.len > 0 &&
                columns[c].value.text != report->configs[i].key)
                add_text(out, columns[c].value.text);
    }
    free(columns);
}

static bool has_text(const struct known_texts *texts, const char *at,
                     size_t len)
{
    for (size_t i = 0; i < texts->n; i++)
        if (strlen(texts->list[i]) == len &&
            memcmp(texts->list[i], at, len) == 0)
            return true;
    return false;
}

/* Neither empty nor a pattern of LIKE or GLOB. */
static bool is_word(const char *at, size_t len)
{
    return len > 0 && !memchr(at, '%', len) && !memchr(at, '*', len);
}

/* The texts of a condition are in single quotes; one that has quotes in it is
 * read as two. */
static void find_unknown(const struct known_texts *texts, const char *condition,
                         struct err *out)
{
    char ending[SUGGEST_BYTES];
    const char *at = condition;

    while ((at = strchr(at, '\''))) {
        size_t len = strcspn(++at, "'");

        if (!at[len])
            return;
        if (is_word(at, len) && !has_text(texts, at, len) &&
            *suggest_ending(at, len, texts->list, texts->n, ending)) {
            (void)err_set(out, ERR_INPUT,
                          "--where: no configuration has '%.*s'%s",
                          len < 64 ? (int)len : 64, at, ending);
            return;
        }
        at += len + 1;
    }
}

void report_where_remark(const struct report *report, const char *condition,
                         struct err *out)
{
    struct known_texts texts = { NULL, 0, 0 };

    out->text[0] = '\0';
    for (size_t i = 0; i < report->n_configs; i++)
        if (report->configs[i].selected)
            return;
    gather(report, &texts);
    find_unknown(&texts, condition, out);
    free(texts.list);
}
