#include "coordinator/landscape.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/domain.h"
#include "coordinator/json_stream.h"

#define SAMPLES_MAX (1 << 27) /* of all configurations: 1 GiB */
#define CONFIG_SAMPLES_MAX 65536
#define MS 1e-3
#define ERROR_TIME_MS 1e20 /* what old versions record for a failure */

struct reader {
    struct json_stream *stream;
    struct landscape *to;
    size_t samples_cap;
    int configs_cap;
    bool in_cache; /* it was entered: an early end is an unclosed file */
    struct err *err;
};

static const struct word {
    const char *text;
    enum landscape_outcome outcome;
} words[] = {
    { "InvalidConfig", LANDSCAPE_CONSTRAINTS },
    { "CompilationFailedConfig", LANDSCAPE_COMPILE },
    { "RuntimeFailedConfig", LANDSCAPE_RUNTIME },
    { "constraints", LANDSCAPE_CONSTRAINTS },
    { "compile", LANDSCAPE_COMPILE },
    { "runtime", LANDSCAPE_RUNTIME },
    { "correctness", LANDSCAPE_CORRECTNESS },
    { "timeout", LANDSCAPE_TIMEOUT },
    { "TimeoutConfig", LANDSCAPE_TIMEOUT },
    { "TimeoutFailedConfig", LANDSCAPE_TIMEOUT },
    { "CorrectnessFailedConfig", LANDSCAPE_CORRECTNESS },
};

const char *landscape_outcome_name(enum landscape_outcome outcome)
{
    static const char *const names[] = {
        [LANDSCAPE_TIMED] = "correct",
        [LANDSCAPE_CONSTRAINTS] = "constraints",
        [LANDSCAPE_COMPILE] = "compile",
        [LANDSCAPE_RUNTIME] = "runtime",
        [LANDSCAPE_CORRECTNESS] = "correctness",
        [LANDSCAPE_TIMEOUT] = "timeout",
    };

    return names[outcome];
}

void landscape_free(struct landscape *landscape)
{
    if (!landscape)
        return;
    for (int t = 0; t < landscape->tunables_n; t++) {
        struct landscape_tunable *tunable = &landscape->tunables[t];

        for (int i = 0; i < tunable->n; i++)
            free(tunable->texts[i]);
        free(tunable->texts);
        free(tunable->numbers);
        free(tunable->name);
    }
    free(landscape->tunables);
    for (int i = 0; landscape->domain && i < domain_size(landscape->domain);
         i++)
        free(landscape->configs[i].reason);
    domain_free(landscape->domain);
    free(landscape->configs);
    free(landscape->samples);
    free(landscape->device);
    free(landscape->facts);
    free(landscape->kernel);
    free(landscape);
}

static int next(struct reader *reader, enum json_token *token)
{
    return json_stream_next(reader->stream, token, reader->err);
}

static const char *text_of(const struct reader *reader)
{
    return json_stream_text(reader->stream);
}

/* A value of a tunable as text, and as a number or NAN. */
static int scalar(const struct reader *reader, enum json_token token,
                  const char *name, double *number)
{
    *number = NAN;
    if (token == JSON_STREAM_NUMBER)
        *number = json_stream_number(reader->stream);
    else if (token != JSON_STREAM_TEXT && token != JSON_STREAM_WORD)
        return json_stream_flaw(reader->stream, reader->err,
                                "a value of '%s' is a list or an object; "
                                "numbers, texts, true and false are read",
                                name);
    return 0;
}

/* The level of a value, or -1.  Numbers are compared as such: 1 is 1.0. */
static int level_of(const struct landscape_tunable *tunable, const char *text,
                    double number)
{
    for (int i = 0; i < tunable->n; i++)
        if (isnan(number) ? isnan(tunable->numbers[i]) &&
                                strcmp(tunable->texts[i], text) == 0
                          : tunable->numbers[i] == number)
            return i;
    return -1;
}

/* Keep the numbers in order, texts behind. */
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

static int read_values(struct reader *reader, struct landscape_tunable *tunable)
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
        rc = scalar(reader, token, tunable->name, &number);
        if (rc < 0)
            return rc;
        if (level_of(tunable, text_of(reader), number) >= 0)
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

static int read_tunables(struct reader *reader)
{
    struct landscape *to = reader->to;
    struct domain_tunable shapes[DOMAIN_TUNABLES_MAX];
    enum json_token token;
    int rc = next(reader, &token);

    if (rc < 0)
        return rc;
    if (token != JSON_STREAM_OPEN_OBJECT || to->tunables)
        return json_stream_flaw(reader->stream, reader->err,
                                "\"tune_params\" is one object: a list of "
                                "values a tunable");
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

/* ---- one configuration of the cache */

struct entry {
    uint16_t levels[DOMAIN_TUNABLES_MAX];
    bool given[DOMAIN_TUNABLES_MAX];
    struct landscape_config config;
    bool has_time;
};

static int read_outcome(struct reader *reader, enum json_token token,
                        struct entry *entry)
{
    entry->has_time = true;
    if (token == JSON_STREAM_NUMBER) {
        double ms = json_stream_number(reader->stream);
        bool timed = ms < ERROR_TIME_MS; /* false for NaN */

        if (timed && ms <= 0)
            return json_stream_flaw(reader->stream, reader->err,
                                    "a time of %g ms; times are above 0", ms);
        entry->config.outcome = timed ? LANDSCAPE_TIMED : LANDSCAPE_RUNTIME;
        entry->config.time_s = timed ? ms * MS : 0;
        return 0;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (token == JSON_STREAM_TEXT &&
            strcmp(text_of(reader), words[i].text) == 0) {
            entry->config.outcome = words[i].outcome;
            return 0;
        }
    return json_stream_flaw(reader->stream, reader->err,
                            "\"time\" is neither milliseconds nor a known "
                            "failure such as \"CompilationFailedConfig\"");
}

/* NaN and Infinity are read as numbers. */
static bool is_duration(double ms)
{
    return isfinite(ms) && ms > 0;
}

static int read_samples(struct reader *reader, struct entry *entry)
{
    struct landscape *to = reader->to;
    enum json_token token;
    int rc;

    entry->config.sample_at = to->samples_n;
    while ((rc = next(reader, &token)) == 0 && token == JSON_STREAM_NUMBER) {
        if (!is_duration(json_stream_number(reader->stream)))
            continue; /* no time: it tells nothing */
        if (to->samples_n == SAMPLES_MAX ||
            entry->config.samples_n == CONFIG_SAMPLES_MAX)
            return json_stream_flaw(reader->stream, reader->err,
                                    "too many samples");
        if (to->samples_n == reader->samples_cap) {
            reader->samples_cap = 2 * reader->samples_cap + 4096;
            to->samples = mem_grow(to->samples, reader->samples_cap,
                                   sizeof(*to->samples));
        }
        to->samples[to->samples_n++] = json_stream_number(reader->stream) * MS;
        entry->config.samples_n++;
    }
    if (rc == 0 && token != JSON_STREAM_CLOSE_ARRAY && token != JSON_STREAM_END)
        return json_stream_flaw(reader->stream, reader->err,
                                "a sample in \"times\" is not a number");
    return rc;
}

static int read_level(struct reader *reader, enum json_token token, int t,
                      struct entry *entry)
{
    const struct landscape_tunable *tunable = &reader->to->tunables[t];
    double number;
    int rc = scalar(reader, token, tunable->name, &number), level;

    if (rc < 0)
        return rc;
    level = level_of(tunable, text_of(reader), number);
    if (level < 0)
        return json_stream_flaw(
            reader->stream, reader->err,
            "%s=%.40s is not among the values in \"tune_params\"",
            tunable->name, text_of(reader));
    entry->levels[t] = (uint16_t)level;
    entry->given[t] = true;
    return 0;
}

static double *duration_of(struct entry *entry, const char *key)
{
    return strcmp(key, "compile_time") == 0        ? &entry->config.compile_s
           : strcmp(key, "verification_time") == 0 ? &entry->config.verify_s
           : strcmp(key, "benchmark_time") == 0    ? &entry->config.bench_s
                                                   : NULL;
}

static int read_member(struct reader *reader, struct entry *entry)
{
    const struct landscape *to = reader->to;
    double *duration = duration_of(entry, text_of(reader));
    bool is_time = strcmp(text_of(reader), "time") == 0;
    bool is_samples = strcmp(text_of(reader), "times") == 0;
    enum json_token token;
    int t = 0, rc;

    while (t < to->tunables_n &&
           strcmp(to->tunables[t].name, text_of(reader)) != 0)
        t++;
    rc = next(reader, &token);
    if (rc < 0 || token == JSON_STREAM_END)
        return rc;
    if (t < to->tunables_n)
        return read_level(reader, token, t, entry);
    if (is_time)
        return read_outcome(reader, token, entry);
    if (is_samples && token == JSON_STREAM_OPEN_ARRAY)
        return read_samples(reader, entry);
    if (duration && token == JSON_STREAM_NUMBER &&
        is_duration(json_stream_number(reader->stream)))
        *duration = json_stream_number(reader->stream) * MS;
    return json_stream_skip(reader->stream, token, reader->err);
}

static int keep(struct reader *reader, const struct entry *entry)
{
    struct landscape *to = reader->to;
    int point;

    for (int t = 0; t < to->tunables_n; t++)
        if (!entry->given[t])
            return json_stream_flaw(reader->stream, reader->err,
                                    "a configuration without '%s'",
                                    to->tunables[t].name);
    if (!entry->has_time)
        return json_stream_flaw(reader->stream, reader->err,
                                "a configuration without \"time\"");
    if (domain_size(to->domain) == DOMAIN_POINTS_MAX)
        return json_stream_flaw(reader->stream, reader->err,
                                "more than %d configurations",
                                DOMAIN_POINTS_MAX);
    point = domain_add(to->domain, entry->levels);
    if (point < 0) {
        to->repeated++;
        return 0;
    }
    if (point == reader->configs_cap) {
        reader->configs_cap = 2 * reader->configs_cap + 1024;
        to->configs = mem_grow(to->configs, (size_t)reader->configs_cap,
                               sizeof(*to->configs));
    }
    to->configs[point] = entry->config;
    if (entry->config.outcome == LANDSCAPE_TIMED &&
        (to->best < 0 || entry->config.time_s < to->configs[to->best].time_s))
        to->best = point;
    return 0;
}

/* Up to the end of the cache, or of the file: an entry that is cut off is
 * not kept. */
static int read_cache(struct reader *reader)
{
    enum json_token token;
    int rc = next(reader, &token);

    if (rc < 0)
        return rc;
    if (token != JSON_STREAM_OPEN_OBJECT)
        return json_stream_flaw(reader->stream, reader->err,
                                "\"cache\" is an object, a configuration a "
                                "member");
    if (!reader->to->domain)
        return json_stream_flaw(reader->stream, reader->err,
                                "\"tune_params\" has to stand before "
                                "\"cache\"");
    reader->in_cache = true;
    while ((rc = next(reader, &token)) == 0 && token == JSON_STREAM_KEY) {
        struct entry entry = { .has_time = false };

        rc = next(reader, &token);
        if (rc == 0 && token != JSON_STREAM_OPEN_OBJECT &&
            token != JSON_STREAM_END)
            rc = json_stream_flaw(reader->stream, reader->err,
                                  "a configuration is an object");
        while (rc == 0 && (rc = next(reader, &token)) == 0 &&
               token == JSON_STREAM_KEY)
            rc = read_member(reader, &entry);
        if (rc == 0 && token == JSON_STREAM_CLOSE_OBJECT)
            rc = keep(reader, &entry);
        if (rc < 0)
            return rc;
    }
    return rc;
}

static int read_name(struct reader *reader, char **name)
{
    enum json_token token;
    int rc = next(reader, &token);

    if (rc < 0)
        return rc;
    if (token == JSON_STREAM_TEXT) {
        free(*name);
        *name = mem_strdup(text_of(reader));
    }
    return json_stream_skip(reader->stream, token, reader->err);
}

static int read_file(struct reader *reader)
{
    enum json_token token;
    int rc = next(reader, &token);

    if (rc < 0)
        return rc;
    if (token != JSON_STREAM_OPEN_OBJECT)
        return json_stream_flaw(reader->stream, reader->err,
                                "this is not a Kernel Tuner cache: it begins "
                                "with no '{'");
    while (rc == 0 && (rc = next(reader, &token)) == 0 &&
           token == JSON_STREAM_KEY) {
        const char *key = text_of(reader);

        if (strcmp(key, "tune_params") == 0)
            rc = read_tunables(reader);
        else if (strcmp(key, "cache") == 0)
            rc = read_cache(reader);
        else if (strcmp(key, "device_name") == 0)
            rc = read_name(reader, &reader->to->device);
        else if (strcmp(key, "kernel_name") == 0)
            rc = read_name(reader, &reader->to->kernel);
        else if ((rc = next(reader, &token)) == 0)
            rc = json_stream_skip(reader->stream, token, reader->err);
    }
    if (rc == 0 && token == JSON_STREAM_CLOSE_OBJECT)
        rc = next(reader, &token); /* nothing may follow */
    if (rc < 0)
        return rc;
    reader->to->unclosed = json_stream_depth(reader->stream) > 0;
    if (!reader->in_cache || domain_size(reader->to->domain) == 0)
        return json_stream_flaw(reader->stream, reader->err,
                                "no configurations: a Kernel Tuner cache has "
                                "them in \"cache\"");
    return 0;
}

int landscape_load(const char *path, struct landscape **out, struct err *err)
{
    struct reader reader = { .err = err };
    int rc = json_stream_open(path, &reader.stream, err);

    if (rc < 0)
        return rc;
    reader.to = mem_new(1, sizeof(*reader.to));
    reader.to->best = reader.to->baseline = -1;
    reader.to->device = mem_strdup("");
    reader.to->kernel = mem_strdup("");
    rc = read_file(&reader);
    json_stream_close(reader.stream);
    if (rc < 0)
        landscape_free(reader.to);
    else
        *out = reader.to;
    return rc;
}
