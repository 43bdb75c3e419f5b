#include "coordinator/problem/t1.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/problem/t1_argument.h"
#include "coordinator/problem/t1_internal.h"
#include "coordinator/problem/t1_kernel.h"
#include "coordinator/text/json_stream.h"

#define NAME_BYTES 48

/* ---- the file */

/* Read the next key of the top object; false at its end, or at a flaw. */
static bool next_key(struct json_stream *stream)
{
    enum json_token token;
    struct err err;

    return json_stream_next(stream, &token, &err) == 0 &&
           token == JSON_STREAM_KEY;
}

static bool skip_value(struct json_stream *stream)
{
    enum json_token token;
    struct err err;

    return json_stream_next(stream, &token, &err) == 0 &&
           json_stream_skip(stream, token, &err) == 0;
}

/* Only small members stand before its space in a T1 file, so a record, which
 * may be large, is not read through. */
static bool has_space(struct json_stream *stream)
{
    enum json_token token;
    struct err err;

    if (json_stream_next(stream, &token, &err) < 0 ||
        token != JSON_STREAM_OPEN_OBJECT)
        return false;
    while (next_key(stream)) {
        const char *key = json_stream_text(stream);

        if (t1_same_key(key, "ConfigurationSpace"))
            return true;
        if (strcmp(key, "cache") == 0 || strcmp(key, "results") == 0 ||
            !skip_value(stream))
            return false;
    }
    return false;
}

bool t1_is(const char *path)
{
    struct json_stream *stream;
    struct err err;
    bool is;

    if (json_stream_open(path, &stream, &err) < 0)
        return false;
    is = has_space(stream);
    json_stream_close(stream);
    return is;
}

static int read_file(const char *path, struct buf *out, struct err *err)
{
    char chunk[65536];
    gzFile file = gzopen(path, "rb");
    int n, rc = 0;

    if (!file)
        return err_set(err, ERR_INPUT, "%s: %s", path, strerror(errno));
    while ((n = gzread(file, chunk, sizeof(chunk))) > 0 && !out->truncated)
        buf_add(out, chunk, (size_t)n);
    if (n < 0)
        rc = err_set(err, ERR_INPUT, "%s cannot be read", path);
    else if (out->truncated)
        rc = err_set(err, ERR_INPUT, "%s is larger than 8 MiB", path);
    gzclose(file);
    return rc;
}

/* A name that a sweep may have: of the problem, or of its file. */
static char *fit_name(const char *text)
{
    size_t len = strnlen(text, NAME_BYTES);
    char *name = mem_dup(len ? text : "problem", len ? len : 7);

    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '-')
            *at = '_';
    return name;
}

static void set_name(struct t1 *problem, const struct json *root,
                     const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    const char *name =
        t1_text(t1_member(t1_member(root, "General"), "BenchmarkName"));
    char *stem = mem_dup(file, strcspn(file, "."));

    problem->name = fit_name(name && *name ? name : stem);
    free(stem);
}

static int read_root(struct t1 *problem, const struct json *root,
                     const char *path, struct err *err)
{
    const struct json *space = t1_member(root, "ConfigurationSpace");
    const struct json *kernel = t1_member(root, "KernelSpecification");
    int rc;

    if (!space || space->kind != JSON_OBJECT)
        return t1_flaw(problem, root, NULL, err,
                       "a T1 file is an object with \"ConfigurationSpace\"");
    if (kernel && kernel->kind != JSON_OBJECT)
        return t1_flaw(problem, kernel, NULL, err,
                       "\"KernelSpecification\" must be an object");
    set_name(problem, root, path);
    rc = t1_read_sizes(problem, kernel, err);
    if (rc == 0)
        rc = t1_read_tunables(problem, space, err);
    if (rc < 0)
        return rc;
    t1_read_constants(problem, root);
    rc = t1_read_conditions(problem, space, err);
    if (rc < 0)
        return rc;
    t1_read_kernel(problem, kernel);
    rc = t1_read_arguments(problem, kernel, err);
    return rc == 0 ? t1_walk(problem, err) : rc;
}

int t1_load(const char *path, bool lenient, struct t1 **out, struct err *err)
{
    struct t1 *problem = mem_new(1, sizeof(*problem));
    int rc;

    problem->lenient = lenient;
    buf_init(&problem->file, JSON_BYTES_MAX);
    rc = read_file(path, &problem->file, err);
    problem->text = (struct caret_text){ path, buf_text(&problem->file),
                                         problem->file.len };
    if (rc == 0)
        rc = json_parse(path, buf_text(&problem->file), problem->file.len,
                        &problem->doc, err);
    if (rc == 0)
        rc = read_root(problem, json_root(problem->doc), path, err);
    if (rc < 0)
        t1_free(problem);
    else
        *out = problem;
    return rc;
}

void t1_free(struct t1 *problem)
{
    if (!problem)
        return;
    for (size_t i = 0; i < problem->n_tunables; i++)
        t1_tunable_fini(&problem->tunables[i]);
    for (size_t i = 0; i < problem->n_conditions; i++) {
        py_expression_free(problem->conditions[i].python);
        free(problem->conditions[i].sql);
    }
    for (size_t i = 0; i < 6; i++)
        free(problem->launch.sizes[i]);
    free(problem->launch.smem);
    for (size_t i = 0; i < problem->compiler.n_flags; i++)
        free(problem->compiler.flags[i]);
    free(problem->compiler.standard);
    t1_free_arguments(problem);
    for (size_t i = 0; i < problem->notes.n; i++)
        free(problem->notes.list[i]);
    free(problem->notes.list);
    free(problem->name);
    json_free(problem->doc);
    buf_fini(&problem->file);
    free(problem);
}

const char *t1_name(const struct t1 *problem)
{
    return problem->name;
}

int64_t t1_points(const struct t1 *problem)
{
    return problem->points;
}

int64_t t1_passing(const struct t1 *problem)
{
    return problem->passing;
}

size_t t1_notes(const struct t1 *problem, const char *const **out)
{
    *out = (const char *const *)problem->notes.list;
    return problem->notes.n;
}
