/* Reads the cache of Kernel Tuner token by token, because it can be large. */
#include "coordinator/replay/landscape_internal.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/search/domain.h"
#include "coordinator/text/terminal.h"

static int next(struct landscape_reader *reader, enum json_token *token)
{
    return json_stream_next(reader->stream, token, reader->err);
}

static const char *text_of(const struct landscape_reader *reader)
{
    return json_stream_text(reader->stream);
}

int landscape_scalar(const struct landscape_reader *reader,
                     enum json_token token, const char *name, double *number)
{
    *number = NAN;
    if (token == JSON_STREAM_NUMBER)
        *number = json_stream_number(reader->stream);
    else if (token != JSON_STREAM_TEXT && token != JSON_STREAM_WORD)
        return json_stream_flaw(reader->stream, reader->err,
                                "a value of '%s' is a list or an object; use "
                                "numbers, texts, true and false",
                                name);
    return 0;
}

int landscape_level(const struct landscape_tunable *tunable, const char *text,
                    double number)
{
    for (int i = 0; i < tunable->n; i++)
        if (isnan(number) ? isnan(tunable->numbers[i]) &&
                                strcmp(tunable->texts[i], text) == 0
                          : tunable->numbers[i] == number)
            return i;
    return -1;
}

/* Sort numbers in order, texts after them. */
static void add_value(struct landscape_tunable *tunable, const char *text,
                      double number)
{
    size_t n = (size_t)tunable->n;
    int i = tunable->n++;

    tunable->texts = mem_grow(tunable->texts, n + 1, sizeof(char *));
    tunable->numbers = mem_grow(tunable->numbers, n + 1, sizeof(double));
    while (i > 0 && !isnan(number) && !(tunable->numbers[i - 1] <= number)) {
        tunable->texts[i] = tunable->texts[i - 1];
        tunable->numbers[i] = tunable->numbers[i - 1];
        i--;
    }
    tunable->texts[i] = mem_strdup(text);
    tunable->numbers[i] = number;
}

static int read_values(struct landscape_reader *reader,
                       struct landscape_tunable *tunable)
{
    enum json_token token;
    double number;
    int rc = next(reader, &token);

    if (rc == 0 && token != JSON_STREAM_OPEN_ARRAY)
        return json_stream_flaw(reader->stream, reader->err,
                                "the values of '%s' are not a list",
                                tunable->name);
    tunable->ordered = true;
    while (rc == 0 && (rc = next(reader, &token)) == 0 &&
           token != JSON_STREAM_CLOSE_ARRAY && token != JSON_STREAM_END) {
        rc = landscape_scalar(reader, token, tunable->name, &number);
        if (rc < 0)
            return rc;
        if (landscape_level(tunable, text_of(reader), number) >= 0)
            continue;
        if (tunable->n == DOMAIN_LEVELS_MAX)
            return json_stream_flaw(reader->stream, reader->err,
                                    "'%s' has more than %d values",
                                    tunable->name, DOMAIN_LEVELS_MAX);
        tunable->ordered = tunable->ordered && !isnan(number);
        add_value(tunable, text_of(reader), number);
    }
    if (rc == 0 && tunable->n == 0)
        return json_stream_flaw(reader->stream, reader->err,
                                "'%s' has no values", tunable->name);
    return rc;
}

static int read_tunables(struct landscape_reader *reader)
{
    struct landscape *to = reader->to;
    struct domain_tunable shapes[DOMAIN_TUNABLES_MAX];
    enum json_token token;
    int rc = next(reader, &token);

    if (rc < 0)
        return rc;
    if (token != JSON_STREAM_OPEN_OBJECT || to->tunables)
        return json_stream_flaw(reader->stream, reader->err,
                                "\"tune_params\" must be one object with a "
                                "list of values for each tunable");
    to->tunables = mem_new(DOMAIN_TUNABLES_MAX, sizeof(*to->tunables));
    while ((rc = next(reader, &token)) == 0 && token == JSON_STREAM_KEY) {
        if (to->tunables_n == DOMAIN_TUNABLES_MAX)
            return json_stream_flaw(reader->stream, reader->err,
                                    "more than %d tunables",
                                    DOMAIN_TUNABLES_MAX);
        to->tunables[to->tunables_n].name = mem_strdup(text_of(reader));
        rc = read_values(reader, &to->tunables[to->tunables_n++]);
        if (rc < 0)
            return rc;
    }
    if (rc < 0)
        return rc;
    if (to->tunables_n == 0)
        return json_stream_flaw(reader->stream, reader->err,
                                "\"tune_params\" is empty");
    for (int t = 0; t < to->tunables_n; t++)
        shapes[t] = (struct domain_tunable){
            .levels = to->tunables[t].n,
            .ordered = to->tunables[t].ordered,
            .values = to->tunables[t].ordered ? to->tunables[t].numbers : NULL,
        };
    to->domain = domain_new(shapes, to->tunables_n);
    return 0;
}

/* Read to the end of the cache, or of the file; an entry that is cut off is
 * dropped. */
static int read_cache(struct landscape_reader *reader)
{
    enum json_token token;
    int rc = next(reader, &token);

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
    while ((rc = next(reader, &token)) == 0 && token == JSON_STREAM_KEY) {
        rc = landscape_read_entry(reader);
        if (rc < 0)
            return rc;
    }
    return rc;
}

static int read_name(struct landscape_reader *reader, char **name)
{
    enum json_token token;
    int rc = next(reader, &token);

    if (rc < 0)
        return rc;
    if (token == JSON_STREAM_TEXT) {
        free(*name);
        *name = mem_dup(text_of(reader),
                        strnlen(text_of(reader), LANDSCAPE_NAME_MAX));
        terminal_clean(*name, false);
    }
    return json_stream_skip(reader->stream, token, reader->err);
}

/* Read one member of the top object; 'token' is its key. */
static int read_part(struct landscape_reader *reader)
{
    const char *key = text_of(reader);
    enum json_token token;
    int rc;

    if (strcmp(key, "tune_params") == 0 && !reader->passed_over)
        return read_tunables(reader);
    if (strcmp(key, "cache") == 0)
        return read_cache(reader);
    if (strcmp(key, "device_name") == 0)
        return read_name(reader, &reader->to->device);
    if (strcmp(key, "kernel_name") == 0)
        return read_name(reader, &reader->to->kernel);
    if (strcmp(key, "results") == 0)
        reader->has_results = true;
    rc = next(reader, &token);
    return rc < 0 ? rc : json_stream_skip(reader->stream, token, reader->err);
}

static int read_members(struct landscape_reader *reader)
{
    enum json_token token;
    int rc = next(reader, &token);

    if (rc < 0)
        return rc;
    if (token != JSON_STREAM_OPEN_OBJECT)
        return json_stream_flaw(
            reader->stream, reader->err,
            "this is not a Kernel Tuner cache: it does not begin with '{'");
    while (rc == 0 && (rc = next(reader, &token)) == 0 &&
           token == JSON_STREAM_KEY)
        rc = read_part(reader);
    if (rc == 0 && token == JSON_STREAM_CLOSE_OBJECT)
        rc = next(reader, &token); /* nothing may follow */
    return rc;
}

/* Members may be sorted by name; then the cache comes before the tunables. */
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
        return json_stream_flaw(
            reader->stream, reader->err,
            "the file has \"results\" but no \"cache\", so it is a T4 file; "
            "give the cache file that Kernel Tuner wrote beside it");
    if (reader->passed && !reader->to->domain)
        return json_stream_flaw(reader->stream, reader->err,
                                "the file has no \"tune_params\", which lists "
                                "the values of the tunables");
    return json_stream_flaw(reader->stream, reader->err,
                            "the file has no configurations; a Kernel Tuner "
                            "cache has them in \"cache\"");
}

static int read_file(struct landscape_reader *reader, const char *path)
{
    int rc = read_members(reader);

    if (rc == 0 && reader->passed && !reader->in_cache && reader->to->domain)
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
    struct landscape_reader reader = { .err = err };
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
