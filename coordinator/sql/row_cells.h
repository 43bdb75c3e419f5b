/* row_cells.h - a row of any query: its columns with their names and values
 *
 * For code that shows or hashes all columns of a table.  Rows whose columns are
 * known are read into structs (row.h).
 * Thread rule: that of the connection; one thread.
 */
#ifndef FA_COORDINATOR_SQL_ROW_CELLS_H
#define FA_COORDINATOR_SQL_ROW_CELLS_H

#include <stddef.h>

#include "coordinator/sql/sql.h"

/* In the order of the query.  Names and texts die with the next step. */
struct row_cells {
    struct sqlite3_stmt *stmt;
    size_t n;
    const char *names[SQL_VALUES_MAX];
    struct sql_value values[SQL_VALUES_MAX];
};

void row_cells_read(struct sqlite3_stmt *stmt, struct row_cells *out);
/* The index of a column, or the number of columns if it does not exist. */
size_t row_cells_find(const struct row_cells *cells, const char *name);
/* Any value as SQLite writes it; "" for NULL and for no such column. */
const char *row_cells_text(const struct row_cells *cells, size_t i);

#endif
