/* damaged_rows.h - reads a table of which some pages cannot be read
 *
 * A page that cannot be read costs the rows on it, and those behind it have to
 * be found: the table is read up to the damage, from behind it, and backwards
 * from its end.  So a row may come more than once.
 * Thread rule: that of the connection; one thread.
 */
#ifndef FA_COORDINATOR_STORE_DAMAGED_ROWS_H
#define FA_COORDINATOR_STORE_DAMAGED_ROWS_H

#include <stdbool.h>

struct err;
struct row_cells;
struct sqlite3;

struct damaged_rows {
    const char *table, *columns;
    const char *key; /* columns of its order; "rowid" */
};

/* The first column is the rowid, or 0 where a table has none.  An error ends
 * the reading. */
typedef int damaged_rows_fn(void *arg, const struct row_cells *row,
                            struct err *err);

/* 1: all rows were read, each once; 0: some could not be read; or the error of
 * 'fn'. */
int damaged_rows_read(struct sqlite3 *db, const struct damaged_rows *rows,
                      damaged_rows_fn *fn, void *arg, struct err *err);
bool damaged_rows_have_rowid(const struct damaged_rows *rows);

#endif
