/* space_sql.h - the queries of a space, as text
 *
 * Private to space*.c.  Thread rule: that of the space.
 */
#ifndef FA_COORDINATOR_SPACE_SPACE_SQL_H
#define FA_COORDINATOR_SPACE_SPACE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct space;
struct spec_rule;
struct spec_shape;

#define SPACE_SQL_MAX (1 << 20) /* bytes of a query; SQLite's limit too */

int space_make_tables(struct space *space, struct err *err);
/* Does SQLite accept the text of this rule?  'what' is for the message. */
int space_parse(struct space *space, const struct spec_rule *rule,
                const char *what, struct err *err);
/* A rule's text for a query over the tables, for one shape. */
void space_sql_rule(const struct space *space, const char *text,
                    const struct spec_shape *shape, struct buf *out);
/* The same with "?N" for tunable N - 1 (int_expr_parse.h). */
void space_sql_numbered(const struct space *space, const char *text,
                        const struct spec_shape *shape, struct buf *out);
/* A tunable's column in a query over the tables, or its only value. */
void space_sql_tunable(const struct space *space, size_t index,
                       struct buf *out);
/* The same with parameters, for a space_eval. */
void space_sql_parameters(const struct space *space, const char *text,
                          struct buf *out);
/* " FROM ..." with the tunables in 'axes', in order; "" if there are none. */
void space_sql_from(const struct space *space, uint64_t axes, struct buf *out);
/* The text of a gate for a shape; false if it equals that of the previous
 * shape. */
bool space_sql_gate(const struct space *space, size_t gate, size_t shape,
                    struct buf *out);
/* " AND (...)" so that a gate does not hit, for every shape. */
void space_sql_passes(const struct space *space, size_t gate, struct buf *out);
/* The bit of a warn gate if it hits for a shape, otherwise 0. */
void space_sql_warned(const struct space *space, size_t gate, struct buf *out);
/* "t0.k+t3.k" for these tunables; "0" for none. */
void space_sql_number(const struct space *space, uint64_t axes,
                      struct buf *out);

/* Prepare a query that we generated. */
int space_prepare(struct space *space, const struct buf *sql,
                  sqlite3_stmt **out, struct err *err);
/* The reason why a step failed: a rule, the time limit, or SQLite. */
int space_step_err(struct space *space, struct err *err);
int space_late_err(const struct space *space, struct err *err); /* the time
                                                                 * limit */

#endif
