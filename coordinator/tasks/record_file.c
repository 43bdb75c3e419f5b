#include "coordinator/tasks/record_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "coordinator/inspect/landscape_db.h"
#include "coordinator/replay/landscape.h"

static bool is_database(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof(magic)] = "";
    FILE *file = fopen(path, "re");
    bool is = file && fread(head, 1, sizeof(head), file) == sizeof(head) &&
              memcmp(head, magic, sizeof(magic)) == 0;

    if (file)
        fclose(file);
    return is;
}
int record_file_load(const char *path, struct landscape **out, struct err *err)
{
    *out = NULL;
    if (access(path, R_OK) < 0)
        return err_set(err, ERR_INPUT, "%s: %s", path, strerror(errno));
    return is_database(path) ? landscape_of_database(path, out, err)
                             : landscape_load(path, out, err);
}
