#include "coordinator/prune/prune_age.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"

#define YEARS_MOST 100

static const struct unit {
    const char *name;
    int64_t seconds;
} units[] = {
    { "w", 7 * 86400 }, { "d", 86400 }, { "h", 3600 },
    { "min", 60 },      { "s", 1 },
};

enum {
    N_UNITS = sizeof(units) / sizeof(units[0])
};

int prune_age_parse(const char *text, int64_t *out, struct err *err)
{
    size_t digits = strspn(text, "0123456789");
    const int64_t most = INT64_C(366) * 86400 * YEARS_MOST;

    for (size_t i = 0; digits > 0 && digits < 12 && i < N_UNITS; i++) {
        int64_t n = strtoll(text, NULL, 10);

        if (strcmp(text + digits, units[i].name) != 0 ||
            n > most / units[i].seconds)
            continue;
        *out = n * units[i].seconds;
        return 0;
    }
    return err_set(err, ERR_INPUT,
                   "--older '%.40s': write a number of s, min, h, d or w, such "
                   "as 7d",
                   text);
}

const char *prune_age_text(int64_t seconds, char out[PRUNE_AGE_BYTES])
{
    size_t i = 1; /* weeks are only read */

    while (i < N_UNITS - 1 && seconds < 2 * units[i].seconds)
        i++;
    snprintf(out, PRUNE_AGE_BYTES, "%" PRId64 " %s", seconds / units[i].seconds,
             units[i].name);
    return out;
}

const char *prune_age_size(int64_t bytes, char out[PRUNE_AGE_BYTES])
{
    static const char *const names[] = { "KiB", "MiB", "GiB", "TiB" };
    double scaled = (double)bytes / 1024;
    size_t i = 0;

    if (bytes < 1024) {
        snprintf(out, PRUNE_AGE_BYTES, "%" PRId64 " B", bytes);
        return out;
    }
    for (; scaled >= 1023.95 && i < 3; i++)
        scaled /= 1024;
    snprintf(out, PRUNE_AGE_BYTES, "%.1f %s", scaled, names[i]);
    return out;
}
