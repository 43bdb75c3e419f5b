/* Generates a sweep file from a record. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/replay/replay.h"
#include "coordinator/spec/spec.h"
#include "coordinator/model/domain.h"

#define NAME_BYTES 48
/* Time limit of a measurement.  A recorded one takes as long as recorded, so
 * this only catches a runner that hangs. */
#define TIMEOUT_LEAST_S 10
#define TIMEOUT_MOST_S 3600

/* The file's name up to its first dot, reduced to allowed characters. */
static void put_name(const char *path, struct buf *out)
{
    const char *slash = strrchr(path, '/');
    const char *at = slash ? slash + 1 : path;
    size_t len = strcspn(at, ".");

    buf_printf(out, "\"name\": \"");
    for (size_t i = 0; i < len && i < NAME_BYTES; i++)
        buf_add(out,
                isalnum((unsigned char)at[i]) || at[i] == '-' ? &at[i] : "_",
                1);
    if (len == 0)
        buf_printf(out, "record");
    buf_printf(out, "\",\n");
}

static bool is_word(const char *text)
{
    return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
}

/* Texts are quoted, numbers and booleans are not.  A tunable with values of
 * several kinds becomes a tunable of texts. */
static bool needs_quotes(const struct landscape_tunable *tunable)
{
    bool words = true;

    for (int i = 0; i < tunable->n; i++)
        words = words && is_word(tunable->texts[i]);
    return !tunable->ordered && !words;
}

static void put_value(const struct landscape_tunable *tunable, int level,
                      struct buf *out)
{
    const char *quote = needs_quotes(tunable) ? "\"" : "";

    buf_printf(out, "%s%s%s", quote, tunable->texts[level], quote);
}

static void put_tunables(const struct landscape *land, struct buf *out)
{
    buf_printf(out, "\"tunables\": {");
    for (int t = 0; t < land->tunables_n; t++) {
        const struct landscape_tunable *tunable = &land->tunables[t];

        buf_printf(out, "%s\n  \"%s\": [", t ? "," : "", tunable->name);
        for (int i = 0; i < tunable->n; i++) {
            buf_printf(out, "%s", i ? ", " : "");
            put_value(tunable, i, out);
        }
        buf_printf(out, "]");
    }
    buf_printf(out, "\n},\n");
}

static int first_timed(const struct landscape *land)
{
    int point = 0;

    while (land->configs[point].outcome != OUTCOME_CORRECT)
        point++; /* ends: replay_open() has found one */
    return point;
}

static void put_baseline(const struct landscape *land, struct buf *out)
{
    int point = land->baseline >= 0 ? land->baseline : first_timed(land);
    const uint16_t *levels = domain_point(land->domain, point);

    buf_printf(out, "\"baseline\": {");
    for (int t = 0; t < land->tunables_n; t++) {
        buf_printf(out, "%s\"%s\": ", t ? ", " : " ", land->tunables[t].name);
        put_value(&land->tunables[t], levels[t], out);
    }
    buf_printf(out, " },\n");
}

static double longest(const struct landscape *land)
{
    double most = TIMEOUT_LEAST_S;

    for (int i = 0; i < domain_size(land->domain); i++)
        most = fmax(most,
                    2 * (land->configs[i].verify_s + land->configs[i].bench_s));
    return fmin(ceil(most), TIMEOUT_MOST_S);
}

void replay_sweep_text(const struct replay *replay, struct buf *out)
{
    const struct landscape *land = replay_landscape(replay);

    buf_printf(out, "// Made of a record; there is no kernel here, so it can "
                    "only be replayed:\n// fa-coord sweep THIS --device "
                    "replay=RECORD\n{\n");
    put_name(replay_path(replay), out);
    buf_printf(out, "\"kernel\": { \"source\": \"" REPLAY_FILE
                    "\", \"entry\": \"" REPLAY_ENTRY "\" },\n");
    put_tunables(land, out);
    buf_printf(out,
               "\"launch\": { \"grid\": [1], \"block\": [1] },\n"
               "\"shapes\": [ { \"name\": \"recorded\" } ],\n"
               "\"arguments\": [ { \"name\": \"result\", \"type\": \"fp32\", "
               "\"shape\": [1], \"output\": true } ],\n"
               "\"reference\": { \"source\": \"" REPLAY_FILE
               "\", \"entry\": \"" REPLAY_ENTRY
               "\", \"launch\": { \"grid\": [1], \"block\": [1] } },\n"
               "\"tolerance\": { \"relative_l2\": 1, \"max_error\": 1 },\n");
    put_baseline(land, out);
    buf_printf(out, "\"measure\": { \"timeout_s\": %g }\n}\n", longest(land));
}

bool replay_has_kernel(const struct spec *spec)
{
    return strcmp(spec->kernel.source, REPLAY_FILE) != 0 ||
           strcmp(spec->kernel.entry, REPLAY_ENTRY) != 0;
}
