#include "worker/gpu/request.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "worker/store/runner_dir.h"

#define REFERENCE "reference "
#define PATH_LATER "-" /* stands for a path that is filled in after parsing */

static int read_line(struct wire_request *out, const char *text, size_t len,
                     struct err *err)
{
    char line[WIRE_LINE_MAX], why[WIRE_WHY_MAX] = "a request's end";
    size_t mark = strlen(REFERENCE);
    bool reference = len > mark && memcmp(text, REFERENCE, mark) == 0;
    int n;

    if (reference)
        n = snprintf(line, sizeof(line), REFERENCE PATH_LATER " %.*s",
                     (int)(len - mark), text + mark);
    else
        n = snprintf(line, sizeof(line), "%.*s", (int)len, text);
    if (n >= (int)sizeof(line))
        return err_set(err, ERR_PROTO, "a line of the request is too long");
    if (wire_request_line(out, line, why) != WIRE_MORE)
        return err_set(err, ERR_PROTO, "request: %s", why);
    return 0;
}

/* The given lines, and the first and last line that every request has. */
static int read_lines(struct wire_request *out, const char *text,
                      struct err *err)
{
    int rc = 0;

    while (rc == 0 && *text) {
        size_t len = strcspn(text, "\n");

        if (len > 0 && !(len == 7 && memcmp(text, "measure", 7) == 0))
            rc = read_line(out, text, len, err);
        text += len + (text[len] == '\n');
    }
    return rc;
}

static int set_path(char out[WIRE_PATH_MAX], const char *path, struct err *err)
{
    if (snprintf(out, WIRE_PATH_MAX, "%s", path) >= WIRE_PATH_MAX)
        return err_set(err, ERR_SYSTEM, "the path '%s' is too long", path);
    return 0;
}

int request_read(const char *text, const struct request_paths *paths,
                 struct wire_request *out, struct err *err)
{
    char why[WIRE_WHY_MAX], end[] = "";
    int rc;

    memset(out, 0, sizeof(*out));
    rc = read_line(out, "measure", strlen("measure"), err);
    if (rc == 0)
        rc = read_lines(out, text, err);
    if (rc == 0)
        rc = read_line(out, "artifact " PATH_LATER,
                       strlen("artifact " PATH_LATER), err);
    if (rc == 0 && wire_request_line(out, end, why) != WIRE_DONE)
        rc = err_set(err, ERR_PROTO, "request: %s", why);
    if (rc == 0)
        rc = set_path(out->measure.kernel.path, paths->artifact, err);
    if (rc == 0)
        rc = set_path(out->measure.reference.path, paths->reference, err);
    if (rc == 0)
        rc = set_path(out->measure.files, paths->inputs ? paths->inputs : "",
                      err);
    return rc;
}

static int give(const struct runner_dir *folder, const char *inputs,
                const char *name, struct err *err)
{
    char from[PATH_MAX], path[PATH_MAX];

    if (snprintf(from, sizeof(from), "%s/%s", inputs, name) >=
        (int)sizeof(from))
        return err_set(err, ERR_SYSTEM, "the path of '%s' is too long", name);
    return runner_dir_put(folder, from, path, err);
}

int request_place(const struct gpu_job *job, const struct runner_dir *folder,
                  struct wire_request *out, struct err *err)
{
    const struct wire_measure *measure = &out->measure;
    char artifact[PATH_MAX], reference[PATH_MAX], files[PATH_MAX];
    int rc;

    runner_dir_clear(folder);
    runner_dir_path(folder, "files", files);
    rc = runner_dir_put(folder, job->artifact, artifact, err);
    if (rc == 0)
        rc = runner_dir_put(folder, job->reference, reference, err);
    if (rc == 0)
        rc = request_read(job->request,
                          &(struct request_paths){ artifact, reference,
                                                   job->inputs ? files : NULL },
                          out, err);
    for (size_t i = 0; rc == 0 && job->inputs && i < measure->n_args; i++)
        if (measure->args[i].file[0])
            rc = give(folder, job->inputs, measure->args[i].file, err);
    return rc;
}
