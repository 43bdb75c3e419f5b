#include "coordinator/store/dbmigrate.h"

#include <stdlib.h>

#include <sqlite3.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/dbfile.h"
#include "coordinator/store/salvage.h"

/* A step failed, and 'err' says why. */
static int undo(struct sqlite3 *db, const char *path, int format,
                struct err *err)
{
    bool is_full = (sqlite3_errcode(db) & 0xff) == SQLITE_FULL;

    if (is_full && format == 0)
        err_set(err, ERR_STORE,
                "the disk is full; make room, and run the same command again");
    else if (is_full)
        err_set(err, ERR_STORE,
                "the disk is full; to bring a database up to date takes "
                "as much room as it has; nothing was changed; make room, and "
                "run the same command again");
    (void)sql_run(db, "ROLLBACK", NULL); /* closing would do it too */
    return err_within(err, ERR_STORE, "%s", path);
}

static int run_steps(struct sqlite3 *db, int format, struct dbfile_steps steps,
                     struct err *err)
{
    char *seal = mem_printf("PRAGMA application_id=%d; PRAGMA user_version=%d",
                            DBFILE_APPLICATION_ID, steps.n);
    int rc = sql_run(db, "BEGIN IMMEDIATE", err);

    if (rc == 0 && format == 0) {
        rc = sql_run(db, steps.newest, err);
        format = steps.n;
    }
    for (; rc == 0 && format < steps.n; format++)
        rc = sql_run(db, steps.steps[format], err);
    if (rc == 0)
        rc = steps.finish ? steps.finish(db, err) : 0;
    if (rc == 0)
        rc = sql_run(db, seal, err);
    free(seal);
    return rc == 0 ? sql_run(db, "COMMIT", err) : rc;
}

static bool is_corrupt(struct sqlite3 *db)
{
    return (sqlite3_errcode(db) & 0xff) == SQLITE_CORRUPT;
}

/* A step may rebuild tables.  Without foreign keys, rows are kept whatever they
 * hold, and dropping a table does not delete rows of others.  Foreign keys can
 * be turned off only outside of a transaction. */
int dbmigrate(struct sqlite3 *db, const char *path, int format,
              struct dbfile_steps steps, struct err *err)
{
    int rc = sql_run(db,
                     "PRAGMA foreign_keys=OFF;"
                     "PRAGMA ignore_check_constraints=ON",
                     err);

    if (rc == 0)
        rc = run_steps(db, format, steps, err);
    if (rc < 0 && is_corrupt(db) && steps.finish) {
        steps.finish = NULL;
        (void)sql_run(db, "ROLLBACK", NULL); /* else the next BEGIN says so */
        rc = run_steps(db, format, steps, err);
    }
    if (rc == 0)
        rc = sql_run(db,
                     "PRAGMA ignore_check_constraints=OFF;"
                     "PRAGMA foreign_keys=ON",
                     err);
    return rc == 0 ? 0 : undo(db, path, format, err);
}

int dbmigrate_salvage(struct sqlite3 *from, struct sqlite3 *to, int format,
                      struct dbfile_steps steps, struct buf *lost,
                      struct err *err)
{
    int rc = sql_run(to,
                     "PRAGMA foreign_keys=OFF;"
                     "PRAGMA ignore_check_constraints=ON",
                     err);

    for (int i = 0; rc == 0 && i < format; i++)
        rc = sql_run(to, steps.steps[i], err);
    return rc == 0 ? salvage(from, to, lost, err) : rc;
}
