#include "coordinator/live/live_text.h"

#include <stdio.h>

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
