#include "coordinator/samples.h"

#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "common/msg.h"
#include "common/stats.h"

double *samples_read(const char *json, size_t *n)
{
    double *samples = NULL;

    for (*n = 0; *json && *n < MSG_SAMPLES_MAX;) {
        char *end;
        double sample = strtod(json, &end);

        if (end == json) {
            json++;
            continue;
        }
        json = end;
        samples = mem_grow(samples, *n + 1, sizeof(*samples));
        samples[(*n)++] = sample;
    }
    return samples;
}

double samples_median(const char *json)
{
    struct summary times = { .median = NAN };
    size_t n;
    double *samples = samples_read(json, &n);

    if (n > 0)
        stats_summary(samples, n, &times);
    free(samples);
    return times.median;
}
