/* report_where.h - selects configurations of a report by an SQL condition
 *
 * The condition is evaluated over a table in memory with one row for each
 * configuration: its tunables under their names (a bool is 0 or 1), and key
 * rank baseline outcome reason median_s spread_s samples registers spill_bytes
 * host gpu of the headline shape, and the metrics.  A tunable hides a column of
 * the same name.  The condition cannot access the database itself.
 */
#ifndef FA_COORDINATOR_RESULT_REPORT_WHERE_H
#define FA_COORDINATOR_RESULT_REPORT_WHERE_H

struct err;
struct report;

/* Set 'selected' of each configuration.  ERR_INPUT has SQLite's message about
 * the condition. */
int report_where(struct report *report, const char *condition, struct err *err);

/* After a condition that selects nothing: the first text in it that no
 * configuration has, with the one that is spelt like it.  "" if there is
 * none. */
void report_where_remark(const struct report *report, const char *condition,
                         struct err *out);

#endif
