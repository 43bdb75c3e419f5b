/* landscape_internal.h - reading files of other tuners; private to landscape*.c
 */
#ifndef FA_COORDINATOR_REPLAY_LANDSCAPE_INTERNAL_H
#define FA_COORDINATOR_REPLAY_LANDSCAPE_INTERNAL_H

#include <stdint.h>

#include "coordinator/replay/landscape.h"
#include "coordinator/model/domain.h"
#include "coordinator/text/json_stream.h"

#define LANDSCAPE_SIZES_MAX 16 /* of a problem */
#define LANDSCAPE_NAME_MAX 200 /* shown of names and words of the file */
#define LANDSCAPE_KEY_MAX 60   /* of a configuration, in messages */

struct landscape_reader {
    struct json_stream *stream;
    struct landscape *to;
    size_t samples_cap;
    int configs_cap;
    int unit;         /* exponent of the unit of times: -3 is milliseconds */
    bool has_unit;    /* the file states it */
    bool quoted;      /* a text that is a number is one, as a tunable's value */
    bool in_cache;    /* the cache has begun: an early end means an unclosed
                       * file */
    bool passed;      /* it comes before the tunables: a second pass reads it */
    bool passed_over; /* this is the second pass */
    bool has_results; /* it is a T4 file; the first pass finds its tunables */
    bool is_ktt;      /* it has results in the format of KTT */
    char key[LANDSCAPE_KEY_MAX + 1]; /* of the current configuration */
    struct err *err;
};

int landscape_next(struct landscape_reader *reader, enum json_token *token);
const char *landscape_text(const struct landscape_reader *reader);

/* A value of a tunable as text, and as a number or NAN. */
int landscape_scalar(const struct landscape_reader *reader,
                     enum json_token token, const char *name, double *number);
/* The level of a value, or -1. Numbers are compared by value: 1 equals 1.0. */
int landscape_level(const struct landscape_tunable *tunable, const char *text,
                    double number);
/* Take the current value, unless the tunable has it; and a new tunable. */
int landscape_add_value(struct landscape_reader *reader,
                        struct landscape_tunable *tunable,
                        enum json_token token);
int landscape_add_tunable(struct landscape_reader *reader,
                          struct landscape_tunable **out);
void landscape_make_domain(struct landscape *landscape);
/* Read a name of the file; 'name' is freed before. */
int landscape_read_name(struct landscape_reader *reader, char **name);
/* Read the sizes of the problem: numbers and texts, in a list or one alone.
 * Anything else is skipped. */
int landscape_read_problem(struct landscape_reader *reader);

/* ---- one configuration (landscape_entry.c) */

struct landscape_word; /* one that stands for an outcome */

struct landscape_entry {
    uint16_t levels[DOMAIN_TUNABLES_MAX];
    bool given[DOMAIN_TUNABLES_MAX];
    struct landscape_config config;
    enum {
        LANDSCAPE_NO_TIME,
        LANDSCAPE_NOT_MEASURED, /* it has an entry, but no time */
        LANDSCAPE_TIMED,
        LANDSCAPE_FAILED
    } time;
    const struct landscape_word *elsewhere; /* a failure that another member
                                             * reports */
    const struct landscape_word *exact;     /* what LANDSCAPE_OUTCOME says */
};

/* After its key: read one configuration.  One that is cut off is dropped, and a
 * duplicate counts as repeated. */
int landscape_read_entry(struct landscape_reader *reader);

/* Such files have few lines, so a message names the configuration. */
int landscape_entry_flaw(const struct landscape_reader *reader, const char *fmt,
                         ...) __attribute__((format(printf, 2, 3)));
/* A failure by its word; any other text is a failure at run time. */
int landscape_entry_failure(const struct landscape_reader *reader,
                            struct landscape_entry *entry);
/* A number above 0, in units of 10^unit seconds. */
int landscape_entry_time(const struct landscape_reader *reader,
                         const char *text, int unit,
                         struct landscape_entry *entry);
/* After '[': the samples. */
int landscape_entry_samples(struct landscape_reader *reader,
                            struct landscape_entry *entry);
/* A value of tunable 't'. */
int landscape_entry_level(struct landscape_reader *reader,
                          enum json_token token, int t,
                          struct landscape_entry *entry);
/* A duration, if it is one. */
void landscape_entry_duration(const struct landscape_reader *reader,
                              enum json_token token, double *seconds);
/* The time of a configuration, as Kernel Tuner and KTT write it: "2023-12-21
 * 10:44:42.236642+00:00".  Any other text is no time. */
void landscape_entry_utc(const struct landscape_reader *reader,
                         struct landscape_entry *entry);
void landscape_entry_reason(const struct landscape_reader *reader,
                            struct landscape_entry *entry);
int landscape_entry_keep(struct landscape_reader *reader,
                         struct landscape_entry *entry);

/* ---- T4 (landscape_t4.c) */

/* After the key "results": find the tunables and their values, or, once they
 * are known, read the configurations. */
int landscape_t4_results(struct landscape_reader *reader);
/* After the key "metadata". */
int landscape_t4_metadata(struct landscape_reader *reader);

#endif
