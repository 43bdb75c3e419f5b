#include "coordinator/sandbox/sql_sandbox.h"

#include <string.h>
#include <time.h>

#include <sqlite3.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sandbox/sql_rule.h"

#define STEPS 200000 /* instructions between two checks of the clock */

static int authorize(void *arg, int action, const char *a, const char *b,
                     const char *database, const char *trigger)
{
    const struct sql_sandbox *sandbox = arg;

    (void)a;
    (void)database;
    (void)trigger;
    if (!sandbox->shut)
        return SQLITE_OK;
    if (action == SQLITE_SELECT || action == SQLITE_READ)
        return SQLITE_OK;
    if (action == SQLITE_FUNCTION &&
        (sql_rule_function_allowed(b) || strcmp(b, "count") == 0 ||
         strcmp(b, "fa_flaw") == 0 || strcmp(b, "fa_hits") == 0))
        return SQLITE_OK;
    return SQLITE_DENY;
}

/* Of this thread: to wait for the reader of what is listed, or to be stopped,
 * takes no time of it. */
static int64_t used_ns(void)
{
    struct timespec used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * NS_PER_S + used.tv_nsec;
}

bool sql_sandbox_is_late(const struct sql_sandbox *sandbox)
{
    return sandbox->deadline_ns && used_ns() > sandbox->deadline_ns;
}

static int look_at_clock(void *arg)
{
    return sql_sandbox_is_late(arg);
}

static void set_limits(sqlite3 *db)
{
    static const struct {
        int limit, value;
    } limits[] = {
        { SQLITE_LIMIT_LENGTH, 1 << 20 },
        { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },
        { SQLITE_LIMIT_COLUMN, 1024 },
        { SQLITE_LIMIT_COMPOUND_SELECT, 1 },
        { SQLITE_LIMIT_VDBE_OP, 1 << 20 },
        { SQLITE_LIMIT_FUNCTION_ARG, 32 },
        { SQLITE_LIMIT_ATTACHED, 0 },
        { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 0 },
        { SQLITE_LIMIT_TRIGGER_DEPTH, 0 },
        { SQLITE_LIMIT_WORKER_THREADS, 0 },
    };

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        sqlite3_limit(db, limits[i].limit, limits[i].value);
}

int sql_sandbox_open(struct sql_sandbox *sandbox, struct err *err)
{
    static const struct {
        int option, value;
    } switches[] = {
        { SQLITE_DBCONFIG_DQS_DML, 0 },
        { SQLITE_DBCONFIG_DQS_DDL, 0 },
        { SQLITE_DBCONFIG_DEFENSIVE, 1 },
        { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
        { SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
        { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
        { SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
    };
    int rc = sqlite3_open_v2(
        ":memory:", &sandbox->db,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, NULL);

    sandbox->shut = false;
    sandbox->deadline_ns = 0;
    if (rc == SQLITE_NOMEM)
        mem_exhausted();
    if (rc != SQLITE_OK)
        return err_set(err, ERR_SYSTEM, "SQLite: %s", sqlite3_errstr(rc));
    for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
        sqlite3_db_config(sandbox->db, switches[i].option, switches[i].value,
                          NULL);
    set_limits(sandbox->db);
    sqlite3_set_authorizer(sandbox->db, authorize, sandbox);
    sqlite3_progress_handler(sandbox->db, STEPS, look_at_clock, sandbox);
    /* An automatic index would change the order of the points. */
    return sql_sandbox_run(sandbox, "PRAGMA automatic_index = off", err);
}

void sql_sandbox_close(struct sql_sandbox *sandbox)
{
    sqlite3_close(sandbox->db);
    sandbox->db = NULL;
}

int sql_sandbox_run(struct sql_sandbox *sandbox, const char *sql,
                    struct err *err)
{
    int rc = sqlite3_exec(sandbox->db, sql, NULL, NULL, NULL);

    if (rc == SQLITE_NOMEM)
        mem_exhausted();
    if (rc != SQLITE_OK)
        return err_set(err, ERR_SYSTEM, "SQLite: %s",
                       sqlite3_errmsg(sandbox->db));
    return 0;
}

void sql_sandbox_shut(struct sql_sandbox *sandbox)
{
    sandbox->shut = true;
}

int sql_sandbox_prepare(struct sql_sandbox *sandbox, const char *sql,
                        sqlite3_stmt **out, int *offset, struct err *err)
{
    const char *tail;
    int rc = sqlite3_prepare_v2(sandbox->db, sql, -1, out, &tail);

    *offset = -1;
    if (rc == SQLITE_NOMEM)
        mem_exhausted();
    if (rc != SQLITE_OK) {
#if SQLITE_VERSION_NUMBER >= 3038000
        *offset = sqlite3_error_offset(sandbox->db);
#endif
        return err_set(err, ERR_INPUT, "%s", sqlite3_errmsg(sandbox->db));
    }
    if (tail[strspn(tail, " \t\r\n")]) {
        sqlite3_finalize(*out);
        *out = NULL;
        *offset = (int)(tail - sql);
        return err_set(err, ERR_INPUT, "more than one statement");
    }
    return 0;
}

int sql_sandbox_column(sqlite3_stmt *stmt, const char *name)
{
    int at = sqlite3_column_count(stmt) - 1;

    while (at >= 0 && strcmp(sqlite3_column_name(stmt, at), name) != 0)
        at--;
    return at;
}

void sql_sandbox_start_clock(struct sql_sandbox *sandbox, int seconds)
{
    sandbox->deadline_ns = used_ns() + seconds * NS_PER_S;
}
