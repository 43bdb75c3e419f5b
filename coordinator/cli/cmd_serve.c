#include <stdlib.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/serve/serve_http.h"
#include "coordinator/serve/serve_source.h"
#include "coordinator/dbpath/dbpath.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"

#define DATABASES_MAX 64
#define PORT_MAX 65535

static int open_sources(const char *const *paths, size_t n,
                        struct serve_source *sources, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++) {
        char *path;

        rc = dbpath_find(paths[i], &path, err);
        if (rc < 0)
            break;
        rc = serve_source_open(path, &sources[i], err);
        free(path);
    }
    return rc;
}

int cmd_serve(int argc, char *argv[])
{
    const char *given[DATABASES_MAX] = { NULL };
    struct serve_source sources[DATABASES_MAX] = { 0 };
    int64_t port = 0;
    size_t n = 1; /* without a name: the one that other commands find, too */
    const struct option list[] = {
        { "port", OPTION_INT, &port, "N",
          "listen at this port (default: a free one)", NULL },
        { "db", OPTION_TEXT, &given[0], "FILE",
          "the database, instead of as an argument", NULL },
    };
    const struct options options = {
        .command = "serve",
        .arguments = "[DB...]",
        .what = "Show sweeps in a browser on this machine, also while they "
                "run.  Ctrl-C ends it.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .first_flag = "db",
        .all_first = true,
        .arguments_max = DATABASES_MAX,
        .plain = given,
    };
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0 && port > PORT_MAX)
        rc = err_set(&err, ERR_INPUT, "--port %lld: at most %d",
                     (long long)port, PORT_MAX);
    while (n < DATABASES_MAX && given[n])
        n++;
    if (rc == 0)
        rc = open_sources(given, n, sources, &err);
    if (rc == 0)
        rc = serve_http_run(sources, n, (int)port, &err);
    for (size_t i = 0; i < n; i++)
        serve_source_close(&sources[i]);
    return rc < 0 ? fail_with(rc, &err) : 0;
}
