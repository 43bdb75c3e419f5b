#include "coordinator/process/program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mem.h"

static bool can_run(const char *file)
{
    struct stat stat_of;

    return stat(file, &stat_of) == 0 && S_ISREG(stat_of.st_mode) &&
           access(file, X_OK) == 0;
}

bool program_is_here(const char *name)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/'))
        return can_run(name);
    if (!path)
        path = "/bin:/usr/bin";
    while (*path) {
        size_t len = strcspn(path, ":");
        char *file =
            mem_printf("%.*s/%s", len ? (int)len : 1, len ? path : ".", name);
        bool found = can_run(file);

        free(file);
        if (found)
            return true;
        path += len + (path[len] == ':');
    }
    return false;
}
