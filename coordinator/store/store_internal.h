/* store_internal.h - the inside of a store, for store.c and store_put.c */
#ifndef FA_COORDINATOR_STORE_STORE_INTERNAL_H
#define FA_COORDINATOR_STORE_STORE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"

#define STORE_STATEMENTS 40
#define STORE_ARRAYS 6 /* samples, rejected, clock, temperature, power, ... */

struct sqlite3;
struct sqlite3_stmt;
struct store_span;
struct tally;

struct store {
    struct sqlite3 *db;
    char *path;
    struct buf lost;     /* store_lost() */
    int lock;            /* descriptor, -1 when reading */
    struct tally *tally; /* NULL when reading */
    struct sqlite3_stmt *stmts[STORE_STATEMENTS]; /* prepared at first use */
    size_t tables[STORE_STATEMENTS];              /* that they insert into */
    struct sqlite3_stmt *begin, *commit;          /* likewise */
    struct buf json[STORE_ARRAYS];                /* of one result */
    int pending;
    int64_t repeats;
    bool failed;
    struct err why; /* it failed */
};

/* Complete the error of 'doing', and refuse all later writes.  ERR_STORE. */
int store_fail(struct store *store, const char *doing, struct err *err);

/* Delete the rows of 'held' and 'interval' that reach into a span. */
int store_span_drop(struct store *store, const struct store_span *span,
                    struct err *err);

#endif
