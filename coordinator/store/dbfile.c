#include "coordinator/store/dbfile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <sqlite3.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/checksum.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/dblock.h"
#include "coordinator/store/dbmigrate.h"
#include "coordinator/text/outfile.h"
#include "coordinator/text/terminal.h"

#define SETTLE_MS 1000
#define BUSY_MS 5000  /* a reader's checkpoint at most */
#define ALONE_TRIES 3 /* tries to copy a file that another process changes */
#define COPY_BYTES_MAX (INT64_C(2) << 30) /* into memory */

#define WAL_AT 18 /* in a file's header: how it is written */
#define WAL_MODE 2

const char *dbfile_network(unsigned long f_type)
{
    static const struct {
        unsigned long f_type; /* linux/magic.h, statfs(2) */
        const char *name;
    } shared[] = {
        { 0x6969, "NFS" },        { 0x517b, "SMB" },
        { 0xff534d42, "CIFS" },   { 0xfe534d42, "SMB" },
        { 0x5346414f, "AFS" },    { 0x00c36400, "Ceph" },
        { 0x0bd00bd0, "Lustre" }, { 0x47504653, "GPFS" },
        { 0x19830326, "BeeGFS" }, { 0x61636673, "ACFS" },
    };

    for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
        if (shared[i].f_type == (f_type & 0xffffffff))
            return shared[i].name;
    return NULL;
}

static int check_file_system(const char *path, struct err *err)
{
    char *copy = mem_strdup(path);
    struct statfs fs = { .f_type = 0 };
    const char *name;

    (void)statfs(dirname(copy), &fs); /* touch() says what is wrong with it */
    name = dbfile_network((unsigned long)fs.f_type);
    free(copy);
    if (!name)
        return 0;
    return err_set(err, ERR_STORE,
                   "%s is on a network file system (%s), where SQLite's "
                   "write-ahead log does not work; name a local file with --db",
                   path, name);
}

static int is_missing(const char *path, struct err *err)
{
    return err_set(err, ERR_STORE,
                   "there is no database %s; 'fa-coord sweep' creates it",
                   path);
}

static int is_empty(const char *path, struct err *err)
{
    return err_set(err, ERR_STORE,
                   "%s is an empty file; 'fa-coord sweep' makes a database of "
                   "it",
                   path);
}

static int cannot_read(const char *path, struct err *err)
{
    return err_set(err, ERR_STORE, "%s: %s%s", path, strerror(errno),
                   errno == EACCES ? "; a database is for its owner alone: ask "
                                     "for a copy that you may read"
                                   : "");
}

static int cannot_write(const char *path, struct err *err)
{
    const int why = errno;
    const char *remedy = "";

    if (why == EROFS || why == EACCES || why == EPERM)
        remedy = access(path, F_OK) == 0
                     ? "; work on a copy of it in a folder of your own"
                     : "; name a database elsewhere with --db";
    return err_set(err, ERR_STORE, "%s cannot be written: %s%s", path,
                   strerror(why), remedy);
}

/* SQLite would create the file with the umask's mode, and for every other
 * problem it would only say "unable to open database file". */
static int touch(const char *path, bool create, struct err *err)
{
    int fd = open(
        path, O_RDWR | (create ? O_CREAT : 0) | O_CLOEXEC | O_NONBLOCK, 0600);
    struct stat st;
    int rc;

    if (fd == -1 && errno == ENOENT && !create)
        return is_missing(path, err);
    if (fd == -1 && (errno == ENOENT || errno == ENOTDIR)) {
        rc = outfile_folder(path, err);
        if (rc < 0)
            return rc;
    }
    if (fd == -1)
        return cannot_write(path, err);
    rc = fstat(fd, &st);
    close(fd);
    if (rc == 0 && !S_ISREG(st.st_mode))
        return err_set(err, ERR_STORE, "%s is not a file", path);
    /* each would have a lock and a log (NAME-wal) of its own: two writers would
     * not see each other, and damage it */
    if (rc == 0 && st.st_nlink > 1)
        return err_set(
            err, ERR_STORE,
            "%s has %lu names (hard links), and can be written under "
            "one only: remove the others, or make them copies",
            path, (unsigned long)st.st_nlink);
    return 0;
}

/* The path as a URI, with special characters escaped. */
static char *uri_of(const char *path, const char *query)
{
    struct sqlite3_str *name = sqlite3_str_new(NULL);

    sqlite3_str_appendall(name, "file:");
    for (const char *c = path; *c; c++)
        if (strchr("%?#", *c))
            sqlite3_str_appendf(name, "%%%02x", (unsigned char)*c);
        else
            sqlite3_str_appendchar(name, 1, *c);
    sqlite3_str_appendall(name, query);
    return sqlite3_str_finish(name);
}

/* checksum_row(...) and checksum_short(...) in SQL. */
static void checksum_columns(sqlite3_context *context, int n,
                             sqlite3_value **values)
{
    bool is_short = sqlite3_user_data(context) != NULL;
    struct sql_value row[SQL_VALUES_MAX];
    char sum[HASH_HEX];

    if (n > SQL_VALUES_MAX) {
        sqlite3_result_error(context, "too many columns", -1);
        return;
    }
    for (int i = 0; i < n; i++)
        row[i] = sql_value_of(values[i]);
    if (is_short) {
        sqlite3_result_int64(context, checksum_short(row, (size_t)n));
        return;
    }
    checksum_row(row, (size_t)n, sum);
    sqlite3_result_text(context, sum, -1, SQLITE_TRANSIENT);
}

static int add_function(struct sqlite3 *db, const char *name, void *is_short,
                        struct err *err)
{
    if (sqlite3_create_function_v2(
            db, name, -1,
            SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, is_short,
            checksum_columns, NULL, NULL, NULL) == SQLITE_OK)
        return 0;
    return sql_refused(db, err);
}

static int open_db(const char *name, int flags, struct sqlite3 **out,
                   struct err *err)
{
    int rc = sqlite3_open_v2(
        name, out, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);

    if (rc != SQLITE_OK && *out)
        return sql_refused(*out, err);
    if (rc != SQLITE_OK) /* there was none even for the connection */
        return sql_system_refused(ENOMEM, err);
    sqlite3_busy_timeout(*out, BUSY_MS);
    sqlite3_db_config(*out, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(*out, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(*out, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    rc = add_function(*out, "checksum_row", NULL, err);
    if (rc == 0)
        rc = add_function(*out, "checksum_short", *out, err);
    if (rc < 0)
        return rc;
    return sql_run(*out, "PRAGMA trusted_schema=OFF", err);
}

static bool may_write(const char *path)
{
    char *copy = mem_strdup(path);
    bool may = access(path, W_OK) == 0 && access(dirname(copy), W_OK) == 0;

    free(copy);
    return may;
}

/* A file that has fewer pages than its header says is corrupt for SQLite,
 * unless the schema may be written: it then reads what is there. */
static int allow_damage(struct sqlite3 *db, struct err *err)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    return sql_run(db, "PRAGMA writable_schema=ON", err);
}

static bool allows_damage(struct sqlite3 *db)
{
    int is_defensive = 1;

    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, -1, &is_defensive);
    return !is_defensive;
}

/* Say what is wrong with the file, from SQLite's error at the first read. */
static int unreadable(const char *path, struct sqlite3 *db, struct err *err)
{
    int code = sqlite3_errcode(db);
    char why[80];

    if ((code & 0xff) == SQLITE_NOTADB)
        return err_set(err, ERR_STORE,
                       "%s is not a SQLite database; name another file with "
                       "--db",
                       path);
    if ((code & 0xff) == SQLITE_CORRUPT && sql_system_error(db) != EIO) {
        snprintf(why, sizeof(why), "%s", sqlite3_errmsg(db));
        terminal_clean(why, false); /* it quotes them */
        return allows_damage(db)
                   ? err_set(err, ERR_STORE,
                             "%s is corrupt (%s) in its first pages, without "
                             "which nothing can be read; use a backup",
                             path, why)
                   : err_set(err, ERR_STORE,
                             "%s is corrupt (%s); 'fa-coord recover' copies "
                             "what can still be read",
                             path, why);
    }
    if ((code & 0xff) == SQLITE_CANTOPEN && !may_write(path))
        return err_set(err, ERR_STORE,
                       "%s: the newest results are in %s-wal, and SQLite must "
                       "write to the folder to read them; copy both files to a "
                       "folder that you can write",
                       path, path);
    return err_within(err, ERR_STORE, "%s", path);
}

/* 'out' is the format of the file: 0 for an empty one. */
static int check_format(struct sqlite3 *db, const char *path, int newest,
                        int *out, struct err *err)
{
    int64_t id, format, tables;

    *out = 0;
    if (sql_number(db, "PRAGMA application_id", &id, err, "") < 0 ||
        sql_number(db, "PRAGMA user_version", &format, err, "") < 0 ||
        sql_number(db, "SELECT count(*) FROM sqlite_schema", &tables, err, "") <
            0)
        return unreadable(path, db, err);
    if (id == 0 && format == 0 && tables == 0)
        return 0;
    if (id != DBFILE_APPLICATION_ID || format < 1)
        return err_set(err, ERR_STORE,
                       "%s is a database of another program; name another "
                       "file with --db",
                       path);
    if (format > newest)
        return err_set(err, ERR_STORE,
                       "%s has format %lld, written by a newer fa-coord; this "
                       "one knows formats up to %d: use the newer one",
                       path, (long long)format, newest);
    *out = (int)format;
    return 0;
}

bool dbfile_fits_memory(int64_t bytes)
{
    return bytes <= COPY_BYTES_MAX;
}

static int copy_pages(struct sqlite3 *from, struct sqlite3 *to, struct err *err)
{
    struct sqlite3_backup *backup =
        sqlite3_backup_init(to, "main", from, "main");

    if (backup) {
        sqlite3_backup_step(backup, -1);
        sqlite3_backup_finish(backup);
    }
    if ((sqlite3_errcode(to) & 0xff) == SQLITE_OK)
        return 0;
    return sql_refused(to, err);
}

/* A file of an older format is brought up to date in memory and read there, so
 * that the file stays as it is. */
static int read_older(const char *path, struct sqlite3 **db, int format,
                      struct dbfile_steps steps, struct buf *lost,
                      struct err *err)
{
    struct sqlite3 *copy = NULL;
    int64_t pages, page_bytes;
    int rc = sql_number(*db, "PRAGMA page_count", &pages, err, "");

    if (rc == 0)
        rc = sql_number(*db, "PRAGMA page_size", &page_bytes, err, "");
    if (rc == 0 && !dbfile_fits_memory(pages * page_bytes))
        return err_set(
            err, ERR_STORE,
            "%s has format %d of an older fa-coord and is too large to convert "
            "in memory; 'fa-coord resume' converts it to format %d",
            path, format, steps.n);
    if (rc == 0)
        rc = open_db(":memory:", SQLITE_OPEN_READWRITE, &copy, err);
    if (rc == 0)
        rc = lost ? dbmigrate_salvage(*db, copy, format, steps, lost, err)
                  : copy_pages(*db, copy, err);
    if (rc < 0)
        err_within(err, rc, "%s", path);
    else
        rc = dbmigrate(copy, path, format, steps, err);
    sqlite3_close(rc < 0 ? copy : *db);
    if (rc == 0)
        *db = copy;
    return rc;
}

/* ---- reading ----
 *
 * SQLite reads a database in WAL mode through NAME-wal and NAME-shm, and makes
 * them if they do not exist.  Only a connection that may write removes them
 * again, if it was the last one, under the locks that this needs.  So where it
 * may write, a reader opens the file for writing and sets query_only; the next
 * reader or writer finds the folder as it was.
 *
 * If a killed coordinator left rows in NAME-wal, the next coordinator copies
 * them back.  A reader leaves that file alone.
 *
 * In a folder that cannot be written, these files cannot be made.  If NAME-wal
 * is empty, the file alone is the database. */

/* Bytes of the WAL that are not copied back to the file yet. */
static int64_t wal_bytes(const char *path)
{
    char *wal = mem_printf("%s-wal", path);
    struct stat st = { .st_size = 0 };

    if (stat(wal, &st) < 0)
        st.st_size = 0;
    free(wal);
    return st.st_size;
}

/* A file in another mode is not a database of fa-coord, or its creation did not
 * finish.  Reads through SQLite's own descriptor, because closing another
 * descriptor of the file would drop all locks that the process has on it. */
static bool is_in_wal_mode(struct sqlite3 *db)
{
    sqlite3_file *file = NULL;
    unsigned char mode = 0;

    sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    return file && file->pMethods &&
           file->pMethods->xRead(file, &mode, 1, WAL_AT) == SQLITE_OK &&
           mode == WAL_MODE;
}

static int open_beside_others(const char *path, struct sqlite3 **out,
                              struct err *err)
{
    struct dblock_holder holder;
    bool left = wal_bytes(path) > 0 && !dblock_is_held(path, &holder);
    int rc = open_db(path, SQLITE_OPEN_READWRITE, out, err);

    if (rc == 0)
        rc = sql_run(*out, "PRAGMA query_only=ON", err);
    if (rc == 0 && left)
        sqlite3_db_config(*out, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return rc;
}

static bool is_unchanged(const struct stat *before, const char *path)
{
    struct stat now;

    return stat(path, &now) == 0 && now.st_size == before->st_size &&
           now.st_ino == before->st_ino &&
           now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

/* Read the file alone, without -wal and -shm.  Another process may begin to
 * write meanwhile, so the file is copied, and the copy is used if the file did
 * not change: 1 if it did.  A file that is too large for a copy is read in
 * place.  So is one that cannot be copied, so that the error says why. */
static int try_alone(const char *path, const char *name, struct sqlite3 **out,
                     struct err *err)
{
    struct sqlite3 *copy = NULL, *take;
    struct stat before;
    int rc;

    if (stat(path, &before) < 0)
        return err_set(err, ERR_STORE, "%s", strerror(errno));
    rc = open_db(name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, out, err);
    if (rc < 0 || !dbfile_fits_memory(before.st_size))
        return rc;
    rc = open_db(":memory:", SQLITE_OPEN_READWRITE, &copy, err);
    if (rc == 0) {
        bool copied = copy_pages(*out, copy, NULL) == 0;
        bool changed = !is_unchanged(&before, path);

        take = copied && !changed ? copy : *out;
        copy = take == copy ? *out : copy;
        *out = take;
        rc = changed;
    }
    sqlite3_close(copy);
    return rc;
}

static int open_alone(const char *path, struct sqlite3 **out, struct err *err)
{
    char *name = uri_of(path, "?immutable=1");
    int rc = 1;

    for (int i = 0; i < ALONE_TRIES && rc == 1; i++) {
        sqlite3_close(*out);
        *out = NULL;
        rc = try_alone(path, name, out, err);
    }
    sqlite3_free(name);
    return rc != 1 ? rc
                   : err_set(err, ERR_STORE,
                             "the file changed while it was read; try again");
}

static int open_to_read(const char *path, struct sqlite3 **out, struct err *err)
{
    char *name = uri_of(path, "");
    int rc = open_db(name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, out, err);
    bool may = may_write(path);

    sqlite3_free(name);
    if (rc < 0 || !is_in_wal_mode(*out) || (!may && wal_bytes(path) > 0))
        return rc;
    sqlite3_close(*out);
    *out = NULL;
    return may ? open_beside_others(path, out, err)
               : open_alone(path, out, err);
}

int dbfile_read(const char *path, struct dbfile_steps steps, struct buf *lost,
                struct sqlite3 **out, struct err *err)
{
    struct stat st;
    int format = 0, rc;

    *out = NULL;
    if (stat(path, &st) < 0 && errno == ENOENT)
        return is_missing(path, err);
    if (access(path, R_OK) < 0)
        return cannot_read(path, err);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_STORE, "%s is not a file", path);
    rc = open_to_read(path, out, err);
    if (rc == 0 && lost)
        rc = allow_damage(*out, err);
    rc = err_within(err, rc, "%s", path);
    if (rc == 0)
        rc = check_format(*out, path, steps.n, &format, err);
    if (rc == 0 && format == 0)
        rc = is_empty(path, err);
    if (rc == 0 && format < steps.readable)
        rc = read_older(path, out, format, steps, lost, err);
    if (rc == 0)
        return 0;
    dbfile_close(*out);
    *out = NULL;
    return rc;
}

int dbfile_check(const char *path, bool create, struct err *err)
{
    int rc = check_file_system(path, err);

    return rc < 0 ? rc : touch(path, create, err);
}

bool dbfile_is_new(const char *path)
{
    struct sqlite3 *db = NULL;
    struct stat st;
    struct err err;
    int format = 1;

    if (stat(path, &st) < 0)
        return errno == ENOENT;
    if (open_to_read(path, &db, &err) < 0 ||
        check_format(db, path, INT_MAX, &format, &err) < 0)
        format = 1;
    dbfile_close(db);
    return format == 0;
}

/* Keys are hashes, so pages are touched at random: keep many in memory (KiB;
 * the system has the others), and copy them back less often (pages). */
static const char write_settings[] =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
    "PRAGMA foreign_keys=ON; PRAGMA journal_size_limit=67108864;"
    "PRAGMA cache_size=-16384; PRAGMA wal_autocheckpoint=8000";

int dbfile_write(const char *path, struct dbfile_steps steps, bool create,
                 struct sqlite3 **out, struct err *err)
{
    int format = 0, rc;

    *out = NULL;
    rc = err_within(err, open_db(path, SQLITE_OPEN_READWRITE, out, err), "%s",
                    path);
    if (rc == 0)
        rc = check_format(*out, path, steps.n, &format, err);
    if (rc == 0 && format == 0 && !create)
        rc = is_empty(path, err);
    if (rc == 0 && sql_run(*out, write_settings, err) < 0)
        rc = unreadable(path, *out, err);
    if (rc == 0 && format < steps.n)
        rc = dbmigrate(*out, path, format, steps, err);
    if (rc == 0)
        return 0;
    dbfile_close(*out);
    *out = NULL;
    return rc;
}

int dbfile_newest(const char *newest, struct sqlite3 **out, struct err *err)
{
    int rc;

    *out = NULL;
    rc = open_db(":memory:", SQLITE_OPEN_READWRITE, out, err);
    if (rc == 0)
        rc = sql_run(*out, newest, err);
    if (rc < 0) {
        dbfile_close(*out);
        *out = NULL;
    }
    return rc;
}

/* SQLite does this by itself only for the last connection.  Where a reader was
 * the last one, and another had come while there was a WAL and no writer, it
 * would stay: open_beside_others() takes it for that of a killed writer. */
void dbfile_settle(struct sqlite3 *db)
{
    sqlite3_busy_timeout(db, SETTLE_MS);
    (void)sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_TRUNCATE,
                                    NULL, NULL);
}

void dbfile_close(struct sqlite3 *db)
{
    sqlite3_close(db);
}
