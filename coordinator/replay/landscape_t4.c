/* Reads T4 files, the results format of the auto-tuning community.
 *
 * Source: the T4 results schema 1.0.0 of github.com/odgaard/TuningSchema, and
 * what Kernel Tuner, KTT and the benchmark hub write.  They differ in the name
 * of the compile time, in the unit of times, and in quotes around numbers. */
#include "coordinator/replay/landscape_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/replay/numeral.h"

#define NO_UNIT 1 /* not the exponent of any unit */

static const struct {
    const char *name;
    int exponent; /* the unit is 10^exponent seconds */
} units[] = {
    { "s", 0 },           { "sec", 0 },          { "second", 0 },
    { "ms", -3 },         { "msec", -3 },        { "millisecond", -3 },
    { "milisecond", -3 }, /* as the benchmark hub spells it */
    { "us", -6 },         { "\xc2\xb5s", -6 }, /* micro sign */
    { "\xce\xbcs", -6 },                       /* mu */
    { "usec", -6 },       { "microsecond", -6 }, { "ns", -9 },
    { "nsec", -9 },       { "nanosecond", -9 },
};

static int unit_of(const char *text)
{
    size_t len = strlen(text);

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t n = strlen(units[i].name);

        if (strncasecmp(text, units[i].name, n) == 0 &&
            (len == n || (n > 2 && strcasecmp(text + n, "s") == 0)))
            return units[i].exponent;
    }
    return NO_UNIT;
}

static bool is_key(const struct landscape_reader *reader, const char *name)
{
    return strcmp(landscape_text(reader), name) == 0;
}

/* ---- the values of the tunables */

static struct landscape_tunable *find(const struct landscape_reader *reader)
{
    for (int t = 0; t < reader->to->tunables_n; t++)
        if (is_key(reader, reader->to->tunables[t].name))
            return &reader->to->tunables[t];
    return NULL;
}

static int scan_configuration(struct landscape_reader *reader)
{
    struct landscape_tunable *tunable;
    enum json_token token;
    int rc = landscape_next(reader, &token);

    if (rc == 0 && token != JSON_STREAM_OPEN_OBJECT && token != JSON_STREAM_END)
        return landscape_entry_flaw(reader,
                                    "\"configuration\" is not an object");
    while (rc == 0 && (rc = landscape_next(reader, &token)) == 0 &&
           token == JSON_STREAM_KEY) {
        tunable = find(reader);
        if (!tunable)
            rc = landscape_add_tunable(reader, &tunable);
        if (rc == 0)
            rc = landscape_next(reader, &token);
        if (rc == 0 && token != JSON_STREAM_END)
            rc = landscape_add_value(reader, tunable, token);
    }
    return rc;
}

static int scan_result(struct landscape_reader *reader)
{
    enum json_token token;
    bool found = false;
    int rc = 0;

    while (rc == 0 && (rc = landscape_next(reader, &token)) == 0 &&
           token == JSON_STREAM_KEY) {
        if (is_key(reader, "configuration")) {
            found = true;
            rc = scan_configuration(reader);
            continue;
        }
        rc = landscape_next(reader, &token);
        if (rc == 0)
            rc = json_stream_skip(reader->stream, token, reader->err);
    }
    if (rc == 0 && token == JSON_STREAM_CLOSE_OBJECT && !found)
        return landscape_entry_flaw(reader, "it has no \"configuration\", "
                                            "so this is not a T4 file");
    return rc;
}

/* ---- one result */

struct result {
    struct landscape_entry entry;
    struct landscape_entry failed; /* what "invalidity" says */
    bool wrong;                    /* "correctness" is 0 */
    char *refused;                 /* a time that cannot be read, or NULL */
    double time;                   /* of the measurement that states a unit */
    int unit;                      /* its unit, or NO_UNIT */
};

static int read_configuration(struct landscape_reader *reader,
                              struct landscape_entry *entry)
{
    enum json_token token;
    int rc = landscape_next(reader, &token);

    while (rc == 0 && (rc = landscape_next(reader, &token)) == 0 &&
           token == JSON_STREAM_KEY) {
        const struct landscape_tunable *tunable = find(reader);
        int t = tunable ? (int)(tunable - reader->to->tunables) : -1;

        rc = landscape_next(reader, &token);
        if (rc == 0 && token != JSON_STREAM_END && !tunable)
            return landscape_entry_flaw(reader, "the file has changed while "
                                                "it was read");
        if (rc == 0 && token != JSON_STREAM_END)
            rc = landscape_entry_level(reader, token, t, entry);
    }
    return rc;
}

static double *duration_of(const struct landscape_reader *reader,
                           struct landscape_config *config)
{
    struct {
        const char *name;
        double *seconds;
    } names[] = {
        { "compilation", &config->compile_s },
        { "compilation_time", &config->compile_s },
        { "compile", &config->compile_s },
        { "compile_time", &config->compile_s },
        { "validation", &config->verify_s },
        { "validation_time", &config->verify_s },
        { "verification_time", &config->verify_s },
        { "benchmark", &config->bench_s },
        { "benchmark_time", &config->bench_s },
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (is_key(reader, names[i].name))
            return names[i].seconds;
    return NULL;
}

static int read_times(struct landscape_reader *reader,
                      struct landscape_entry *entry)
{
    enum json_token token;
    int rc = landscape_next(reader, &token);

    if (rc == 0 && token != JSON_STREAM_OPEN_OBJECT)
        return json_stream_skip(reader->stream, token, reader->err);
    while (rc == 0 && (rc = landscape_next(reader, &token)) == 0 &&
           token == JSON_STREAM_KEY) {
        double *duration = duration_of(reader, &entry->config);
        bool samples = is_key(reader, "runtimes");

        rc = landscape_next(reader, &token);
        if (rc == 0 && samples && token == JSON_STREAM_OPEN_ARRAY) {
            rc = landscape_entry_samples(reader, entry);
            continue;
        }
        if (rc == 0 && duration)
            landscape_entry_duration(reader, token, duration);
        if (rc == 0)
            rc = json_stream_skip(reader->stream, token, reader->err);
    }
    return rc;
}

/* One of the measurements.  Its value counts if it is the time: by its name, or
 * by its unit as long as none has that name. */
struct measurement {
    bool named;    /* it is "time" */
    char *value;   /* NULL: not a number */
    int unit;      /* or NO_UNIT */
    bool has_unit; /* one is stated */
};

static int read_measurement_member(struct landscape_reader *reader,
                                   struct measurement *m)
{
    bool name = is_key(reader, "name"), value = is_key(reader, "value");
    bool unit = is_key(reader, "unit");
    enum json_token token;
    int rc = landscape_next(reader, &token);

    if (rc < 0)
        return rc;
    if (name && token == JSON_STREAM_TEXT)
        m->named = strcasecmp(landscape_text(reader), "time") == 0;
    if (unit && token == JSON_STREAM_TEXT && *landscape_text(reader)) {
        m->unit = unit_of(landscape_text(reader));
        m->has_unit = true;
    }
    if (value &&
        (token == JSON_STREAM_NUMBER ||
         (token == JSON_STREAM_TEXT && numeral_is(landscape_text(reader))))) {
        free(m->value);
        m->value = mem_strdup(landscape_text(reader));
    }
    return json_stream_skip(reader->stream, token, reader->err);
}

/* A failure may be recorded with the time 0. */
static int take_measurement(const struct landscape_reader *reader,
                            const struct measurement *m, struct result *result,
                            bool *by_name)
{
    int unit = m->has_unit ? m->unit : reader->unit;

    if (!m->value || *by_name || unit == NO_UNIT ||
        !(m->named || (m->has_unit && result->entry.time == LANDSCAPE_NO_TIME)))
        return 0;
    *by_name = m->named;
    result->time = strtod(m->value, NULL);
    result->unit = m->has_unit ? unit : NO_UNIT;
    free(result->refused);
    result->refused = result->time <= 0 ? mem_strdup(m->value) : NULL;
    return result->refused
               ? 0
               : landscape_entry_time(reader, m->value, unit, &result->entry);
}

static int read_measurements(struct landscape_reader *reader,
                             struct result *result)
{
    enum json_token token;
    bool by_name = false;
    int rc = landscape_next(reader, &token);

    if (rc == 0 && token != JSON_STREAM_OPEN_ARRAY)
        return json_stream_skip(reader->stream, token, reader->err);
    while (rc == 0 && (rc = landscape_next(reader, &token)) == 0 &&
           token == JSON_STREAM_OPEN_OBJECT) {
        struct measurement m = { .unit = NO_UNIT };

        while (rc == 0 && (rc = landscape_next(reader, &token)) == 0 &&
               token == JSON_STREAM_KEY)
            rc = read_measurement_member(reader, &m);
        if (rc == 0 && token == JSON_STREAM_CLOSE_OBJECT)
            rc = take_measurement(reader, &m, result, &by_name);
        free(m.value);
    }
    if (rc == 0 && token != JSON_STREAM_CLOSE_ARRAY && token != JSON_STREAM_END)
        return landscape_entry_flaw(reader, "a measurement is not an object");
    return rc;
}

/* The word that says how it ended; 'failed' is set if it is a failure. */
static int read_invalidity(struct landscape_reader *reader,
                           struct landscape_entry *failed)
{
    static const char *const valid[] = { "correct", "valid", "none", "" };
    enum json_token token;
    int rc = landscape_next(reader, &token);

    if (rc < 0 || token != JSON_STREAM_TEXT)
        return rc < 0 ? rc
                      : json_stream_skip(reader->stream, token, reader->err);
    for (size_t i = 0; i < sizeof(valid) / sizeof(valid[0]); i++)
        if (strcasecmp(landscape_text(reader), valid[i]) == 0)
            return 0;
    return landscape_entry_failure(reader, failed);
}

/* 1: correct, 0: not. */
static int read_correctness(struct landscape_reader *reader, bool *wrong)
{
    enum json_token token;
    int rc = landscape_next(reader, &token);

    if (rc < 0)
        return rc;
    *wrong =
        token == JSON_STREAM_NUMBER && json_stream_number(reader->stream) == 0;
    return json_stream_skip(reader->stream, token, reader->err);
}

static int read_member(struct landscape_reader *reader, struct result *result)
{
    bool reason = is_key(reader, LANDSCAPE_REASON);
    bool utc = is_key(reader, "timestamp");
    enum json_token token;
    int rc;

    if (is_key(reader, "configuration"))
        return read_configuration(reader, &result->entry);
    if (is_key(reader, "times"))
        return read_times(reader, &result->entry);
    if (is_key(reader, "measurements"))
        return read_measurements(reader, result);
    if (is_key(reader, "invalidity"))
        return read_invalidity(reader, &result->failed);
    if (is_key(reader, "correctness"))
        return read_correctness(reader, &result->wrong);
    rc = landscape_next(reader, &token);
    if (rc == 0 && utc && token == JSON_STREAM_TEXT)
        landscape_entry_utc(reader, &result->entry);
    else if (rc == 0 && reason && token == JSON_STREAM_TEXT)
        landscape_entry_reason(reader, &result->failed);
    return rc < 0 ? rc : json_stream_skip(reader->stream, token, reader->err);
}

/* The failure counts whatever was measured before it. */
static void take_failure(struct result *result)
{
    struct landscape_entry *entry = &result->entry, *failed = &result->failed;

    if (failed->time == LANDSCAPE_FAILED) {
        entry->time = LANDSCAPE_FAILED;
        entry->config.outcome = failed->config.outcome;
        entry->config.reason = failed->config.reason;
        failed->config.reason = NULL;
    } else if (result->wrong) {
        entry->time = LANDSCAPE_FAILED;
        entry->config.outcome = OUTCOME_CORRECTNESS;
        free(entry->config.reason);
        entry->config.reason = mem_strdup("recorded with \"correctness\" 0");
    }
}

static bool about(double a, double b)
{
    return a < 2 * b && b < 2 * a;
}

/* A file without "timeunit" may have all times in the unit that only the
 * measurement states: its number is that of the runtimes then. */
static void take_stated_unit(struct landscape_reader *reader,
                             struct result *result)
{
    struct landscape_config *config = &result->entry.config;
    double *samples, sum = 0, factor;

    if (reader->has_unit || result->unit == NO_UNIT ||
        result->unit == reader->unit || config->samples_n == 0)
        return;
    samples = &reader->to->samples[config->sample_at];
    for (int i = 0; i < config->samples_n; i++)
        sum += samples[i];
    factor = pow(10, result->unit - reader->unit);
    if (!about(sum / config->samples_n * factor, config->time_s))
        return;
    for (int i = 0; i < config->samples_n; i++)
        samples[i] *= factor;
    config->compile_s *= factor;
    config->verify_s *= factor;
    config->bench_s *= factor;
    reader->unit = result->unit; /* of the results that follow */
    reader->has_unit = true;
}

static int keep(struct landscape_reader *reader, struct result *result)
{
    struct landscape_entry *entry = &result->entry;

    take_failure(result);
    if (entry->time != LANDSCAPE_FAILED && result->refused)
        return landscape_entry_time(reader, result->refused, reader->unit,
                                    entry);
    if (entry->time == LANDSCAPE_NO_TIME && entry->config.samples_n == 0)
        return landscape_entry_flaw(
            reader, "it is valid and has no time, neither \"runtimes\" in "
                    "\"times\" nor a measurement \"time\"; a file that was "
                    "tuned for another objective cannot be read");
    if (entry->time == LANDSCAPE_TIMED)
        take_stated_unit(reader, result);
    return landscape_entry_keep(reader, entry);
}

static int read_result(struct landscape_reader *reader)
{
    struct result result = { .entry = { .time = LANDSCAPE_NO_TIME },
                             .failed = { .time = LANDSCAPE_NO_TIME },
                             .unit = NO_UNIT };
    enum json_token token;
    int rc = 0;

    while (rc == 0 && (rc = landscape_next(reader, &token)) == 0 &&
           token == JSON_STREAM_KEY)
        rc = read_member(reader, &result);
    if (rc == 0 && token == JSON_STREAM_CLOSE_OBJECT)
        rc = keep(reader, &result);
    free(result.entry.config.reason);
    free(result.failed.config.reason);
    free(result.refused);
    return rc;
}

/* ---- all results */

static int each_result(struct landscape_reader *reader,
                       int (*read)(struct landscape_reader *reader))
{
    enum json_token token = JSON_STREAM_END;
    int rc = 0;

    for (long i = 0; rc == 0; i++) {
        rc = landscape_next(reader, &token);
        if (rc < 0 || token == JSON_STREAM_CLOSE_ARRAY ||
            token == JSON_STREAM_END)
            return rc;
        snprintf(reader->key, sizeof(reader->key), "results[%ld]", i);
        if (token != JSON_STREAM_OPEN_OBJECT)
            return landscape_entry_flaw(reader, "a result must be an object");
        rc = read(reader);
    }
    return rc;
}

/* The file may end between the name of a new tunable and its value. */
static void drop_without_values(struct landscape *to)
{
    while (to->tunables_n > 0 && to->tunables[to->tunables_n - 1].n == 0)
        free(to->tunables[--to->tunables_n].name);
}

int landscape_t4_results(struct landscape_reader *reader)
{
    struct landscape *to = reader->to;
    enum json_token token;
    int rc = landscape_next(reader, &token);

    if (rc < 0)
        return rc;
    if (token != JSON_STREAM_OPEN_ARRAY)
        return json_stream_flaw(reader->stream, reader->err,
                                "\"results\" must be a list with an object "
                                "for each configuration");
    if (reader->passed_over && reader->has_results) {
        reader->in_cache = true;
        return each_result(reader, read_result);
    }
    if (to->domain) /* it has a cache, too */
        return json_stream_skip(reader->stream, token, reader->err);
    reader->has_results = true;
    rc = each_result(reader, scan_result);
    drop_without_values(to);
    if (rc == 0 && to->tunables_n > 0)
        landscape_make_domain(to);
    return rc;
}

static int read_unit(struct landscape_reader *reader)
{
    enum json_token token;
    int rc = landscape_next(reader, &token);

    if (rc < 0 || token != JSON_STREAM_TEXT)
        return rc < 0 ? rc
                      : json_stream_skip(reader->stream, token, reader->err);
    reader->unit = unit_of(landscape_text(reader));
    reader->has_unit = true;
    if (reader->unit == NO_UNIT)
        return json_stream_flaw(reader->stream, reader->err,
                                "the time unit '%.40s' is not known; use "
                                "seconds, milliseconds, microseconds or "
                                "nanoseconds",
                                landscape_text(reader));
    return 0;
}

/* KTT writes all values of tunables as texts. */
static int read_tuner(struct landscape_reader *reader)
{
    enum json_token token;
    int rc = landscape_next(reader, &token);

    if (rc < 0)
        return rc;
    reader->quoted = token == JSON_STREAM_TEXT &&
                     strcasecmp(landscape_text(reader), "KTT") == 0;
    return json_stream_skip(reader->stream, token, reader->err);
}

static int read_metadata_member(struct landscape_reader *reader)
{
    enum json_token token;
    int rc;

    if (is_key(reader, "timeunit") || is_key(reader, "time_unit"))
        return read_unit(reader);
    if (is_key(reader, "device") || is_key(reader, "device_name"))
        return landscape_read_name(reader, &reader->to->device);
    if (is_key(reader, "kernel_name"))
        return landscape_read_name(reader, &reader->to->kernel);
    if (is_key(reader, "autotuner"))
        return read_tuner(reader);
    rc = landscape_next(reader, &token);
    return rc < 0 ? rc : json_stream_skip(reader->stream, token, reader->err);
}

int landscape_t4_metadata(struct landscape_reader *reader)
{
    enum json_token token;
    int rc = landscape_next(reader, &token);

    if (rc < 0 || token != JSON_STREAM_OPEN_OBJECT)
        return rc < 0 ? rc
                      : json_stream_skip(reader->stream, token, reader->err);
    while (rc == 0 && (rc = landscape_next(reader, &token)) == 0 &&
           token == JSON_STREAM_KEY)
        rc = read_metadata_member(reader);
    return rc;
}
