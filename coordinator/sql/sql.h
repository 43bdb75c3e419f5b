/* sql.h - SQLite without its boilerplate: bind, step, read
 *
 * Statements are prepared once and used again; every function leaves a
 * statement that is done or failed reset and without bindings.
 *
 * Types of arguments, one letter each:
 *   i int   I int64_t   d double (NaN becomes NULL)   n NULL, no argument
 *   s text (NULL becomes NULL)   e text (NULL becomes '')
 *   t text and its length, a size_t
 * Texts are borrowed until the statement is reset.
 * Thread rule: that of the connection; one thread.
 */
#ifndef FA_COORDINATOR_SQL_SQL_H
#define FA_COORDINATOR_SQL_SQL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct sqlite3;
struct sqlite3_stmt;
struct sqlite3_value;

#define SQL_VALUES_MAX 48 /* more than the columns of the widest row */

/* One value of a row, as it is bound or read. */
struct sql_value {
    char type; /* I d t n */
    int64_t integer;
    double real;
    const char *text;
    size_t len;
};

/* Once, in main: no connection is shared between threads, and nobody asks how
 * much memory SQLite uses, so it need not lock either. */
void sql_setup(void);

/* Collect arguments; returns how many there are. */
size_t sql_values(struct sql_value out[SQL_VALUES_MAX], const char *types, ...);
size_t sql_values_va(struct sql_value out[SQL_VALUES_MAX], const char *types,
                     va_list ap);

/* Prepare exactly one statement.  ERR_STORE, or ERR_INPUT if the text is wrong.
 */
int sql_prepare(struct sqlite3 *db, const char *text, struct sqlite3_stmt **out,
                struct err *err);
void sql_free(struct sqlite3_stmt *stmt); /* NULL is fine */

/* The number (errno) with which the system last refused the file or its log; 0:
 * it did not. */
int sql_system_error(struct sqlite3 *db);
/* What that number means, and what to do.  Returns ERR_STORE. */
int sql_system_refused(int os, struct err *err);
/* Why SQLite failed last, in one line; of what the system refused also what to
 * do about it. Returns ERR_STORE. */
int sql_refused(struct sqlite3 *db, struct err *err);

/* Run text without arguments: pragmas, BEGIN, the schema. */
int sql_run(struct sqlite3 *db, const char *text, struct err *err);
/* Bind, and read the only column of the first row as a number; 0 without a row.
 */
int sql_number(struct sqlite3 *db, const char *text, int64_t *out,
               struct err *err, const char *types, ...);

/* Run a statement that returns no rows.  The number of rows it changed, or
 * ERR_STORE. */
int sql_exec(struct sqlite3_stmt *stmt, struct err *err, const char *types,
             ...);
int sql_exec_values(struct sqlite3_stmt *stmt, const struct sql_value *values,
                    size_t n, struct err *err);

int sql_bind(struct sqlite3_stmt *stmt, const struct sql_value *values,
             size_t n, struct err *err);
/* Bind, then step until it returns 0.  1: a row; 0: after the last row. */
int sql_start(struct sqlite3_stmt *stmt, struct err *err, const char *types,
              ...);
int sql_step(struct sqlite3_stmt *stmt, struct err *err);
void sql_reset(struct sqlite3_stmt *stmt); /* to stop before the last row */

/* Columns of the row; texts die with the next step. */
const char *sql_text(struct sqlite3_stmt *stmt, int column); /* NULL is "" */
int64_t sql_int(struct sqlite3_stmt *stmt, int column);
double sql_real(struct sqlite3_stmt *stmt, int column); /* NULL is NaN */
bool sql_is_null(struct sqlite3_stmt *stmt, int column);
const char *sql_column_name(struct sqlite3_stmt *stmt, int column);
int64_t sql_only_int(struct sqlite3_stmt *stmt); /* of a row of one column */
/* An argument of an SQL function. */
struct sql_value sql_value_of(struct sqlite3_value *value);
/* All columns of the row; returns how many. */
size_t sql_row(struct sqlite3_stmt *stmt, struct sql_value out[SQL_VALUES_MAX]);

#endif
