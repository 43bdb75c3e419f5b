/* sql_sandbox.h - an SQLite in memory that evaluates and does nothing else
 *
 * No file, no extension, no schema, no other statement than SELECT, a few
 * functions, small limits, and a time limit.  Rules of a sweep file that
 * somebody else wrote are run in it.
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
    int64_t deadline_ns; /* CLOCK_BOOTTIME */
    bool shut;           /* tables are made; only SELECT from now on */
};

int sql_sandbox_open(struct sql_sandbox *sandbox, struct err *err);
void sql_sandbox_close(struct sql_sandbox *sandbox);

/* Run statements that make tables; before sql_sandbox_shut(). */
int sql_sandbox_run(struct sql_sandbox *sandbox, const char *sql,
                    struct err *err);
void sql_sandbox_shut(struct sql_sandbox *sandbox);

/* Prepare the one statement that 'sql' holds.  ERR_INPUT with SQLite's own
 * words; '*offset' is the byte it objects to, -1 when it does not say. */
int sql_sandbox_prepare(struct sql_sandbox *sandbox, const char *sql,
                        struct sqlite3_stmt **out, int *offset,
                        struct err *err);
/* Time is counted from here on. */
void sql_sandbox_start_clock(struct sql_sandbox *sandbox, int seconds);
bool sql_sandbox_is_late(
    const struct sql_sandbox *sandbox); /* SQLite looks by itself */

#endif
