#include "coordinator/prune/prune_host.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/prune/prune_list.h"
#include "coordinator/remote/deploy.h"
#include "coordinator/remote/remote.h"

#define ANSWER_MAX (64 << 20) /* a full cache has 10^5 files */
#define ASK_NS (600 * NS_PER_S)
#define BEGIN "\nfa-prune 1\n"

/* One line, without its line feed.  What it belongs to may follow, so the last
 * entry waits in 'held' until then. */
struct reader {
    struct prune_list *list;
    const char *where, *folder;
    struct prune_entry held;
    bool has_held, ended;
};

static void flush(struct reader *reader)
{
    if (!reader->has_held)
        return;
    prune_list_add(reader->list, &reader->held);
    free(reader->held.kind);
    free(reader->held.path);
    free(reader->held.why);
    reader->has_held = false;
}

static bool read_item(struct reader *reader, const char *line)
{
    char verdict[16], kind[32];
    int64_t bytes, age_s;
    int end = 0;

    if (sscanf(line, "%15s %31s %" SCNd64 " %" SCNd64 " %n", verdict, kind,
               &bytes, &age_s, &end) < 4 ||
        !end || !line[end] || bytes < 0)
        return false;
    if (strcmp(verdict, "removed") != 0 && strcmp(verdict, "kept") != 0)
        return false;
    reader->held = (struct prune_entry){
        .where = (char *)(uintptr_t)reader->where,
        .kind = mem_strdup(kind),
        .path = mem_strdup(line + end),
        .bytes = bytes,
        .age_s = age_s,
        .why = strcmp(verdict, "kept") == 0 ? mem_strdup("") : NULL,
    };
    reader->has_held = true;
    return true;
}

static bool read_line(struct reader *reader, const char *line)
{
    if (strncmp(line, "why ", 4) == 0 && reader->has_held && reader->held.why) {
        free(reader->held.why);
        reader->held.why = mem_strdup(line + 4);
        return true;
    }
    flush(reader);
    if (strcmp(line, "end") == 0)
        return reader->ended = true;
    if (strncmp(line, "busy ", 5) == 0) {
        prune_list_add(
            reader->list,
            &(struct prune_entry){ .where = (char *)(uintptr_t)reader->where,
                                   .kind = (char *)(uintptr_t) "folder",
                                   .path = (char *)(uintptr_t)reader->folder,
                                   .why = (char *)(uintptr_t)(line + 5) });
        return true;
    }
    return read_item(reader, line);
}

int prune_host_read(const char *answer, const char *where, const char *folder,
                    struct prune_list *list, struct err *err)
{
    struct reader reader = { .list = list, .where = where, .folder = folder };
    const char *begin = strstr(answer, BEGIN);
    char *text, *rest, *line;
    bool fits = true;

    if (!begin)
        return err_set(err, ERR_PROTO, "%s: fa-worker --prune gave no answer",
                       where);
    text = rest = mem_strdup(begin + strlen(BEGIN));
    while (fits && !reader.ended && (line = strsep(&rest, "\n")))
        fits = read_line(&reader, line);
    flush(&reader);
    free(text);
    if (!fits || !reader.ended)
        return err_set(err, ERR_PROTO,
                       "%s: the answer of fa-worker --prune is not whole",
                       where);
    return 0;
}

/* Ask the program that is there now. */
static int ask(struct remote *remote, const struct host *host,
               const struct deployed *deployed, struct prune_list *list,
               struct err *err)
{
    char command[2 * DEPLOY_PATH_BYTES + 80], said[400] = "";
    struct buf answer;
    struct remote_io io = { .out = &answer,
                            .said = said,
                            .said_size = sizeof(said),
                            .deadline_ns = clock_boot_ns() + ASK_NS };
    int status = 0, rc;

    snprintf(command, sizeof(command), "%s --prune %" PRId64 " --workdir %s%s",
             deployed->program, list->older_s, deployed->workdir,
             list->dry_run ? " --dry-run" : "");
    buf_init(&answer, ANSWER_MAX);
    rc = remote_exec(remote, command, &io, &status, err);
    if (rc == 0 && status != 0)
        rc = err_set(err, ERR_SYSTEM, "%s: %s", host->name,
                     *said ? said : "fa-worker --prune failed");
    if (rc == 0)
        rc = prune_host_read(buf_text(&answer), host->name, deployed->workdir,
                             list, err);
    buf_fini(&answer);
    return rc;
}

int prune_host(const struct host *host, const struct remote_options *options,
               const struct worker_binary *program, struct prune_list *list,
               struct err *err)
{
    struct remote *remote = NULL;
    struct deployed deployed;
    int rc = remote_open(host, options, &remote, err);

    if (rc == 0)
        rc = deploy_program(remote, host->workdir, program, NULL, &deployed,
                            err);
    if (rc == 0)
        rc = ask(remote, host, &deployed, list, err);
    remote_close(remote);
    return rc;
}
