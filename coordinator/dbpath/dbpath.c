#include "coordinator/dbpath/dbpath.h"
#include "coordinator/dbpath/dbpath_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/text/json.h"
#include "coordinator/text/shell_word.h"

#define NAMES_SHOWN 400 /* bytes of the list of databases */

static int spec_read_text(const char *path, struct buf *buf)
{
    char chunk[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n;

    if (fd < 0)
        return -1;
    while ((n = read(fd, chunk, sizeof(chunk))) > 0)
        buf_add(buf, chunk, (size_t)n);
    close(fd);
    return n < 0 ? -1 : 0;
}

char *dbpath_of_file(const char *file, const char *folder)
{
    struct buf buf;
    cJSON *tree = NULL;
    const char *name;
    char *path = NULL;

    buf_init(&buf, JSON_BYTES_MAX);
    if (spec_read_text(file, &buf) == 0 && buf.len && !buf.truncated) {
        cJSON_Minify(buf.bytes); /* drops comments */
        tree = cJSON_Parse(buf.bytes);
    }
    name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(tree, "name"));
    if (name && !strchr(name, '/'))
        path = mem_printf("%s%s.db", folder, name);
    cJSON_Delete(tree);
    buf_fini(&buf);
    return path;
}

static bool ends_in(const char *name, const char *end)
{
    size_t len = strlen(name), n = strlen(end);

    return len > n && strcmp(name + len - n, end) == 0;
}

int dbpath_is_database(const struct dirent *entry)
{
    return ends_in(entry->d_name, ".db") && !ends_in(entry->d_name, ".fuzz.db");
}

static int no_name(const char *file, const char *sweep, struct err *err)
{
    char *word = shell_word(sweep);

    (void)err_set(err, ERR_INPUT,
                  "%s does not give the name of the sweep; 'fa-coord check %s' "
                  "shows what is wrong, and --db FILE names the database "
                  "directly",
                  file, word);
    free(word);
    return ERR_INPUT;
}

static int none_here(struct err *err)
{
    if (access("sweep.json", F_OK) == 0)
        return no_name("sweep.json", "sweep.json", err);
    return err_set(
        err, ERR_INPUT,
        "this folder has no sweep.json and no *.db; name a database");
}

static int only_one(char **out, struct err *err)
{
    struct dirent **entries = NULL;
    struct buf names;
    int n = scandir(".", &entries, dbpath_is_database, alphasort), rc = 0;

    if (n < 0)
        return err_set(err, ERR_SYSTEM, ".: %s", strerror(errno));
    buf_init(&names, NAMES_SHOWN);
    for (int i = 0; i < n; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", entries[i]->d_name);
    if (n == 1)
        *out = mem_strdup(entries[0]->d_name);
    else if (n == 0)
        rc = none_here(err);
    else
        rc = err_set(err, ERR_INPUT,
                     "this folder has %d databases and no sweep.json that says "
                     "which to use; name one of %s%s",
                     n, buf_text(&names), names.truncated ? "..." : "");
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
    buf_fini(&names);
    return rc;
}

/* ERR_INPUT if there are databases of several models. */
static int of_models(struct err *err)
{
    struct dbpath_models models;
    struct buf names;
    int rc = 0;

    dbpath_models_find(&models);
    buf_init(&names, NAMES_SHOWN);
    for (size_t i = 0; i < models.n; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", models.paths[i]);
    if (models.n > 0)
        rc = err_set(err, ERR_INPUT,
                     "the sweep has a database for each of its %zu models of "
                     "GPU; name one of %s%s",
                     models.n, buf_text(&names), names.truncated ? "..." : "");
    buf_fini(&names);
    dbpath_models_fini(&models);
    return rc;
}

static bool is_folder(const char *path)
{
    struct stat stat_;

    return stat(path, &stat_) == 0 && S_ISDIR(stat_.st_mode);
}

/* ERR_INPUT if a sweep file, or a folder, is named in place of its database. */
static int check_given(const char *given, struct err *err)
{
    bool folder = is_folder(given);
    struct err none = { "" };
    char *path = NULL;
    int rc = 0;

    if (!folder && !ends_in(given, ".json"))
        return 0;
    if (access(given, F_OK) == 0 && dbpath_of_sweep(given, &path, &none) == 0)
        rc = err_set(err, ERR_INPUT,
                     "%s is a %s; the database of its sweep is %s", given,
                     folder ? "folder" : "sweep file", path);
    else if (folder)
        rc = err_set(err, ERR_INPUT, "%s is a folder; name a database in it",
                     given);
    free(path);
    return rc;
}

int dbpath_find(const char *given, char **out, struct err *err)
{
    *out = NULL;
    if (given && check_given(given, err) < 0)
        return ERR_INPUT;
    if (!given && of_models(err) < 0)
        return ERR_INPUT;
    *out = given ? mem_strdup(given) : dbpath_of_file("sweep.json", "");
    return *out ? 0 : only_one(out, err);
}

int dbpath_check_order(const char *command, const char *db, const char *config,
                       struct err *err)
{
    char *first, *second;

    if (ends_in(db, ".db") || !ends_in(config, ".db"))
        return 0;
    first = shell_word(config);
    second = shell_word(db);
    (void)err_set(err, ERR_INPUT,
                  "%s: the database comes first: fa-coord %s %s %s", command,
                  command, first, second);
    free(first);
    free(second);
    return ERR_INPUT;
}

int dbpath_of_sweep(const char *sweep, char **out, struct err *err)
{
    char *file, *folder;
    const char *slash;
    int rc;

    if (ends_in(sweep, ".db")) {
        *out = mem_strdup(sweep);
        return 0;
    }
    file = is_folder(sweep) ? mem_printf("%s/sweep.json", sweep)
                            : mem_strdup(sweep);
    slash = strrchr(file, '/');
    folder = mem_dup(file, slash ? (size_t)(slash - file) + 1 : 0);
    *out = dbpath_of_file(file, folder);
    rc = *out ? 0 : no_name(file, sweep, err);
    free(file);
    free(folder);
    return rc;
}

char *dbpath_moved(const char *file, const char *db)
{
    const char *of_db = strrchr(db, '/'), *of_file = strrchr(file, '/');
    int folder = of_db ? (int)(of_db - db) + 1 : 0;
    char *beside =
        mem_printf("%.*s%s", folder, db, of_file ? of_file + 1 : file);

    if (*file && access(file, F_OK) < 0 && access(beside, F_OK) == 0)
        return beside;
    free(beside);
    return NULL;
}
