#include "worker/main/prune_answer.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/store/prune.h"
#include "worker/store/workdir.h"

#define EXIT_USAGE 2

static void say(void *data, const struct prune_item *item)
{
    const char *home = data;

    printf("%s %s %" PRId64 " %" PRId64 " %s/%s\n",
           item->kept ? "kept" : "removed", item->kind, item->bytes,
           item->age_s, home, item->path);
    if (item->kept)
        printf("why %s\n", item->kept);
}

static bool read_seconds(const char *text, int64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoll(text, &end, 10);
    return end > text && !*end && !errno && *out >= 0;
}

/* The name of this program; "" if the system does not tell. */
static void own_name(char out[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
    char *slash;

    out[n > 0 ? n : 0] = '\0';
    slash = strrchr(out, '/');
    if (slash)
        memmove(out, slash + 1, strlen(slash + 1) + 1);
}

/* A folder that is not there is not made. */
static int find_folder(const char *workdir, char out[WORKDIR_BYTES],
                       struct err *err)
{
    struct stat stat;

    if (workdir && lstat(workdir, &stat) < 0 && errno == ENOENT)
        return err_set(err, ERR_INPUT, "there is no folder %.160s", workdir);
    return workdir_open(workdir, out, err);
}

int prune_answer(const char *workdir, const char *older, bool dry_run)
{
    char home[WORKDIR_BYTES], name[PATH_MAX];
    struct prune_ask ask = { .now_s = time(NULL), .dry_run = dry_run };
    struct err err;
    int rc;

    if (!read_seconds(older, &ask.older_s)) {
        fprintf(stderr,
                "fa-worker: --prune '%.40s' is not a number of "
                "seconds\n",
                older);
        return EXIT_USAGE;
    }
    own_name(name);
    ask.program = name;
    rc = find_folder(workdir, home, &err);
    if (rc == 0) {
        puts("\nfa-prune 1");
        rc = prune_run(home, &ask, say, home, &err);
    }
    if (rc == ERR_DEVICE)
        printf("busy %s\n", err.text);
    else if (rc < 0)
        fprintf(stderr, "fa-worker: %s\n", err.text);
    if (rc < 0 && rc != ERR_DEVICE)
        return 1;
    return puts("end") < 0 || fflush(stdout) == EOF ? 1 : 0;
}
