#include "coordinator/problem/t1.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/problem/t1_internal.h"
#include "coordinator/text/json_stream.h"
#include "coordinator/text/terminal.h"

#define NAME_BYTES 48

/* ---- notes and flaws */

void t1_note(struct t1 *problem, const char *fmt, ...)
{
    char text[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    problem->notes =
        mem_grow(problem->notes, problem->n_notes + 1, sizeof(char *));
    /* A note is a comment of the sweep file, so it stays on its line. */
    problem->notes[problem->n_notes++] =
        terminal_clean(mem_strdup(text), false);
}

int t1_flaw(const struct t1 *problem, const struct json *at, const char *why,
            struct err *err, const char *fmt, ...)
{
    va_list ap;
    int rc;

    va_start(ap, fmt);
    rc = caret_text_verr(err, &problem->text, at->at, why, fmt, ap);
    va_end(ap);
    return rc;
}

/* An escape in the text moves the caret; the message has the place, too. */
int t1_python_flaw(const struct t1 *problem, size_t at,
                   const struct py_flaw *flaw, const char *text,
                   struct err *err)
{
    size_t place = at + 1 + flaw->at;

    return caret_text_err(
        err, &problem->text, place < problem->text.len ? place : at,
        "--lenient leaves out conditions that cannot be "
        "gates, and rejects configurations for which one has "
        "no value",
        "'%.60s', column %zu: %s", text, flaw->at + 1, flaw->what);
}

const struct json *t1_member(const struct json *object, const char *key)
{
    return object && object->kind == JSON_OBJECT ? json_find(object, key)
                                                 : NULL;
}

const char *t1_text(const struct json *value)
{
    return value && value->kind == JSON_TEXT ? value->text : NULL;
}

struct py_scope t1_scope(const struct t1 *problem)
{
    return (struct py_scope){ problem->names,
                              problem->n_tunables + (problem->n_sizes > 0) };
}

/* ---- the file */

bool t1_is(const char *path)
{
    struct json_stream *stream;
    enum json_token token;
    bool is = false;
    struct err err;
    int rc = json_stream_open(path, &stream, &err);

    if (rc < 0)
        return false;
    rc = json_stream_next(stream, &token, &err);
    if (rc == 0 && token != JSON_STREAM_OPEN_OBJECT)
        rc = ERR_INPUT;
    while (rc == 0 && !is &&
           (rc = json_stream_next(stream, &token, &err)) == 0 &&
           token == JSON_STREAM_KEY) {
        is = strcmp(json_stream_text(stream), "ConfigurationSpace") == 0;
        /* Only small members stand before it in a T1 file. */
        if (!is && strcmp(json_stream_text(stream), "cache") == 0)
            break;
        if (!is && strcmp(json_stream_text(stream), "results") == 0)
            break;
        rc = json_stream_next(stream, &token, &err);
        if (rc == 0)
            rc = json_stream_skip(stream, token, &err);
    }
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
    if (rc == 0)
        rc = t1_read_conditions(problem, space, err);
    if (rc == 0)
        rc = t1_read_kernel(problem, kernel, err);
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

static void free_arguments(struct t1 *problem)
{
    for (size_t i = 0; i < problem->n_arguments; i++) {
        free(problem->arguments[i].name);
        free(problem->arguments[i].size);
        free(problem->arguments[i].fill);
    }
    free(problem->arguments);
}

void t1_free(struct t1 *problem)
{
    if (!problem)
        return;
    for (size_t i = 0; i < problem->n_tunables; i++) {
        struct t1_tunable *tunable = &problem->tunables[i];

        free(tunable->name);
        free(tunable->sql);
        free(tunable->values);
        py_expression_free(tunable->list);
    }
    for (size_t i = 0; i < problem->n_conditions; i++) {
        py_expression_free(problem->conditions[i].python);
        free(problem->conditions[i].sql);
    }
    for (size_t i = 0; i < 6; i++)
        free(problem->launch[i]);
    free_arguments(problem);
    for (size_t i = 0; i < problem->n_notes; i++)
        free(problem->notes[i]);
    free(problem->notes);
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
    *out = (const char *const *)problem->notes;
    return problem->n_notes;
}
