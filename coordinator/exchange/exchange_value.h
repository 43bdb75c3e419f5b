/* exchange_value.h - parts that Kernel Tuner's caches and T4 files share */
#ifndef FA_COORDINATOR_EXCHANGE_EXCHANGE_VALUE_H
#define FA_COORDINATOR_EXCHANGE_EXCHANGE_VALUE_H

#include <stdint.h>

struct buf;
struct json_out;
struct landscape;
struct landscape_config;
struct landscape_tunable;

/* A value of a tunable as Python's json module would write it. */
void exchange_value_json(const struct landscape_tunable *tunable, int level,
                         struct buf *out);
/* The same as Python's str() does: 64, 0.5, True, fast. */
void exchange_value_python(const struct landscape_tunable *tunable, int level,
                           struct buf *out);
/* One member for each tunable. */
void exchange_value_params(const struct landscape *landscape, int point,
                           struct json_out *out);

/* Seconds, as milliseconds. */
void exchange_value_ms(struct json_out *out, const char *key, double seconds);
/* The samples of a configuration, as a list of milliseconds. */
void exchange_value_samples(const struct landscape *landscape,
                            const struct landscape_config *config,
                            const char *key, struct json_out *out);
/* The mean of its samples, or the recorded time without samples. */
double exchange_value_time(const struct landscape *landscape,
                           const struct landscape_config *config);
/* An instant as Python's datetime.fromisoformat() reads it, also that of old
 * versions; 0 is the beginning of 1970. */
void exchange_value_utc(struct json_out *out, const char *key, int64_t utc_ns);

/* The i-th configuration to write, from 0: the baseline, then the others in
 * their order. */
int exchange_value_point(const struct landscape *landscape, int i);

#endif
