#include "coordinator/stored/stored_samples.h"

#include <math.h>
#include <stdlib.h>

#include "common/int64.h"
#include "common/mem.h"
#include "common/msg_result.h"
#include "coordinator/stats/stats.h"
#include "coordinator/text/decimal.h"

double *stored_samples_read(const char *json, size_t *n)
{
    double *samples;
    int64_t commas = 0;
    size_t most;

    for (const char *c = json; *c; c++)
        commas += *c == ',';
    most = (size_t)int64_min(commas + 1, MSG_SAMPLES_MAX);
    samples = mem_new(most, sizeof(*samples));
    for (*n = 0; *json && *n < most;) {
        const char *end;
        double sample = decimal_real(json, &end);

        if (end > json)
            samples[(*n)++] = sample;
        json = end > json ? end : json + 1;
    }
    if (*n == 0) {
        free(samples);
        samples = NULL;
    }
    return samples;
}

double stored_samples_median(const char *json)
{
    struct summary times = { .median = NAN };
    size_t n;
    double *samples = stored_samples_read(json, &n);

    if (n > 0)
        stats_summary(samples, n, &times);
    free(samples);
    return times.median;
}
