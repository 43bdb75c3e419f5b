#include "coordinator/result/report_current.h"

#include "common/err.h"
#include "coordinator/store/row.h"
#include "coordinator/store/store.h"

#define CURRENT                                                          \
    "WITH current AS (SELECT o.shape, o.measure_key, max(o.settled_utc)" \
    " FROM outcome o JOIN config c ON c.key=o.config"                    \
    "  AND c.source_key=o.source_key WHERE c.sweep=?1 GROUP BY o.shape) "

/* The counted results of 'purpose' (alias r) for these configurations (alias
 * c). */
#define RESULTS(columns, purpose)                             \
    CURRENT "SELECT " columns " FROM result r"                \
            " JOIN current n ON n.shape=r.shape"              \
            "  AND n.measure_key=r.measure_key"               \
            " JOIN config c ON c.key=r.config AND c.sweep=?1" \
            "  AND c.source_key=r.source_key"                 \
            " LEFT JOIN gpu g ON g.uuid=r.gpu"                \
            " LEFT JOIN host h ON h.name=r.host"              \
            " WHERE r.counted=1 AND r.purpose IN (" purpose ")"

/* Columns are matched by name to the members of a row. */
static const char *const texts[] = {
    [REPORT_CURRENT_GPUS] =
        RESULTS("DISTINCT r.gpu AS gpu, g.name AS name, g.driver AS driver,"
                " h.toolkit AS toolkit",
                "'screen','canary','confirm'") " ORDER BY 1, 2, 3, 4",
    [REPORT_CURRENT_WAYS] =
        CURRENT "SELECT shape AS shape, measure_key AS measure_key"
                " FROM current",
    [REPORT_CURRENT_ARTIFACTS] =
        RESULTS("DISTINCT r.config AS config, r.artifact AS artifact",
                "'screen','confirm'") " AND r.artifact<>'' ORDER BY 1, 2",
    [REPORT_CURRENT_BLOCKS] =
        CURRENT "SELECT r.config AS config, r.shape AS shape,"
                " r.round AS round, r.gpu AS gpu, j.value AS value"
                " FROM result r"
                " JOIN current n ON n.shape=r.shape"
                "  AND n.measure_key=r.measure_key"
                " JOIN config c ON c.key=r.config AND c.sweep=?1"
                "  AND c.source_key=r.source_key,"
                " json_each(r.samples) j"
                " WHERE r.counted=1 AND r.purpose='confirm'"
                " AND r.outcome='correct' AND j.value > 0"
                " ORDER BY r.config, r.shape, r.round, r.gpu",
    [REPORT_CURRENT_CLOCKS] = CURRENT "SELECT j.value AS value FROM result r"
                                      " JOIN current n ON n.shape=r.shape"
                                      "  AND n.measure_key=r.measure_key,"
                                      " json_each(r.clock_mhz) j"
                                      " WHERE r.counted=1 AND j.value > 0",
    [REPORT_CURRENT_CANARIES] =
        RESULTS("r.gpu AS gpu, r.shape AS shape,"
                " (SELECT avg(value) FROM json_each(r.samples)) AS value",
                "'canary'") " AND r.outcome='correct' AND value > 0"
                            " ORDER BY r.gpu || ' ' || r.shape,"
                            " r.received_utc",
};

static const struct member {
    const char *name;
    size_t offset; /* offset of a text member */
} members[] = {
    { "config", offsetof(struct report_current_row, config) },
    { "shape", offsetof(struct report_current_row, shape) },
    { "measure_key", offsetof(struct report_current_row, measure_key) },
    { "artifact", offsetof(struct report_current_row, artifact) },
    { "gpu", offsetof(struct report_current_row, gpu) },
    { "name", offsetof(struct report_current_row, name) },
    { "driver", offsetof(struct report_current_row, driver) },
    { "toolkit", offsetof(struct report_current_row, toolkit) },
};

enum {
    MEMBERS = sizeof(members) / sizeof(members[0])
};

/* The column number for each member, or -1. */
struct columns {
    int texts[MEMBERS];
    int round, value;
};

static int column_of(struct sqlite3_stmt *stmt, const char *name)
{
    const char *there;

    for (int i = 0; (there = sql_column_name(stmt, i)); i++)
        if (strcmp(there, name) == 0)
            return i;
    return -1;
}

static struct columns columns_of(struct sqlite3_stmt *stmt)
{
    struct columns columns = { .round = column_of(stmt, "round"),
                               .value = column_of(stmt, "value") };

    for (int i = 0; i < MEMBERS; i++)
        columns.texts[i] = column_of(stmt, members[i].name);
    return columns;
}

static void tell(struct sqlite3_stmt *stmt, const struct columns *columns,
                 report_current_fn *fn, void *arg)
{
    struct report_current_row row = { .round = 0 };

    for (int i = 0; i < MEMBERS; i++) {
        const char *text =
            columns->texts[i] < 0 ? "" : sql_text(stmt, columns->texts[i]);

        memcpy((char *)&row + members[i].offset, &text, sizeof(text));
    }
    if (columns->round >= 0)
        row.round = sql_int(stmt, columns->round);
    if (columns->value >= 0)
        row.value = sql_real(stmt, columns->value);
    fn(arg, &row);
}

int report_current_each(struct store *store, int64_t sweep,
                        enum report_current what, report_current_fn *fn,
                        void *arg, struct err *err)
{
    struct row_query query;
    struct report_current_row row;
    int rc = row_open(store_db(store), texts[what], &row_shape, &query, err,
                      "I", sweep);

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        fn(arg, &row);
    row_close(&query);
    return rc < 0 ? ERR_STORE : 0;
}
