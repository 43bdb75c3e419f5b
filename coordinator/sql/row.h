/* row.h - rows of the database as structs: columns are found by their names
 *
 * A struct of rows has one table that says which member is which column.  A
 * row is inserted into all of its columns; a query may read some of them, in
 * any order, each under its name or AS it.  Names are looked up once a
 * prepared statement.
 *
 *   static const struct row_column columns[] = {
 *       ROW_AT(struct store_event, at_utc, INT),
 *       ROW_AS(struct store_event, "text", words, TEXT),
 *   };
 *   const struct row_shape shape = ROW_SHAPE("event", columns);
 *
 * Thread rule: that of the connection; one thread.
 */
#ifndef FA_COORDINATOR_SQL_ROW_H
#define FA_COORDINATOR_SQL_ROW_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/sql/sql.h"

struct buf;

/* What a member is, and how it is written and read. */
enum row_type {
    ROW_TEXT,      /* const char *; NULL is written as '' and read as "" */
    ROW_NULLABLE,  /* const char *; NULL is written as NULL and read as "" */
    ROW_CHARS,     /* char []; may be cut when it is read */
    ROW_INT,       /* int64_t; NULL is read as 0 */
    ROW_COUNT,     /* int64_t; -1 is NULL */
    ROW_LINK,      /* int64_t; 0 is NULL */
    ROW_REAL,      /* double; NaN is NULL */
    ROW_BOOL,      /* bool */
    ROW_NOT,       /* bool, whose opposite is in the column */
    ROW_REALS,     /* struct reals; written as a JSON array, never read */
    ROW_ONE,       /* no member: 1 */
    ROW_LATER,     /* no member: NULL, until the caller of row_values() knows */
    ROW_READ_INT,  /* int64_t; read, never written */
    ROW_READ_TEXT, /* const char *; likewise */
    ROW_READ_SET,  /* bool; likewise: whether the column is not NULL */
};

struct row_column {
    const char *name;
    enum row_type type;
    size_t offset, bytes; /* of the member */
};

/* In the order of the table, which is also that of the checksum. */
struct row_shape {
    const char *table; /* NULL: of a query only */
    const struct row_column *columns;
    size_t n; /* at most SQL_VALUES_MAX */
};

#define ROW_AS(of, column, member, kind)                                    \
    {                                                                       \
        column, ROW_##kind, offsetof(of, member), sizeof(((of *)0)->member) \
    } /* a member's size */
#define ROW_AT(of, member, kind) ROW_AS(of, #member, member, kind)
#define ROW_SHAPE(table, columns)                              \
    {                                                          \
        table, columns, sizeof(columns) / sizeof((columns)[0]) \
    }

/* "VERB INTO table(...) VALUES(?,...)TAIL", for the caller to free. */
char *row_insert_text(const struct row_shape *shape, const char *verb,
                      const char *tail);

/* The values for that statement; returns how many.  They borrow the row and
 * 'json', which has one text for each member that is ROW_REALS. */
size_t row_values(const struct row_shape *shape, const void *row,
                  struct buf *json, struct sql_value out[SQL_VALUES_MAX]);
/* The index of an existing column among those values. */
size_t row_place(const struct row_shape *shape, const char *column);

/* A query whose rows are read into structs. */
struct row_query {
    struct sqlite3_stmt *stmt; /* NULL: not prepared */
    const struct row_shape *shape;
    int at[SQL_VALUES_MAX]; /* of each member, the column of the row, or -1 */
};

/* Also ERR_INPUT if a column of the query has no member. */
int row_prepare(struct sqlite3 *db, const char *text,
                const struct row_shape *shape, struct row_query *out,
                struct err *err);
/* Bind as sql_start() does; may be called again. */
int row_start(struct row_query *query, struct err *err, const char *types, ...);
/* Both. */
int row_open(struct sqlite3 *db, const char *text,
             const struct row_shape *shape, struct row_query *out,
             struct err *err, const char *types, ...);
/* 1 and a row, or 0 after the last one.  Members without a column are 0, NaN
 * and "".  Texts die with the next call. */
int row_next(struct row_query *query, void *row, struct err *err);
void row_close(struct row_query *query); /* not prepared is fine */
/* Bind, and read the first row: 1, or 0 without one.  No member is a pointer to
 * text: ROW_CHARS outlives the query. */
int row_first(struct sqlite3 *db, const char *text,
              const struct row_shape *shape, void *row, struct err *err,
              const char *types, ...);

#endif
