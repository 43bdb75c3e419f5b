/* report_current.h - what belongs to the sweep that a report is about, in SQL
 *
 * Of several ways to measure a shape the newest is the current one; ?1 is the
 * sweep.
 */
#ifndef FA_COORDINATOR_REPORT_CURRENT_H
#define FA_COORDINATOR_REPORT_CURRENT_H

#define REPORT_CURRENT                                                   \
    "WITH current AS (SELECT o.shape, o.measure_key, max(o.settled_utc)" \
    " FROM outcome o JOIN config c ON c.key=o.config"                    \
    "  AND c.source_key=o.source_key WHERE c.sweep=?1 GROUP BY o.shape) "

/* The counted results of 'purpose', as r, of these configurations, c. */
#define REPORT_CURRENT_RESULTS(columns, purpose)                     \
    REPORT_CURRENT "SELECT " columns " FROM result r"                \
                   " JOIN current n ON n.shape=r.shape"              \
                   "  AND n.measure_key=r.measure_key"               \
                   " JOIN config c ON c.key=r.config AND c.sweep=?1" \
                   "  AND c.source_key=r.source_key"                 \
                   " LEFT JOIN gpu g ON g.uuid=r.gpu"                \
                   " LEFT JOIN host h ON h.name=r.host"              \
                   " WHERE r.counted=1 AND r.purpose IN (" purpose ")"

#endif
