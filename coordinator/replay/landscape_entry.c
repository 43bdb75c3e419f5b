/* Reads one configuration of a Kernel Tuner cache. */
#include "coordinator/replay/landscape_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/replay/numeral.h"
#include "coordinator/model/domain.h"
#include "coordinator/text/terminal.h"

#define SAMPLES_MAX (1 << 27) /* of all configurations: 1 GiB */
#define CONFIG_SAMPLES_MAX 65536

#define YEAR_LEAST 1971 /* nanoseconds of it have 64 bits, and are above 0 */
#define YEAR_MOST 2261

#define ERROR_TIME 1e20 /* old versions record this for a failure */

static const struct landscape_word {
    const char *text;
    enum outcome outcome;
} words[] = {
    { "InvalidConfig", OUTCOME_CONSTRAINTS },
    { "CompilationFailedConfig", OUTCOME_COMPILE },
    { "RuntimeFailedConfig", OUTCOME_RUNTIME },
    { "constraints", OUTCOME_CONSTRAINTS },
    { "compile", OUTCOME_COMPILE },
    { "runtime", OUTCOME_RUNTIME },
    { "correctness", OUTCOME_CORRECTNESS },
    { "timeout", OUTCOME_TIMEOUT },
    { "TimeoutConfig", OUTCOME_TIMEOUT },
    { "TimeoutFailedConfig", OUTCOME_TIMEOUT },
    { "CorrectnessFailedConfig", OUTCOME_CORRECTNESS },
};

/* The current number, in seconds. */
static double seconds_of(const struct landscape_reader *reader)
{
    return numeral_real(landscape_text(reader), reader->unit);
}

int landscape_entry_flaw(const struct landscape_reader *reader, const char *fmt,
                         ...)
{
    char what[300];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    return json_stream_flaw(reader->stream, reader->err,
                            "configuration \"%s\": %s", reader->key, what);
}

static const struct landscape_word *word_of(const char *text)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasecmp(text, words[i].text) == 0)
            return &words[i];
    return NULL;
}

static bool is_number(const char *text)
{
    char *end;

    (void)strtod(text, &end);
    return end != text && *end == '\0';
}

int landscape_entry_failure(const struct landscape_reader *reader,
                            struct landscape_entry *entry)
{
    const struct landscape_word *word = word_of(landscape_text(reader));

    if (!word &&
        (!*landscape_text(reader) || is_number(landscape_text(reader))))
        return landscape_entry_flaw(
            reader,
            "\"time\" is the text \"%.40s\"; it must be milliseconds, or a "
            "failure such as \"CompilationFailedConfig\"",
            landscape_text(reader));
    entry->time = LANDSCAPE_FAILED;
    entry->config.outcome = word ? word->outcome : OUTCOME_RUNTIME;
    if (!word) {
        free(entry->config.reason);
        entry->config.reason =
            terminal_clean(mem_printf("recorded as '%.*s'", LANDSCAPE_NAME_MAX,
                                      landscape_text(reader)),
                           false);
    }
    return 0;
}

int landscape_entry_time(const struct landscape_reader *reader,
                         const char *text, int unit,
                         struct landscape_entry *entry)
{
    double time = strtod(text, NULL);

    if (time <= 0)
        return landscape_entry_flaw(reader,
                                    "the time is %g%s; it must be above 0",
                                    time, unit == -3 ? " ms" : "");
    if (time < ERROR_TIME) {
        entry->time = LANDSCAPE_TIMED;
        entry->config.time_s = numeral_real(text, unit);
    } else { /* or NaN */
        entry->time = LANDSCAPE_FAILED;
        entry->config.outcome = OUTCOME_RUNTIME;
    }
    return 0;
}

/* NaN and Infinity are read as numbers. */
static bool is_duration(double ms)
{
    return isfinite(ms) && ms > 0;
}

int landscape_entry_samples(struct landscape_reader *reader,
                            struct landscape_entry *entry)
{
    struct landscape *to = reader->to;
    enum json_token token;
    int rc;

    entry->config.sample_at = to->samples_n;
    entry->config.samples_n = 0;
    while ((rc = landscape_next(reader, &token)) == 0 &&
           (token == JSON_STREAM_NUMBER || token == JSON_STREAM_WORD)) {
        if (token == JSON_STREAM_WORD ||
            !is_duration(json_stream_number(reader->stream)))
            continue; /* not a time: ignored */
        if (to->samples_n == SAMPLES_MAX ||
            entry->config.samples_n == CONFIG_SAMPLES_MAX)
            return landscape_entry_flaw(reader, "too many samples");
        if (to->samples_n == reader->samples_cap) {
            reader->samples_cap = 2 * reader->samples_cap + 4096;
            to->samples = mem_grow(to->samples, reader->samples_cap,
                                   sizeof(*to->samples));
        }
        to->samples[to->samples_n++] = seconds_of(reader);
        entry->config.samples_n++;
    }
    if (rc == 0 && token != JSON_STREAM_CLOSE_ARRAY && token != JSON_STREAM_END)
        return landscape_entry_flaw(reader,
                                    "a sample in \"times\" is not a number");
    return rc;
}

/* A failure as an object, such as {"__error__": "InvalidConfig"}: one of its
 * texts is the word. */
static int read_failure(struct landscape_reader *reader,
                        struct landscape_entry *entry)
{
    bool known = false;
    enum json_token token;
    int rc;

    while ((rc = landscape_next(reader, &token)) == 0 &&
           token == JSON_STREAM_KEY) {
        rc = landscape_next(reader, &token);
        if (rc == 0 && token == JSON_STREAM_TEXT && !known) {
            known = word_of(landscape_text(reader)) != NULL;
            free(entry->config.reason);
            entry->config.reason = NULL;
            rc = landscape_entry_failure(reader, entry);
        }
        if (rc == 0)
            rc = json_stream_skip(reader->stream, token, reader->err);
        if (rc < 0)
            return rc;
    }
    if (rc == 0 && token == JSON_STREAM_CLOSE_OBJECT &&
        entry->time != LANDSCAPE_FAILED)
        return landscape_entry_flaw(reader,
                                    "\"time\" is an object without a text, so "
                                    "it names no failure");
    return rc;
}

static int read_outcome(struct landscape_reader *reader, enum json_token token,
                        struct landscape_entry *entry)
{
    if (token == JSON_STREAM_NUMBER)
        return landscape_entry_time(reader, landscape_text(reader),
                                    reader->unit, entry);
    if (token == JSON_STREAM_TEXT)
        return landscape_entry_failure(reader, entry);
    if (token == JSON_STREAM_OPEN_ARRAY)
        return landscape_entry_samples(reader, entry);
    if (token == JSON_STREAM_OPEN_OBJECT)
        return read_failure(reader, entry);
    if (token != JSON_STREAM_WORD ||
        strcmp(landscape_text(reader), "null") != 0)
        return landscape_entry_flaw(reader,
                                    "\"time\" is neither milliseconds nor a "
                                    "failure such as "
                                    "\"CompilationFailedConfig\"");
    entry->time = LANDSCAPE_NOT_MEASURED;
    return 0;
}

int landscape_entry_level(struct landscape_reader *reader,
                          enum json_token token, int t,
                          struct landscape_entry *entry)
{
    const struct landscape_tunable *tunable = &reader->to->tunables[t];
    double number;
    int rc = landscape_scalar(reader, token, tunable->name, &number), level;

    if (rc < 0)
        return rc;
    level = landscape_level(tunable, landscape_text(reader), number);
    if (level < 0)
        return landscape_entry_flaw(
            reader, "%s=%.40s is not among the values in \"tune_params\"",
            tunable->name, landscape_text(reader));
    entry->levels[t] = (uint16_t)level;
    entry->given[t] = true;
    return 0;
}

static double *duration_of(struct landscape_entry *entry, const char *key)
{
    return strcmp(key, "compile_time") == 0        ? &entry->config.compile_s
           : strcmp(key, "verification_time") == 0 ? &entry->config.verify_s
           : strcmp(key, "benchmark_time") == 0    ? &entry->config.bench_s
                                                   : NULL;
}

void landscape_entry_duration(const struct landscape_reader *reader,
                              enum json_token token, double *seconds)
{
    if (token == JSON_STREAM_NUMBER &&
        is_duration(json_stream_number(reader->stream)))
        *seconds = seconds_of(reader);
}

/* "+01:30" in seconds; "", "Z" and " UTC" are 0.  False: none of them. */
static bool read_zone(const char *text, int *seconds)
{
    int hours, minutes, end = 0;

    *seconds = 0;
    if (strcmp(text, "") == 0 || strcmp(text, "Z") == 0 ||
        strcmp(text, " UTC") == 0)
        return true;
    if (strspn(text, "+-") != 1 ||
        sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &end) != 2 ||
        text[1 + end])
        return false;
    *seconds = (*text == '-' ? -1 : 1) * (hours * 60 + minutes) * 60;
    return true;
}

static bool is_date(const struct tm *tm)
{
    return tm->tm_year >= YEAR_LEAST && tm->tm_year <= YEAR_MOST &&
           tm->tm_mon >= 1 && tm->tm_mon <= 12 && tm->tm_mday >= 1 &&
           tm->tm_mday <= 31 && tm->tm_hour < 24 && tm->tm_min < 60 &&
           tm->tm_sec <= 60;
}

void landscape_entry_utc(const struct landscape_reader *reader,
                         struct landscape_entry *entry)
{
    const char *text = landscape_text(reader);
    struct tm tm = { .tm_mday = 0 };
    int64_t fraction = 0, unit = NS_PER_S;
    int end = 0, zone;

    if (sscanf(text, "%4d-%2d-%2d%*1[ T]%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon,
               &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &end) != 6)
        return;
    text += end;
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++) {
            unit /= 10;
            fraction += unit * (*text - '0');
        }
    if (!read_zone(text, &zone) || !is_date(&tm))
        return;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    entry->config.recorded_utc =
        ((int64_t)timegm(&tm) - zone) * NS_PER_S + fraction;
}

void landscape_entry_reason(const struct landscape_reader *reader,
                            struct landscape_entry *entry)
{
    free(entry->config.reason);
    entry->config.reason =
        terminal_clean(mem_strdup(landscape_text(reader)), false);
}

static int read_member(struct landscape_reader *reader,
                       struct landscape_entry *entry)
{
    const struct landscape *to = reader->to;
    double *duration = duration_of(entry, landscape_text(reader));
    bool is_time = strcmp(landscape_text(reader), "time") == 0;
    bool is_samples = strcmp(landscape_text(reader), "times") == 0;
    bool is_outcome = strcmp(landscape_text(reader), LANDSCAPE_OUTCOME) == 0;
    bool is_reason = strcmp(landscape_text(reader), LANDSCAPE_REASON) == 0;
    bool is_utc = strcmp(landscape_text(reader), "timestamp") == 0;
    enum json_token token;
    int t = 0, rc;

    while (t < to->tunables_n &&
           strcmp(to->tunables[t].name, landscape_text(reader)) != 0)
        t++;
    rc = landscape_next(reader, &token);
    if (rc < 0 || token == JSON_STREAM_END)
        return rc;
    if (t < to->tunables_n)
        return landscape_entry_level(reader, token, t, entry);
    if (is_time)
        return read_outcome(reader, token, entry);
    if (is_samples && token == JSON_STREAM_OPEN_ARRAY)
        return landscape_entry_samples(reader, entry);
    if (duration)
        landscape_entry_duration(reader, token, duration);
    if (token == JSON_STREAM_TEXT && is_utc)
        landscape_entry_utc(reader, entry);
    else if (token == JSON_STREAM_TEXT && is_outcome)
        entry->exact = word_of(landscape_text(reader));
    else if (token == JSON_STREAM_TEXT && is_reason)
        landscape_entry_reason(reader, entry);
    else if (token == JSON_STREAM_TEXT && !entry->elsewhere)
        entry->elsewhere = word_of(landscape_text(reader));
    return json_stream_skip(reader->stream, token, reader->err);
}

/* The outcome of the entry.  If the tuning objective was not time, the
 * objective's member has the failure.  Without a mean, the time comes from the
 * samples. */
static int conclude(struct landscape_reader *reader,
                    struct landscape_entry *entry)
{
    struct landscape_config *config = &entry->config;
    double sum = 0;

    if (entry->time == LANDSCAPE_FAILED && entry->exact)
        config->outcome = entry->exact->outcome;
    if (entry->time == LANDSCAPE_TIMED || entry->time == LANDSCAPE_FAILED)
        return 0;
    if (entry->elsewhere) {
        config->outcome = entry->elsewhere->outcome;
    } else if (config->samples_n > 0) {
        for (int i = 0; i < config->samples_n; i++)
            sum += reader->to->samples[config->sample_at + (size_t)i];
        config->time_s = sum / config->samples_n;
    } else if (entry->time == LANDSCAPE_NOT_MEASURED) {
        config->outcome = OUTCOME_RUNTIME;
        config->reason = mem_strdup("recorded without a time");
    } else {
        return landscape_entry_flaw(
            reader, "it has no \"time\"; a file that was tuned for another "
                    "objective cannot be read");
    }
    return 0;
}

int landscape_entry_keep(struct landscape_reader *reader,
                         struct landscape_entry *entry)
{
    struct landscape *to = reader->to;
    int point, rc;

    for (int t = 0; t < to->tunables_n; t++)
        if (!entry->given[t])
            return landscape_entry_flaw(reader, "it has no '%s'",
                                        to->tunables[t].name);
    rc = conclude(reader, entry);
    if (rc < 0)
        return rc;
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
    entry->config.reason = NULL;
    if (entry->config.outcome == OUTCOME_CORRECT &&
        (to->best < 0 || entry->config.time_s < to->configs[to->best].time_s))
        to->best = point;
    return 0;
}

int landscape_read_entry(struct landscape_reader *reader)
{
    struct landscape_entry entry = { .time = LANDSCAPE_NO_TIME };
    enum json_token token;
    int rc;

    snprintf(reader->key, sizeof(reader->key), "%s", landscape_text(reader));
    terminal_clean(reader->key, false);
    rc = landscape_next(reader, &token);
    if (rc == 0 && token != JSON_STREAM_OPEN_OBJECT && token != JSON_STREAM_END)
        rc = landscape_entry_flaw(reader, "a configuration must be an object");
    while (rc == 0 && (rc = landscape_next(reader, &token)) == 0 &&
           token == JSON_STREAM_KEY)
        rc = read_member(reader, &entry);
    if (rc == 0 && token == JSON_STREAM_CLOSE_OBJECT)
        rc = landscape_entry_keep(reader, &entry);
    free(entry.config.reason);
    return rc;
}
