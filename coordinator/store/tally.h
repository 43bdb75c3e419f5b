/* tally.h - how many rows each table has, and the sum of their checksums
 *
 * A row that is deleted takes its checksum with it.  So the table 'tally' has
 * a row for each other table: the number of its rows, and the sum of their
 * checksums modulo 2^64, which does not depend on their order.  The writer's
 * connection counts what it writes, and each transaction ends with the new
 * figures.  Other programs do not, so what they delete or change does not fit
 * any more.
 *
 * store_put.c tells of rows that come.  An UPDATE sets the checksum to
 * tally_swap(table, old, new), an SQL function of this connection.  Rows that
 * are deleted or replaced are seen by triggers of this connection alone (TEMP).
 * Triggers for all changes would make storing a result 10 % slower.
 * Thread rule: that of the connection; one thread.
 */
#ifndef FA_COORDINATOR_STORE_TALLY_H
#define FA_COORDINATOR_STORE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/store/whole.h"

struct err;
struct row_cells;
struct sql_value;
struct sqlite3;
struct tally;

struct tally_count {
    bool known; /* false: the table could not be read when it was counted */
    int64_t rows;
    uint64_t sum; /* of the checksums: their first 8 bytes */
};

/* Count a row with all columns of its table. */
void tally_row(struct tally_count *count, const struct row_cells *row);
/* Are they the same rows?  What is not known fits everything. */
bool tally_fits(const struct tally_count *is,
                const struct tally_count *written);
/* What does not fit, in one line, for the caller to free: "table 'run': 3 of 9
 * rows are missing".  They do not fit. */
char *tally_misfit(const struct whole_table *table,
                   const struct tally_count *is,
                   const struct tally_count *written);

/* What was written last, for each of whole_tables.  ERR_STORE if that cannot be
 * read or is not as it was written. */
int tally_read(struct sqlite3 *db, struct tally_count out[WHOLE_TABLES],
               struct err *err);

/* Count the tables of a database that comes to the newest format; the
 * transaction is the caller's.  What was counted stays as it was, so that rows
 * that are missing stay missing: a step that changes such a table sets its row
 * of 'tally' to NULL. */
int tally_fill(struct sqlite3 *db, struct err *err);

/* For a writer's connection, which it borrows. */
struct tally *tally_new(struct sqlite3 *db);
void tally_free(struct tally *tally); /* NULL is fine */
/* Begin to count, unless it has begun; outside of a transaction.  Figures that
 * do not hold stay as they are. */
int tally_start(struct tally *tally, struct err *err);

/* The index of an existing table in whole_tables. */
size_t tally_find(const char *name);
/* Before a statement that may insert a row of a table, and behind it, if it
 * changed something: a row with this checksum came, unless the statement
 * updated another. */
void tally_expect(struct tally *tally);
void tally_comes(struct tally *tally, size_t table,
                 const struct sql_value *checksum);
/* Count all tables again, after writing without that. */
int tally_count(struct tally *tally, struct err *err);

/* Write the figures; the last thing before COMMIT. */
int tally_write(struct tally *tally, struct err *err);
void tally_committed(struct tally *tally);
void tally_rolled_back(struct tally *tally);

#endif
