/* Reads the cache of Kernel Tuner, or a T4 file, token by token, because it can
 * be large. */
#include "coordinator/replay/landscape_internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/model/domain.h"

static int read_values(struct landscape_reader *reader,
                       struct landscape_tunable *tunable)
{
    enum json_token token;
    int rc = landscape_next(reader, &token);

    if (rc == 0 && token != JSON_STREAM_OPEN_ARRAY)
        return json_stream_flaw(reader->stream, reader->err,
                                "the values of '%s' are not a list",
                                tunable->name);
    while (rc == 0 && (rc = landscape_next(reader, &token)) == 0 &&
           token != JSON_STREAM_CLOSE_ARRAY && token != JSON_STREAM_END)
        rc = landscape_add_value(reader, tunable, token);
    if (rc == 0 && tunable->n == 0)
        return json_stream_flaw(reader->stream, reader->err,
                                "'%s' has no values", tunable->name);
    return rc;
}

static int read_tunables(struct landscape_reader *reader)
{
    struct landscape *to = reader->to;
    struct landscape_tunable *tunable;
    enum json_token token;
    int rc = landscape_next(reader, &token);

    if (rc < 0)
        return rc;
    if (token != JSON_STREAM_OPEN_OBJECT || to->tunables)
        return json_stream_flaw(reader->stream, reader->err,
                                "\"tune_params\" must be one object with a "
                                "list of values for each tunable");
    while ((rc = landscape_next(reader, &token)) == 0 &&
           token == JSON_STREAM_KEY) {
        rc = landscape_add_tunable(reader, &tunable);
        if (rc == 0)
            rc = read_values(reader, tunable);
        if (rc < 0)
            return rc;
    }
    if (rc < 0)
        return rc;
    if (to->tunables_n == 0)
        return json_stream_flaw(reader->stream, reader->err,
                                "\"tune_params\" is empty");
    landscape_make_domain(to);
    return 0;
}

/* Read to the end of the cache, or of the file; an entry that is cut off is
 * dropped. */
static int read_cache(struct landscape_reader *reader)
{
    enum json_token token;
    int rc = landscape_next(reader, &token);

    if (rc < 0)
        return rc;
    if (token != JSON_STREAM_OPEN_OBJECT)
        return json_stream_flaw(
            reader->stream, reader->err,
            "\"cache\" must be an object with one member per configuration");
    if (!reader->to->domain) {
        reader->passed = true;
        return json_stream_skip(reader->stream, token, reader->err);
    }
    reader->in_cache = true;
    while ((rc = landscape_next(reader, &token)) == 0 &&
           token == JSON_STREAM_KEY) {
        rc = landscape_read_entry(reader);
        if (rc < 0)
            return rc;
    }
    return rc;
}

/* Read one member of the top object; 'token' is its key. */
static int read_part(struct landscape_reader *reader)
{
    const char *key = landscape_text(reader);
    enum json_token token;
    int rc;

    if (strcmp(key, "tune_params") == 0 && !reader->passed_over)
        return read_tunables(reader);
    if (strcmp(key, "cache") == 0)
        return read_cache(reader);
    if (strcmp(key, "device_name") == 0)
        return landscape_read_name(reader, &reader->to->device);
    if (strcmp(key, "kernel_name") == 0)
        return landscape_read_name(reader, &reader->to->kernel);
    if (strcmp(key, "problem_size") == 0)
        return landscape_read_problem(reader);
    if (strcmp(key, "results") == 0)
        return landscape_t4_results(reader);
    if (strcmp(key, "metadata") == 0 && !reader->passed_over)
        return landscape_t4_metadata(reader);
    reader->is_ktt = reader->is_ktt || strcmp(key, "Results") == 0;
    rc = landscape_next(reader, &token);
    return rc < 0 ? rc : json_stream_skip(reader->stream, token, reader->err);
}

static int read_members(struct landscape_reader *reader)
{
    enum json_token token;
    int rc = landscape_next(reader, &token);

    if (rc < 0)
        return rc;
    if (token == JSON_STREAM_END)
        return json_stream_flaw(reader->stream, reader->err,
                                "the file is empty");
    if (token != JSON_STREAM_OPEN_OBJECT)
        return json_stream_flaw(reader->stream, reader->err,
                                "this is not a Kernel Tuner cache or a T4 "
                                "file: it does not begin with '{'");
    while (rc == 0 && (rc = landscape_next(reader, &token)) == 0 &&
           token == JSON_STREAM_KEY)
        rc = read_part(reader);
    if (rc == 0 && token == JSON_STREAM_CLOSE_OBJECT)
        rc = landscape_next(reader, &token); /* nothing may follow */
    return rc;
}

/* Members may be sorted by name; then the cache comes before the tunables.  A
 * T4 file has its tunables only in its configurations. */
static int read_again(struct landscape_reader *reader, const char *path)
{
    int rc;

    json_stream_close(reader->stream);
    reader->stream = NULL;
    reader->passed_over = true;
    rc = json_stream_open(path, &reader->stream, reader->err);
    return rc < 0 ? rc : read_members(reader);
}

static int nothing_in_it(const struct landscape_reader *reader)
{
    if (reader->has_results)
        return json_stream_flaw(reader->stream, reader->err,
                                "\"results\" has no configurations");
    if (reader->passed && !reader->to->domain)
        return json_stream_flaw(reader->stream, reader->err,
                                "the file has no \"tune_params\", which lists "
                                "the values of the tunables");
    if (reader->is_ktt)
        return json_stream_flaw(reader->stream, reader->err,
                                "these are results in KTT's own format; let "
                                "KTT write T4, which is its output format "
                                "JSON_T4");
    return json_stream_flaw(reader->stream, reader->err,
                            "the file has no configurations; a Kernel Tuner "
                            "cache has them in \"cache\", a T4 file in "
                            "\"results\"");
}

static int read_file(struct landscape_reader *reader, const char *path)
{
    int rc = read_members(reader);

    if (rc == 0 && !reader->in_cache && reader->to->domain &&
        (reader->passed || reader->has_results))
        rc = read_again(reader, path);
    if (rc < 0)
        return rc;
    reader->to->unclosed = json_stream_depth(reader->stream) > 0;
    return reader->in_cache && domain_size(reader->to->domain) > 0
               ? 0
               : nothing_in_it(reader);
}

int landscape_load(const char *path, struct landscape **out, struct err *err)
{
    struct landscape_reader reader = { .unit = -3, .err = err };
    int rc = json_stream_open(path, &reader.stream, err);

    if (rc < 0)
        return rc;
    reader.to = mem_new(1, sizeof(*reader.to));
    reader.to->best = reader.to->baseline = -1;
    reader.to->device = mem_strdup("");
    reader.to->kernel = mem_strdup("");
    rc = read_file(&reader, path);
    json_stream_close(reader.stream);
    if (rc < 0)
        landscape_free(reader.to);
    else
        *out = reader.to;
    return rc;
}
