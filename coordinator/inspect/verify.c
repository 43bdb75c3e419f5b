#include "coordinator/inspect/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/store/checksum.h"
#include "coordinator/store/sql.h"
#include "coordinator/store/store.h"
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

static void check_sum(struct verify *verify, struct sqlite3_stmt *stmt,
                      const char *table)
{
    struct sql_value values[SQL_VALUES_MAX];
    size_t n = sql_row(stmt, values);
    const struct sql_value *last = &values[n - 1];
    char sum[HASH_HEX];

    verify->rows++;
    checksum_row(values, n - 1, sum);
    if (last->type == 't' && strcmp(last->text, sum) == 0)
        return;
    found(verify, "checksum",
          mem_printf("%s %s: the row was changed after it was written", table,
                     sql_text(stmt, 0)));
}

static void integrity(struct verify *verify, struct sqlite3_stmt *stmt,
                      const char *check)
{
    if (strcmp(sql_text(stmt, 0), "ok") != 0)
        found(verify, check, mem_printf("%s", sql_text(stmt, 0)));
}

static void finding(struct verify *verify, struct sqlite3_stmt *stmt,
                    const char *check)
{
    found(verify, check, mem_printf("%s", sql_text(stmt, 0)));
}

static const struct check {
    const char *name;
    void (*row)(struct verify *, struct sqlite3_stmt *, const char *);
    const char *query;
} checks[] = {
    { "integrity", integrity, "PRAGMA integrity_check" },
    { "build", check_sum, "SELECT * FROM build" },
    { "result", check_sum, "SELECT * FROM result" },
    { "tool", check_sum, "SELECT * FROM tool" },
    { "I2", finding,
      "SELECT 'configuration '||config||', shape '||shape||', '||purpose||"
      " ' '||round||' is counted '||count(*)||' times' FROM result"
      " NOT INDEXED WHERE counted=1 GROUP BY config, shape, purpose, round,"
      " source_key, measure_key HAVING count(*)>1" },
    { "I3", finding,
      "SELECT 'configuration '||o.config||', shape '||o.shape||': '||"
      " CASE WHEN o.outcome NOT IN ('correct','constraints','compile',"
      "  'runtime','correctness','timeout','lost','crash')"
      "  THEN 'unknown outcome '||o.outcome"
      "  WHEN r.nonce IS NULL AND b.nonce IS NULL"
      "  THEN 'settled by '||o.nonce||', which is not there'"
      "  ELSE 'settled as '||o.outcome||', its evidence says '||r.outcome END"
      " FROM outcome o LEFT JOIN result r ON r.nonce=o.nonce"
      " LEFT JOIN build b ON b.nonce=o.nonce"
      " WHERE o.outcome NOT IN ('correct','constraints','compile','runtime',"
      "  'correctness','timeout','lost','crash')"
      " OR (o.nonce IS NOT NULL AND r.nonce IS NULL AND b.nonce IS NULL)"
      " OR (r.outcome='correct') <> (o.outcome='correct')" },
    { "I3", finding,
      "SELECT 'configuration '||o.config||', shape '||o.shape||': '||"
      " CASE WHEN r.purpose<>'screen' THEN 'settled by a '||r.purpose"
      " ELSE 'settled by round '||r.round||', and a newer one is there' END"
      " FROM outcome o JOIN result r ON r.nonce=o.nonce"
      " WHERE r.purpose<>'screen' OR EXISTS(SELECT 1 FROM result n"
      "  WHERE n.counted=1 AND n.purpose='screen' AND n.config=r.config"
      "  AND n.shape=r.shape AND n.source_key=r.source_key"
      "  AND n.measure_key=r.measure_key AND n.round>r.round)" },
    { "I5", finding,
      "SELECT 'host '||host||': an interval '||"
      " CASE WHEN end_ns<start_ns THEN 'runs backwards'"
      " ELSE 'overlaps the one before it' END||' at '||start_ns||' of run '"
      " ||epoch FROM (SELECT host, epoch, start_ns, end_ns,"
      "  max(end_ns) OVER (PARTITION BY host, epoch ORDER BY start_ns"
      "  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns"
      "  FROM interval) WHERE end_ns<start_ns OR before_ns>start_ns" },
};

static int run_check(struct store *store, const struct check *check,
                     struct verify *verify, struct err *err)
{
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), check->query, &stmt, err);

    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
        check->row(verify, stmt, check->name);
    sql_free(stmt);
    return rc;
}

void verify_run(struct store *store, struct verify *out)
{
    *out = (struct verify){ 0 };
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        struct err here = { "" };

        /* A page that cannot be read must not hide findings in other pages. */
        if (run_check(store, &checks[i], out, &here) < 0)
            found(out, checks[i].name,
                  mem_printf("cannot be read to the end: %s", here.text));
    }
}

void verify_fini(struct verify *verify)
{
    for (size_t i = 0; i < verify->n_findings; i++)
        free(verify->findings[i].text);
    free(verify->findings);
    *verify = (struct verify){ 0 };
}
