#include "coordinator/live/live_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "coordinator/estimate/estimate.h"

#define ROUNDING 1e-6

const char *live_text_time(double seconds, char out[LIVE_TEXT_BYTES])
{
    const char *unit = seconds < 1e-3 ? "us" : seconds < 1 ? "ms" : "s";
    double scale = seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1;

    snprintf(out, LIVE_TEXT_BYTES, "%.3f %s", seconds * scale, unit);
    return out;
}

const char *live_text_duration(double seconds, char out[LIVE_TEXT_BYTES])
{
    long long t = (long long)(seconds + 0.5);

    if (t >= 3600)
        snprintf(out, LIVE_TEXT_BYTES, "%lld h %02lld min", t / 3600,
                 t / 60 % 60);
    else if (t >= 60)
        snprintf(out, LIVE_TEXT_BYTES, "%lld min %02lld s", t / 60, t % 60);
    else
        snprintf(out, LIVE_TEXT_BYTES, "%lld s", t);
    return out;
}

const char *live_text_usd(double usd, char out[LIVE_TEXT_BYTES])
{
    snprintf(out, LIVE_TEXT_BYTES, "$%.4f", usd);
    return out;
}

struct unit {
    const char *word;
    double s;
};

/* Numbers below 120, or hours. */
static struct unit unit_of(double seconds)
{
    static const struct unit units[] = { { "s", 1 }, { "min", 60 } };

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (seconds < 120 * units[i].s)
            return units[i];
    return (struct unit){ "h", 3600 };
}

/* Outwards, but not for the error of a product. */
static double down(double number, double scale)
{
    return floor(number * scale + ROUNDING) / scale;
}

static double up(double number, double scale)
{
    return ceil(number * scale - ROUNDING) / scale;
}

/* One digit after the point says enough below ten; none of seconds. */
static double scale_of(double number, struct unit unit)
{
    return unit.s > 1 && number < 10 ? 10 : 1;
}

const char *live_text_left(const struct estimate_range *seconds,
                           char out[LIVE_TEXT_BYTES])
{
    struct unit unit = unit_of(seconds->high);
    struct unit low = seconds->low < unit.s ? unit_of(seconds->low) : unit;
    double from = seconds->low / low.s, to = seconds->high / unit.s;
    char text[LIVE_TEXT_BYTES];

    if (estimate_is_narrow(seconds)) {
        snprintf(out, LIVE_TEXT_BYTES, "about %s",
                 live_text_duration(seconds->likely, text));
        return out;
    }
    from = down(from, scale_of(from, low));
    to = up(to, scale_of(to, unit));
    if (from <= 0)
        snprintf(out, LIVE_TEXT_BYTES, "up to %g %s", to, unit.word);
    else if (low.s < unit.s)
        snprintf(out, LIVE_TEXT_BYTES, "%g %s to %g %s", from, low.word, to,
                 unit.word);
    else
        snprintf(out, LIVE_TEXT_BYTES, "%g-%g %s", from, to, unit.word);
    return out;
}

const char *live_text_left_usd(const struct estimate_range *usd,
                               char out[LIVE_TEXT_BYTES])
{
    int digits = usd->high < 0.1 ? 4 : usd->high < 1 ? 3 : 2;
    double scale = pow(10, digits);

    if (estimate_is_narrow(usd))
        return live_text_usd(usd->likely, out);
    if (down(usd->low, scale) <= 0)
        snprintf(out, LIVE_TEXT_BYTES, "up to $%.*f", digits,
                 up(usd->high, scale));
    else
        snprintf(out, LIVE_TEXT_BYTES, "$%.*f-%.*f", digits,
                 down(usd->low, scale), digits, up(usd->high, scale));
    return out;
}
