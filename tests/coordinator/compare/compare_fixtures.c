/* Make the databases of tests/fixtures/compare: compare_fixtures FOLDER */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sqlite3.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "tests/coordinator/compare/compare_fixture.h"

/* Make it one small file, so that reading it writes nothing next to it. */
static int make_small(const char *path)
{
    struct sqlite3 *db;
    int rc = sqlite3_open(path, &db);

    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db,
                          "PRAGMA journal_mode=DELETE; PRAGMA page_size=512;"
                          "VACUUM",
                          NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        fprintf(stderr, "%s: %s\n", path, sqlite3_errmsg(db));
    sqlite3_close(db);
    return rc;
}

static int make(const char *folder, const struct compare_named *named)
{
    char *path = mem_printf("%s/%s.db", folder, named->name);
    char *lock = mem_printf("%s.lock", path);
    int rc;

    (void)unlink(path); /* there may be an old one */
    compare_fixture(path, &named->plan);
    rc = make_small(path);
    (void)unlink(lock);
    free(lock);
    free(path);
    return rc;
}

int main(int argc, char *argv[])
{
    struct err err;

    if (argc != 2) {
        fprintf(stderr, "usage: compare_fixtures FOLDER\n");
        return 2;
    }
    if (hash_setup(&err) < 0)
        return 1;
    for (size_t i = 0; compare_named[i].name; i++)
        if (make(argv[1], &compare_named[i]) != SQLITE_OK)
            return 1;
    return 0;
}
