#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "coordinator/costs/foreseen.h"
#include "coordinator/estimate/estimate.h"
#include "coordinator/live/live_text.h"
#include "coordinator/report/report_print.h"
#include "coordinator/text/json_out.h"

#define TEXT_MAX 512

/* "6.6 s", "38 s", "1 min 21 s" */
static const char *seconds_text(double s, char out[LIVE_TEXT_BYTES])
{
    if (s >= 10)
        return live_text_duration(s, out);
    snprintf(out, LIVE_TEXT_BYTES, "%.1f s", s);
    return out;
}

static void put_seconds(struct buf *text, const struct foreseen_range *range)
{
    char low[LIVE_TEXT_BYTES], high[LIVE_TEXT_BYTES], likely[LIVE_TEXT_BYTES];

    buf_printf(text, "%s to %s, likely %s", seconds_text(range->low, low),
               seconds_text(range->high, high),
               seconds_text(range->likely, likely));
}

/* Why the range is so wide. */
static const char *reason(const char *from)
{
    return strcmp(from, estimate_source_text(ESTIMATE_DEFAULTS)) == 0
               ? ", because nothing had been timed"
               : "";
}

char *report_foreseen_text(const struct report_view *view)
{
    const struct foreseen *foreseen = view->foreseen;
    const struct foreseen_command *last =
        foreseen ? foreseen_newest(foreseen) : NULL;
    char took[LIVE_TEXT_BYTES];
    struct buf text;

    if (!last)
        return NULL;
    buf_init(&text, TEXT_MAX);
    put_seconds(&text, &last->wall_s);
    if (!isnan(last->usd.low))
        buf_printf(&text, "; $%.4f to $%.4f, likely $%.4f", last->usd.low,
                   last->usd.high, last->usd.likely);
    buf_printf(&text, " (from %s%s); %s %s", last->from, reason(last->from),
               last->ended ? "took" : "so far it took",
               seconds_text(last->took_s, took));
    if (!isnan(last->took_usd))
        buf_printf(&text, ", $%.4f", last->took_usd);
    return text.bytes;
}

static void put_range(struct json_out *out, const char *key,
                      const char *range_key, const struct foreseen_range *range)
{
    json_out_real(out, key, range->likely);
    json_out_interval(out, range_key, range->low, range->high);
}

void report_put_foreseen(struct json_out *out, const struct foreseen *foreseen)
{
    json_out_open(out, "estimates", '[');
    for (size_t i = 0; foreseen && i < foreseen->n; i++) {
        const struct foreseen_command *command = &foreseen->list[i];

        json_out_open(out, NULL, '{');
        json_out_utc(out, "begun", command->begun_utc);
        json_out_text(out, "from", command->from);
        put_range(out, "wall_s", "wall_range_s", &command->wall_s);
        put_range(out, "usd", "usd_range", &command->usd);
        json_out_real(out, "took_s", command->took_s);
        json_out_real(out, "took_usd", command->took_usd);
        json_out_bool(out, "ended", command->ended);
        json_out_bool(out, "within",
                      command->ended &&
                          foreseen_holds(&command->wall_s, command->took_s));
        json_out_close(out);
    }
    json_out_close(out);
}
