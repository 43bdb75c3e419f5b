/* whole.h - is each row of a database as it was written?
 *
 * Every row of every table ends in the checksum of the columns before it
 * (checksum.h).  store_put.c stores it with the row; a row that is changed
 * keeps a checksum that did not match before.
 * Thread rule: that of the connection; one thread.
 */
#ifndef FA_COORDINATOR_STORE_WHOLE_H
#define FA_COORDINATOR_STORE_WHOLE_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct row_cells;
struct sqlite3;

#define WHOLE_TABLES 23

/* Tables that others refer to come first. */
struct whole_table {
    const char *name;
    const char *key; /* columns of its order; "rowid" */
    size_t n_key;    /* columns, the first ones, that tell a row from others */
};
extern const struct whole_table whole_tables[WHOLE_TABLES];

/* Does the row hold?  Its columns from 'first' on are those of its table, in
 * their order. */
bool whole_row(const struct row_cells *row, size_t first);

/* Likewise, of a row with all columns of the table of that name: 0, or
 * ERR_STORE, which names the row and says what to do. */
int whole_row_check(const char *table, const struct row_cells *row,
                    struct err *err);

/* The table and the columns of the key, for messages; for the caller to free.
 * The row has all columns.  The name of 'owner' is a secret. */
char *whole_row_name(const struct whole_table *table,
                     const struct row_cells *row);

/* Read the database to its end.  ERR_STORE, which says where it does not hold
 * and what to do, if a row is not as it was written, rows are missing or too
 * many (tally.h), or SQLite finds it corrupt. */
int whole_check(struct sqlite3 *db, struct err *err);

/* That part of it that asks whether its tables, columns and indices are those
 * of the newest format. */
int whole_layout(struct sqlite3 *db, struct err *err);

/* What is read from here to the end is of one moment, also while a coordinator
 * writes.  An end without a begin is fine. */
int whole_begin(struct sqlite3 *db, struct err *err);
void whole_end(struct sqlite3 *db);

/* "UPDATE table SET checksum=... WHERE where", which makes rows hold as they
 * are; for a writer's connection (tally.h).  For the caller to free; NULL is
 * ERR_STORE. */
char *whole_seal_text(struct sqlite3 *db, const char *table, const char *where,
                      struct err *err);
/* "UPDATE table SET ending=?1, ended_utc=?2, checksum=... WHERE where", which
 * leaves a row that does not hold so.  Likewise. */
char *whole_end_text(struct sqlite3 *db, const char *table, const char *where,
                     struct err *err);

#endif
