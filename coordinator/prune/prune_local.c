#include "coordinator/prune/prune_local.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/prune/prune_list.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/dblock.h"
#include "coordinator/store/dbnew.h"
#include "coordinator/store/store.h"

#define DB ".db"
#define PROOF ".fuzz.db"
#define SECONDS_DIGITS 10 /* of time(2), in the name of what is set aside */

struct pruning {
    const char *db;
    const char *name; /* of the database, in its folder */
    char *folder, *proof;
    int64_t now_s;
    struct prune_list *list;
    const char *busy; /* why all stays; or NULL */
};

/* Adds a file, and removes it unless there is a 'why'.  True if it goes. */
static bool take(struct pruning *p, const char *kind, const char *path,
                 const char *why)
{
    struct prune_entry entry = { .where = (char *)(uintptr_t) "here",
                                 .kind = (char *)(uintptr_t)kind,
                                 .path = (char *)(uintptr_t)path };
    struct stat stat;

    if (lstat(path, &stat) < 0 || !S_ISREG(stat.st_mode))
        return false;
    entry.bytes = stat.st_size;
    entry.age_s = p->now_s - stat.st_mtim.tv_sec;
    if (entry.age_s < p->list->older_s)
        return false;
    if (p->busy)
        why = p->busy;
    if (!why && !p->list->dry_run && unlink(path) < 0)
        why = strerror(errno);
    entry.why = (char *)(uintptr_t)why;
    prune_list_add(p->list, &entry);
    return !why;
}

static bool is_there(const char *path)
{
    struct stat stat;

    return lstat(path, &stat) == 0;
}

/* What SQLite had for a database that is gone, or goes. */
static void take_logs(struct pruning *p, const char *db)
{
    static const char *const ends[] = { "-wal", "-shm" };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char *path = mem_printf("%s%s", db, ends[i]);

        (void)take(p, "log", path, NULL);
        free(path);
    }
}

/* ---- the proof */

/* Why a sweep may still need its proof; "" if it does not. */
static void need_of_proof(const char *db, struct err *why)
{
    static const char query[] =
        "SELECT coalesce(ending, '') FROM run ORDER BY epoch DESC LIMIT 1";
    struct sqlite3_stmt *stmt = NULL;
    struct store *store = NULL;
    int rc = store_open(db, STORE_READ, &store, why);

    if (rc == 0)
        rc = sql_prepare(store_db(store), query, &stmt, why);
    if (rc == 0)
        rc = sql_step(stmt, why);
    if (rc == 1 && strcmp(sql_text(stmt, 0), "done") == 0)
        why->text[0] = '\0';
    else if (rc >= 0)
        (void)err_set(why, ERR_INPUT,
                      "its sweep is not done; fa-coord resume uses it");
    sql_free(stmt);
    store_close(store);
}

static void take_proof(struct pruning *p)
{
    struct err why = { "" };
    struct dblock_holder holder;

    if (is_there(p->proof) && is_there(p->db))
        need_of_proof(p->db, &why);
    if (dblock_is_held(p->proof, &holder))
        (void)err_set(&why, ERR_STORE, "fa-coord is at work on it");
    if (take(p, "proof", p->proof, why.text[0] ? why.text : NULL) ||
        !is_there(p->proof))
        take_logs(p, p->proof);
}

/* ---- the folder */

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);

    return n > k && strcmp(name + n - k, end) == 0;
}

/* A command that is at work on a part locks it, or the database it will be. */
static const char *user_of_part(const char *path)
{
    static const char busy[] = "a command is at work on it";
    char *whole =
        mem_printf("%.*s", (int)(strlen(path) - strlen(DBNEW_PART)), path);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct dblock_holder holder;
    const char *why = NULL;

    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 ||
        dblock_is_held(whole, &holder))
        why = busy;
    if (fd >= 0)
        close(fd);
    free(whole);
    return why;
}

static void take_part(struct pruning *p, const char *path)
{
    char *lock = mem_printf("%s.lock", path);

    if (take(p, "part", path, user_of_part(path))) {
        take_logs(p, path);
        (void)take(p, "part", lock, NULL);
    }
    free(lock);
}

static void take_set_aside(struct pruning *p, const char *path)
{
    struct dblock_holder holder;
    const char *why = NULL;

    if (dblock_is_held(path, &holder))
        why = "fa-coord is at work on it";
    else if (!p->list->set_aside)
        why = "it has results that were paid for; --set-aside removes it";
    if (take(p, "set aside", path, why))
        take_logs(p, path);
}

/* NAME.db.SECONDS */
static bool is_set_aside(const struct pruning *p, const char *entry)
{
    size_t len = strlen(p->name);

    return strncmp(entry, p->name, len) == 0 && entry[len] == '.' &&
           strspn(entry + len + 1, "0123456789") == SECONDS_DIGITS &&
           !entry[len + 1 + SECONDS_DIGITS];
}

static int walk(struct pruning *p, struct err *err)
{
    DIR *dir = opendir(p->folder);
    struct dirent *entry;

    if (!dir)
        return err_set(err, ERR_INPUT, "%s: %s", p->folder, strerror(errno));
    while ((entry = readdir(dir))) {
        char *path = mem_printf("%s/%s", p->folder, entry->d_name);

        if (ends_in(entry->d_name, DBNEW_PART))
            take_part(p, path);
        else if (is_set_aside(p, entry->d_name))
            take_set_aside(p, path);
        free(path);
    }
    closedir(dir);
    return 0;
}

/* ---- the database */

static void init(struct pruning *p, const char *db, int64_t now_s,
                 struct prune_list *list)
{
    const char *slash = strrchr(db, '/');
    size_t len = strlen(db) - (ends_in(db, DB) ? strlen(DB) : 0);

    *p = (struct pruning){
        .db = db,
        .name = slash ? slash + 1 : db,
        .folder =
            slash ? mem_printf("%.*s", slash == db ? 1 : (int)(slash - db), db)
                  : mem_strdup("."),
        .proof = mem_printf("%.*s" PROOF, (int)len, db),
        .now_s = now_s,
        .list = list,
    };
}

/* Its lock while something is removed, or only a look at it.  Where there is
 * no lock file, nothing was ever at work on the database. */
static int lock_of(struct pruning *p)
{
    static const char busy[] = "fa-coord is at work on the database";
    char *name = dblock_name(p->db);
    struct dblock_holder holder;
    struct err err;
    int lock = -1;

    if (p->list->dry_run && dblock_is_held(p->db, &holder))
        p->busy = busy;
    if (!p->list->dry_run && is_there(name)) {
        lock = dblock_take(p->db, &err);
        p->busy = lock < 0 ? busy : NULL;
    }
    free(name);
    return lock;
}

int prune_local(const char *db, int64_t now_s, struct prune_list *list,
                struct err *err)
{
    struct pruning p;
    int lock, rc;

    init(&p, db, now_s, list);
    lock = lock_of(&p);
    if (!is_there(db))
        take_logs(&p, db);
    take_proof(&p);
    if (lock >= 0) /* parts of this database say that it is held */
        dblock_release(lock);
    rc = walk(&p, err);
    free(p.folder);
    free(p.proof);
    return rc;
}
