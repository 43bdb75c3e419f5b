#include "worker/tool/tool_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/process/sandbox.h"
#include "worker/tool/tool.h"

/* It is one, and can be seen by programs. */
static bool is_program(const struct tool_box *box, const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           access(path, X_OK) == 0 && sandbox_sees(box->sandbox, path);
}

/* Look in one folder: 'len' bytes of 'folder'. */
static bool find_in(const struct tool_box *box, const char *folder, size_t len,
                    const char *name, char path[PATH_MAX])
{
    return len > 0 && folder[0] == '/' &&
           snprintf(path, PATH_MAX, "%.*s/%s", (int)len, folder, name) <
               PATH_MAX &&
           is_program(box, path);
}

bool tool_program_find(const struct tool_box *box, const char *name,
                       char path[PATH_MAX])
{
    const char *at = getenv("PATH");
    const char *slash = box->compiler ? strrchr(box->compiler, '/') : NULL;

    if (strchr(name, '/'))
        return name[0] == '/' &&
               snprintf(path, PATH_MAX, "%s", name) < PATH_MAX &&
               (is_program(box, path) || strcmp(name, box->runner) == 0);
    while (at && *at) {
        size_t len = strcspn(at, ":");

        if (find_in(box, at, len, name, path))
            return true;
        at += len + (at[len] == ':');
    }
    return slash && find_in(box, box->compiler, (size_t)(slash - box->compiler),
                            name, path);
}

/* A program that is there but hidden is missing, too. */
static const char *hint(const struct tool_box *box)
{
    return box->sandbox ? "; a program in the home folder is seen only if "
                          "hosts.txt names its folder by allow="
                        : "";
}

void tool_program_missing(const struct tool_box *box, const char *name,
                          char *why, size_t size)
{
    const char *path = getenv("PATH");
    const char *slash = box->compiler ? strrchr(box->compiler, '/') : NULL;

    if (strchr(name, '/'))
        snprintf(why, size, "there is no program '%.200s' on this host%s", name,
                 hint(box));
    else
        snprintf(why, size,
                 "there is no program '%.100s' on this host: no folder of its "
                 "PATH has it (%.600s)%s%.*s%s",
                 name, path ? path : "", slash ? ", nor the compiler's, " : "",
                 slash ? (int)(slash - box->compiler) : 0,
                 slash ? box->compiler : "", hint(box));
}
