#include "coordinator/result/report_current.h"

#include "common/err.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"
#include "coordinator/stored/stored_ready.h"

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
            " LEFT JOIN host h ON h.name=r.host" STORED_READY \
            " WHERE r.counted=1 AND r.purpose IN (" purpose ")"

static const char *const texts[] = {
    [REPORT_CURRENT_GPUS] =
        RESULTS("DISTINCT r.gpu AS gpu, g.name AS name, "
                " coalesce(y.driver, g.driver) AS driver,"
                " coalesce(y.toolkit, h.toolkit) AS toolkit",
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

#define CURRENT_ROW(member, kind) \
    ROW_AT(struct report_current_row, member, kind)
static const struct row_column row_columns[] = {
    CURRENT_ROW(config, TEXT),      CURRENT_ROW(shape, TEXT),
    CURRENT_ROW(measure_key, TEXT), CURRENT_ROW(artifact, TEXT),
    CURRENT_ROW(gpu, TEXT),         CURRENT_ROW(name, TEXT),
    CURRENT_ROW(driver, TEXT),      CURRENT_ROW(toolkit, TEXT),
    CURRENT_ROW(round, INT),        CURRENT_ROW(value, REAL),
};
static const struct row_shape row_shape = ROW_SHAPE(NULL, row_columns);

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
