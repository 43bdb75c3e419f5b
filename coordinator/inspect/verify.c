#include "coordinator/inspect/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/config/config_stored.h"
#include "coordinator/sql/row.h"
#include "coordinator/sql/row_cells.h"
#include "coordinator/store/store.h"
#include "coordinator/store/tally.h"
#include "coordinator/store/whole.h"
#include "coordinator/text/terminal.h"

static void found(struct verify *verify, const char *check, char *text)
{
    verify->found++;
    if (verify->n_findings == VERIFY_FINDINGS_MAX) {
        free(text);
        return;
    }
    verify->findings = mem_grow(verify->findings, verify->n_findings + 1,
                                sizeof(*verify->findings));
    verify->findings[verify->n_findings++] =
        (struct verify_finding){ check, terminal_clean(text, false) };
}

/* A changed row is a finding of its own, and need not be told again. */
static void check_count(const struct whole_table *table,
                        const struct tally_count *is,
                        const struct tally_count *written, bool changed,
                        struct verify *verify)
{
    if (!tally_fits(is, written) && !(changed && is->rows == written->rows))
        found(verify, "count", tally_misfit(table, is, written));
}

static int check_rows(struct store *store, const struct whole_table *table,
                      const struct tally_count *written, struct verify *verify,
                      struct err *err)
{
    struct tally_count is = { .known = true };
    int64_t found_before = verify->found;
    char *text = mem_printf("SELECT * FROM %s", table->name);
    struct sqlite3_stmt *stmt = NULL;
    struct row_cells row;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1) {
        row_cells_read(stmt, &row);
        verify->rows++;
        if (!whole_row(&row, 0)) {
            char *name = whole_row_name(table, &row);

            found(verify, "checksum",
                  mem_printf("%s: the row was changed after it was written",
                             name));
            free(name);
        }
        tally_row(&is, &row);
    }
    sql_free(stmt);
    free(text);
    if (rc == 0)
        check_count(table, &is, written, verify->found > found_before, verify);
    return rc;
}

/* What the last commit left in each table; nothing is known if that does not
 * hold. */
static void read_tally(struct store *store,
                       struct tally_count out[WHOLE_TABLES],
                       struct verify *verify)
{
    struct err err;

    if (tally_read(store_db(store), out, &err) == 0)
        return;
    memset(out, 0, WHOLE_TABLES * sizeof(*out));
    found(verify, "count", mem_strdup(err.text));
}

struct key_row {
    const char *key, *params;
};

static const struct row_column key_columns[] = {
    ROW_AT(struct key_row, key, TEXT),
    ROW_AT(struct key_row, params, TEXT),
};
static const struct row_shape key_shape = ROW_SHAPE("config", key_columns);

/* Results are found by this key, so with other parameters they are those of
 * another configuration. */
static int check_keys(struct store *store, struct verify *verify,
                      struct err *err)
{
    struct row_query query;
    struct key_row row;
    int rc = row_open(store_db(store), "SELECT key, params FROM config",
                      &key_shape, &query, err, "");

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1) {
        char key[HASH_HEX];

        verify->keys++;
        if (!config_stored_key(row.params, key))
            found(verify, "key",
                  mem_printf("config %s: its parameters are no configuration",
                             row.key));
        else if (strcmp(key, row.key) != 0)
            found(verify, "key",
                  mem_printf("config %s: its parameters have the key %s",
                             row.key, key));
    }
    row_close(&query);
    return rc;
}

struct finding_row {
    const char *text;
};

/* The pragma names its column after itself. */
static const struct row_column integrity_columns[] = {
    ROW_AS(struct finding_row, "integrity_check", text, TEXT),
};
static const struct row_column finding_columns[] = {
    ROW_AS(struct finding_row, "finding", text, TEXT),
};
static const struct row_shape integrity_shape =
    ROW_SHAPE(NULL, integrity_columns);
static const struct row_shape finding_shape = ROW_SHAPE(NULL, finding_columns);

static const struct check {
    const char *name;
    const struct row_shape *shape;
    const char *query;
} checks[] = {
    { "integrity", &integrity_shape, "PRAGMA integrity_check" },
    { "I2", &finding_shape,
      "SELECT 'configuration '||config||', shape '||shape||', '||purpose||"
      " ' '||round||' is counted '||count(*)||' times' AS finding FROM result"
      " NOT INDEXED WHERE counted=1 GROUP BY config, shape, purpose, round,"
      " source_key, measure_key HAVING count(*)>1" },
    { "I3", &finding_shape,
      "SELECT 'configuration '||o.config||', shape '||o.shape||': '||"
      " CASE WHEN o.outcome NOT IN ('correct','constraints','compile',"
      "  'runtime','correctness','timeout','lost','crash')"
      "  THEN 'unknown outcome '||o.outcome"
      "  WHEN r.nonce IS NULL AND b.nonce IS NULL"
      "  THEN 'settled by '||o.nonce||', which is not there'"
      "  ELSE 'settled as '||o.outcome||', its evidence says '||r.outcome END"
      " AS finding FROM outcome o LEFT JOIN result r ON r.nonce=o.nonce"
      " LEFT JOIN build b ON b.nonce=o.nonce"
      " WHERE o.outcome NOT IN ('correct','constraints','compile','runtime',"
      "  'correctness','timeout','lost','crash')"
      " OR (o.nonce IS NOT NULL AND r.nonce IS NULL AND b.nonce IS NULL)"
      " OR (r.outcome='correct') <> (o.outcome='correct')" },
    { "I3", &finding_shape,
      "SELECT 'configuration '||o.config||', shape '||o.shape||': '||"
      " CASE WHEN r.purpose<>'screen' THEN 'settled by a '||r.purpose"
      " ELSE 'settled by round '||r.round||', and a newer one is there' END"
      " AS finding FROM outcome o JOIN result r ON r.nonce=o.nonce"
      " WHERE r.purpose<>'screen' OR EXISTS(SELECT 1 FROM result n"
      "  WHERE n.counted=1 AND n.purpose='screen' AND n.config=r.config"
      "  AND n.shape=r.shape AND n.source_key=r.source_key"
      "  AND n.measure_key=r.measure_key AND n.round>r.round)" },
    { "I5", &finding_shape,
      "SELECT 'host '||host||': an interval '||"
      " CASE WHEN end_ns<start_ns THEN 'runs backwards'"
      " ELSE 'overlaps the one before it' END||' at '||start_ns||' of run '"
      " ||epoch AS finding FROM (SELECT host, epoch, start_ns, end_ns,"
      "  max(end_ns) OVER (PARTITION BY host, epoch ORDER BY start_ns"
      "  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns"
      "  FROM interval) WHERE end_ns<start_ns OR before_ns>start_ns" },
};

/* SQLite begins its findings with a line that names the database. */
static const char *behind_title(const char *text)
{
    const char *end = strncmp(text, "***", 3) == 0 ? strchr(text, '\n') : NULL;

    return end ? end + 1 : text;
}

static int run_check(struct store *store, const struct check *check,
                     struct verify *verify, struct err *err)
{
    struct row_query query;
    struct finding_row row;
    int rc =
        row_open(store_db(store), check->query, check->shape, &query, err, "");

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        if (strcmp(row.text, "ok") != 0) /* so says the pragma of a sound one */
            found(verify, check->name, mem_strdup(behind_title(row.text)));
    row_close(&query);
    return rc;
}

/* A page that cannot be read must not hide findings in other pages. */
static void ended(struct verify *verify, int rc, const char *what,
                  const struct err *err)
{
    if (rc < 0)
        found(verify, what,
              mem_printf("cannot be read to the end: %s", err->text));
}

void verify_run(struct store *store, struct verify *out)
{
    struct tally_count written[WHOLE_TABLES];
    struct err err = { "" };

    *out = (struct verify){ 0 };
    ended(out, whole_begin(store_db(store), &err), "begin", &err);
    if (whole_layout(store_db(store), &err) < 0)
        found(out, "layout", mem_strdup(err.text));
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
        ended(out, run_check(store, &checks[i], out, &err), checks[i].name,
              &err);
    read_tally(store, written, out);
    for (size_t i = 0; i < WHOLE_TABLES; i++)
        ended(out, check_rows(store, &whole_tables[i], &written[i], out, &err),
              whole_tables[i].name, &err);
    ended(out, check_keys(store, out, &err), "key", &err);
    whole_end(store_db(store));
}

void verify_fini(struct verify *verify)
{
    for (size_t i = 0; i < verify->n_findings; i++)
        free(verify->findings[i].text);
    free(verify->findings);
    *verify = (struct verify){ 0 };
}
