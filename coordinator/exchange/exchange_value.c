#include "coordinator/exchange/exchange_value.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/outcome.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/replay/numeral.h"
#include "coordinator/model/domain.h"
#include "coordinator/text/decimal.h"
#include "coordinator/text/json_out.h"
#include "coordinator/text/value.h"

#define VALUE_BYTES_MAX (1 << 17)
#define SAMPLES_BYTES_MAX (1 << 22) /* 65,536 samples */
#define MS 3                        /* a second has ten to this of them */

static bool is_whole(const char *text)
{
    text += *text == '-';
    return *text && strspn(text, "0123456789") == strlen(text);
}

static bool is_truth(const char *text)
{
    return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
}

/* Booleans are those of a tunable with no other values. */
static bool has_truths(const struct landscape_tunable *tunable)
{
    for (int i = 0; i < tunable->n; i++)
        if (!is_truth(tunable->texts[i]))
            return false;
    return true;
}

static void put_number(const struct landscape_tunable *tunable, int level,
                       struct buf *out)
{
    char text[DECIMAL_BYTES];

    if (is_whole(tunable->texts[level])) {
        buf_printf(out, "%s", tunable->texts[level]);
        return;
    }
    decimal_repr(tunable->numbers[level], text);
    buf_printf(out, "%s", text);
}

void exchange_value_json(const struct landscape_tunable *tunable, int level,
                         struct buf *out)
{
    const char *text = tunable->texts[level];

    if (isfinite(tunable->numbers[level]))
        put_number(tunable, level, out);
    else if (has_truths(tunable))
        buf_printf(out, "%s", text);
    else
        value_quote(text, out);
}

void exchange_value_python(const struct landscape_tunable *tunable, int level,
                           struct buf *out)
{
    const char *text = tunable->texts[level];

    if (isfinite(tunable->numbers[level]))
        put_number(tunable, level, out);
    else if (has_truths(tunable))
        buf_printf(out, "%s", *text == 't' ? "True" : "False");
    else
        buf_printf(out, "%s", text);
}

void exchange_value_params(const struct landscape *landscape, int point,
                           struct json_out *out)
{
    const uint16_t *levels = domain_point(landscape->domain, point);

    for (int t = 0; t < landscape->tunables_n; t++) {
        struct buf text;

        buf_init(&text, VALUE_BYTES_MAX);
        exchange_value_json(&landscape->tunables[t], levels[t], &text);
        json_out_raw(out, landscape->tunables[t].name, buf_text(&text));
        buf_fini(&text);
    }
}

void exchange_value_ms(struct json_out *out, const char *key, double seconds)
{
    char text[NUMERAL_BYTES];

    numeral_text(seconds, MS, text);
    json_out_raw(out, key, text);
}

void exchange_value_samples(const struct landscape *landscape,
                            const struct landscape_config *config,
                            const char *key, struct json_out *out)
{
    struct buf list;

    buf_init(&list, SAMPLES_BYTES_MAX);
    buf_printf(&list, "[");
    for (int i = 0; i < config->samples_n; i++) {
        char text[NUMERAL_BYTES];

        numeral_text(landscape->samples[config->sample_at + (size_t)i], MS,
                     text);
        buf_printf(&list, "%s%s", i ? ", " : "", text);
    }
    buf_printf(&list, "]");
    json_out_raw(out, key, buf_text(&list));
    buf_fini(&list);
}

double exchange_value_time(const struct landscape *landscape,
                           const struct landscape_config *config)
{
    double sum = 0;

    for (int i = 0; i < config->samples_n; i++)
        sum += landscape->samples[config->sample_at + (size_t)i];
    return config->samples_n > 0 ? sum / config->samples_n : config->time_s;
}

void exchange_value_utc(struct json_out *out, const char *key, int64_t utc_ns)
{
    char iso[CLOCK_ISO_BYTES], text[CLOCK_ISO_BYTES + 16];

    clock_iso(utc_ns, iso);
    snprintf(text, sizeof(text), "%.*s.%06d+00:00", (int)strcspn(iso, ".Z"),
             iso, (int)(utc_ns / 1000 % 1000000));
    json_out_text(out, key, text);
}

static bool is_timed(const struct landscape *landscape, int point)
{
    return point >= 0 && landscape->configs[point].outcome == OUTCOME_CORRECT;
}

int exchange_value_point(const struct landscape *landscape, int i)
{
    int first = landscape->baseline;

    if (!is_timed(landscape, first))
        return i;
    return i == 0 ? first : i <= first ? i - 1 : i;
}
