/* sql_sandbox.h - an SQLite in memory that can only evaluate
 *
 * It has no file, no extension, no schema, no statement but SELECT, a few
 * functions, small limits, and a time limit.  So a sweep file from another
 * person can be evaluated safely.
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_SANDBOX_SQL_SANDBOX_H
#define FA_COORDINATOR_SANDBOX_SQL_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct sqlite3;
struct sqlite3_stmt;

struct sql_sandbox {
    struct sqlite3 *db;
    int64_t deadline_ns; /* CPU time of the thread */
    bool shut;           /* after the tables are made; only SELECT from now
                          * on */
};

int sql_sandbox_open(struct sql_sandbox *sandbox, struct err *err);
void sql_sandbox_close(struct sql_sandbox *sandbox);

/* Run statements that make tables.  Call it before sql_sandbox_shut(). */
int sql_sandbox_run(struct sql_sandbox *sandbox, const char *sql,
                    struct err *err);
void sql_sandbox_shut(struct sql_sandbox *sandbox);

/* Prepare the single statement in 'sql'. ERR_INPUT with SQLite's message;
 * '*offset' is the byte it refers to, -1 if it does not say. */
int sql_sandbox_prepare(struct sql_sandbox *sandbox, const char *sql,
                        struct sqlite3_stmt **out, int *offset,
                        struct err *err);
/* The column of a query that has this name, or -1.  It is looked up once a
 * statement. */
int sql_sandbox_column(struct sqlite3_stmt *stmt, const char *name);
/* The time limit starts now. */
void sql_sandbox_start_clock(struct sql_sandbox *sandbox, int seconds);
bool sql_sandbox_is_late(
    const struct sql_sandbox *sandbox); /* for callers; SQLite checks it by
                                         * itself */

#endif
