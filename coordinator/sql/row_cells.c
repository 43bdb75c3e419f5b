#include "coordinator/sql/row_cells.h"

#include <string.h>

void row_cells_read(struct sqlite3_stmt *stmt, struct row_cells *out)
{
    out->stmt = stmt;
    out->n = sql_row(stmt, out->values);
    for (size_t i = 0; i < out->n; i++)
        out->names[i] = sql_column_name(stmt, (int)i);
}

size_t row_cells_find(const struct row_cells *cells, const char *name)
{
    /* most look for the checksum, which is last */
    for (size_t i = cells->n; i-- > 0;)
        if (strcmp(cells->names[i], name) == 0)
            return i;
    return cells->n;
}

const char *row_cells_text(const struct row_cells *cells, size_t i)
{
    return i < cells->n ? sql_text(cells->stmt, (int)i) : "";
}
