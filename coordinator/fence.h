/* fence.h - an SQLite in memory that evaluates and does nothing else
 *
 * No file, no extension, no schema, no other statement than SELECT, a few
 * functions, small limits, and a time limit.  Rules of a sweep file that
 * somebody else wrote are run in it.
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_FENCE_H
#define FA_COORDINATOR_FENCE_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct sqlite3;
struct sqlite3_stmt;

struct fence {
    struct sqlite3 *db;
    int64_t deadline_ns; /* CLOCK_BOOTTIME */
    bool shut;           /* tables are made; only SELECT from now on */
};

int fence_open(struct fence *fence, struct err *err);
void fence_close(struct fence *fence);

/* Run statements that make tables; before fence_shut(). */
int fence_run(struct fence *fence, const char *sql, struct err *err);
void fence_shut(struct fence *fence);

/* Prepare the one statement that 'sql' holds.  ERR_INPUT with SQLite's own
 * words; '*offset' is the byte it objects to, -1 when it does not say. */
int fence_prepare(struct fence *fence, const char *sql,
                  struct sqlite3_stmt **out, int *offset, struct err *err);
/* Time is counted from here on. */
void fence_start_clock(struct fence *fence, int seconds);
bool fence_is_late(const struct fence *fence); /* SQLite looks by itself */

#endif
