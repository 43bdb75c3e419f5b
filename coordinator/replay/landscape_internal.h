/* landscape_internal.h - reading a cache of Kernel Tuner; private to it */
#ifndef FA_COORDINATOR_REPLAY_LANDSCAPE_INTERNAL_H
#define FA_COORDINATOR_REPLAY_LANDSCAPE_INTERNAL_H

#include "coordinator/replay/landscape.h"
#include "coordinator/text/json_stream.h"

#define LANDSCAPE_NAME_MAX 200 /* shown of names and words of the file */
#define LANDSCAPE_KEY_MAX 60   /* of a configuration, in messages */

struct landscape_reader {
    struct json_stream *stream;
    struct landscape *to;
    size_t samples_cap;
    int configs_cap;
    bool in_cache;    /* the cache has begun: an early end means an unclosed
                       * file */
    bool passed;      /* it comes before the tunables: a second pass reads it */
    bool passed_over; /* this is the second pass */
    bool has_results; /* as a T4 file has */
    char key[LANDSCAPE_KEY_MAX + 1]; /* of the current configuration */
    struct err *err;
};

/* A value of a tunable as text, and as a number or NAN. */
int landscape_scalar(const struct landscape_reader *reader,
                     enum json_token token, const char *name, double *number);
/* The level of a value, or -1. Numbers are compared by value: 1 equals 1.0. */
int landscape_level(const struct landscape_tunable *tunable, const char *text,
                    double number);

/* After its key: read one configuration.  One that is cut off is dropped, and a
 * duplicate counts as repeated. */
int landscape_read_entry(struct landscape_reader *reader);

#endif
