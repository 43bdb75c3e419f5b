/* The contents of a build and a measurement of a recorded configuration, and
 * their durations. */
#include "coordinator/replay/replay_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/outcome.h"
#include "coordinator/config/config.h"
#include "coordinator/replay/gpu_variation.h"
#include "coordinator/spec/spec.h"

#define RECORD_SAMPLES 1000 /* worker/runner/device/record.h */
#define DRAW_DIGITS 15      /* hex digits of a hash that fit an int64 */

/* Make one line of a compiler's message. */
static void put_reason(const struct replay *replay,
                       const struct landscape_config *config, struct buf *out)
{
    buf_printf(out, "reason ");
    if (!config->reason || !config->reason[0])
        buf_printf(out, "recorded as '%s'%s%s, without details",
                   outcome_name(config->outcome),
                   replay->land->device[0] ? " on " : "", replay->land->device);
    for (const char *at = config->reason; at && *at; at++)
        buf_add(out, (unsigned char)*at < ' ' ? " " : at, 1);
    buf_printf(out, "\n");
}

static void put_samples(const struct replay *replay,
                        const struct landscape_config *config, struct buf *out)
{
    for (int i = 0; i < config->samples_n && i < RECORD_SAMPLES; i++)
        buf_printf(out, "sample %.17g\n",
                   replay->land->samples[config->sample_at + (size_t)i]);
    if (config->samples_n == 0)
        buf_printf(out, "sample %.17g\n", config->time_s);
}

int replay_record(const struct replay *replay, const struct value *values,
                  struct buf *out, struct err *err)
{
    const struct landscape_config *config =
        values ? replay_config(replay, values) : NULL;

    buf_clear(out);
    buf_printf(out, "record 1\n");
    if (!values) {
        buf_printf(out, "outcome reference\n");
        return 0;
    }
    buf_printf(out, "config ");
    config_text(replay->spec, values, out);
    if (!config)
        return err_set(err, ERR_INPUT,
                       "%s is not in the record, so it cannot be replayed",
                       strrchr(buf_text(out), '\n') + strlen("\nconfig "));
    buf_printf(out, "\noutcome %s\n", outcome_name(config->outcome));
    if (config->outcome != OUTCOME_CORRECT)
        put_reason(replay, config, out);
    buf_printf(out, "build_s %.17g\nverify_s %.17g\nbench_s %.17g\n",
               config->compile_s, config->verify_s, config->bench_s);
    if (config->outcome == OUTCOME_CORRECT)
        put_samples(replay, config, out);
    return 0;
}

/* ---- requests */

void replay_put_launch(struct buf *request)
{
    buf_printf(request, "measure\nentry " REPLAY_ENTRY "\ngrid 1 1 1\nblock 1 "
                        "1 1\nsmem 0\narg result fp32 buffer 1 poison 1 out "
                        "exact\n"
                        "reference " REPLAY_ENTRY " 1 1 1 1 1 1 0\n");
}

static long count_of(struct replay *replay, const char *host, int gpu)
{
    size_t i = 0;

    while (i < replay->n_asked && (replay->asked[i].gpu != gpu ||
                                   strcmp(replay->asked[i].host, host) != 0))
        i++;
    if (i == replay->n_asked) {
        replay->asked =
            mem_grow(replay->asked, ++replay->n_asked, sizeof(*replay->asked));
        replay->asked[i] = (struct asked){ .gpu = gpu };
        snprintf(replay->asked[i].host, sizeof(replay->asked[i].host), "%s",
                 host);
    }
    return replay->asked[i].n++;
}

/* The samples of a measurement depend on its identity only, not on the GPU or
 * the attempt. */
static int64_t draw_of(const struct replay *replay,
                       const struct msg_identity *id)
{
    char text[HASH_HEX], digits[DRAW_DIGITS + 1];
    struct hash hash;

    hash_init(&hash);
    hash_field(&hash, &replay->spec->measure.seed,
               sizeof(replay->spec->measure.seed));
    hash_text(&hash, id->config);
    hash_text(&hash, id->shape);
    hash_text(&hash, id->purpose);
    hash_field(&hash, &id->round, sizeof(id->round));
    hash_end(&hash, text);
    snprintf(digits, sizeof(digits), "%s", text);
    return (int64_t)strtoll(digits, NULL, 16);
}

void replay_put_arguments(struct replay *replay, const struct msg_identity *id,
                          const char *host, int gpu, struct buf *request)
{
    buf_printf(request,
               "arg draw int64 scalar %" PRId64 "\narg factor fp64 scalar "
               "%.17g\narg speed_up fp64 scalar %.17g\n",
               draw_of(replay, id),
               gpu_variation_factor(replay->cards, host, gpu,
                                    count_of(replay, host, gpu)),
               replay->speed_up);
}

/* The time that a recorded benchmark took beyond its samples. */
static double overhead(const struct replay *replay,
                       const struct landscape_config *config)
{
    double left = config->bench_s;

    for (int i = 0; i < config->samples_n; i++)
        left -= replay->land->samples[config->sample_at + (size_t)i];
    return fmax(left, 0);
}

static double held_s(const struct replay *replay,
                     const struct landscape_config *config,
                     const struct reals *samples)
{
    double samples_s = 0, held_s = 0;

    for (size_t i = 0; i < samples->n; i++)
        samples_s += samples->items[i];
    held_s = config->verify_s + overhead(replay, config) + samples_s;
    if (samples->n) /* a warm-up takes as long as a sample */
        held_s +=
            replay->spec->measure.warmups * samples_s / (double)samples->n;
    return held_s;
}

void replay_restate(const struct replay *replay, const struct value *values,
                    struct msg *msg)
{
    const struct landscape_config *config = replay_config(replay, values);

    if (!config)
        return;
    if (msg->type == MSG_BUILT) {
        if (!msg->built.cached)
            msg->built.result.seconds = config->compile_s;
        return;
    }
    msg->measured.checked = (struct msg_checked){ -1, -1 };
    msg->measured.held_s = held_s(replay, config, &msg->measured.samples);
    msg->measured.result.seconds = msg->measured.held_s;
}
