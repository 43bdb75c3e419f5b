/* hostile.c - what a stand-in does to the coordinator: it floods, or it lies
 *
 * Each behaviour is one of experiments F24 and F25 (docs/reliability.md).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "tests/e2e/stand_in.h"

#define WANTS_A_TURN 2000
#define RESULTS_A_TURN 20
#define CHUNKS_A_TURN 50
#define SAMPLES 5
#define FIRST_TOTAL (64 << 20)

static void remember(struct stand_in *s, const struct msg *msg,
                     const char *hash)
{
    const struct msg_work *work = msg_work(msg);
    struct stand_in_lease *about = &s->about;

    about->type = msg->type;
    about->lease = work->lease;
    about->attempt = work->id.attempt;
    about->round = work->id.round;
    snprintf(about->config, HASH_HEX, "%s", work->id.config);
    snprintf(about->purpose, sizeof(about->purpose), "%s", work->id.purpose);
    snprintf(about->key, HASH_HEX, "%s", work->key);
    snprintf(about->hash, HASH_HEX, "%s", hash);
}

/* ---- floods ---- */

static void take_bundle(struct stand_in *s, const struct msg *msg)
{
    stand_in_start(s, msg);
    if (msg->type == MSG_BUILD)
        remember(s, msg, msg->build.bundle);
}

/* Sources are 100 KiB, and nobody reads them. */
static void want(struct stand_in *s)
{
    for (int i = 0; i < WANTS_A_TURN && s->about.lease; i++)
        stand_in_say(s, &(struct msg){ .type = MSG_WANT,
                                       .want = { .what = MSG_WANT_BUNDLE,
                                                 .hash = s->about.hash,
                                                 .offset = -1 } });
}

static void hello(struct stand_in *s)
{
    for (int i = 0; i < WANTS_A_TURN; i++)
        stand_in_hello(s, 0);
}

/* One crash after the other, each with another name and a full log. */
static void crash(struct stand_in *s)
{
    static char log[MSG_LOG_MAX];
    char nonce[HASH_HEX];

    memset(log, 'x', sizeof(log) - 1);
    for (int i = 0; i < RESULTS_A_TURN && s->about.lease; i++) {
        stand_in_nonce(nonce);
        stand_in_say(
            s, &(struct msg){
                   .type = MSG_BUILT,
                   .built = { .work = { .lease = s->about.lease,
                                        .id = { .sweep = "vector_add",
                                                .config = s->about.config,
                                                .shape = "",
                                                .purpose = s->about.purpose,
                                                .stage = "build",
                                                .attempt = s->about.attempt },
                                        .key = s->about.key },
                              .result = { .nonce = nonce,
                                          .outcome = "crash",
                                          .detail = "again" },
                              .artifact = "",
                              .log = log,
                              .usage = { -1, -1, -1 } } });
    }
}

static void drip_from(struct stand_in *s, const struct msg *msg)
{
    snprintf(s->about.hash, HASH_HEX, "%s", msg->fetch.hash);
}

/* The first chunk, for ever. */
static void drip(struct stand_in *s)
{
    static char bytes[MSG_CHUNK_MAX];

    for (int i = 0; i < CHUNKS_A_TURN && *s->about.hash; i++)
        stand_in_say(
            s,
            &(struct msg){ .type = MSG_ARTIFACT,
                           .artifact = { .hash = s->about.hash,
                                         .total = FIRST_TOTAL,
                                         .chunk = { bytes, sizeof(bytes) } } });
}

/* ---- lies ---- */

static void wrong_bytes(struct stand_in *s, const struct msg *msg)
{
    stand_in_say(s, &(struct msg){ .type = MSG_ARTIFACT,
                                   .artifact = { .hash = msg->fetch.hash,
                                                 .total = 5,
                                                 .chunk = { "bytes", 5 } } });
}

/* What an honest worker could say of the lease, but for one thing. */
static void lie(struct stand_in *s, const struct msg *msg)
{
    const char *how = s->does->name;
    char nonce[HASH_HEX];
    double samples[SAMPLES] = { 1e-6, 1e-6, 1e-6, 1e-6, 1e-6 };
    struct msg result = { .type = MSG_MEASURED,
                          .measured = { .work = msg->measure.work,
                                        .result = { .nonce = nonce,
                                                    .outcome = "correct",
                                                    .detail = "",
                                                    .seconds = 0.001 },
                                        .gpu = msg->measure.launch.gpu,
                                        .artifact =
                                            msg->measure.launch.artifact,
                                        .argument = "",
                                        .max_at = -1,
                                        .samples = { samples, SAMPLES },
                                        .sampling = "fixed",
                                        .l2 = "none",
                                        .checked = { SAMPLES, 0 },
                                        .held_s = 0.001,
                                        .usage = { -1, -1, -1 } } };

    if (msg->type != MSG_MEASURE)
        return;
    if (strcmp(how, "infinite") == 0)
        result.measured.relative_l2 = INFINITY;
    else if (strcmp(how, "imprecise") == 0)
        result.measured.relative_l2 = result.measured.max_error = 0.9;
    else if (strcmp(how, "instant") == 0)
        samples[0] = 5e-324;
    else if (strcmp(how, "long") == 0)
        result.measured.held_s = 1e6;
    else if (strcmp(how, "elsewhere") == 0)
        result.measured.gpu = "CPU-of-another";
    else if (strcmp(how, "other-artifact") == 0)
        result.measured.artifact = "00000000000000000000000000000000";
    else
        result.measured.work.lease--;
    stand_in_start(s, msg);
    stand_in_nonce(nonce);
    stand_in_say(s, &result);
}

static const struct behaviour behaviours[] = {
    { "wants", take_bundle, NULL, want },
    { "hellos", NULL, NULL, hello },
    { "crashes", take_bundle, NULL, crash },
    { "drips", stand_in_build, drip_from, drip },
    { "wrong-bytes", stand_in_build, wrong_bytes, NULL },
    { "infinite", lie, NULL, NULL },
    { "imprecise", lie, NULL, NULL },
    { "instant", lie, NULL, NULL },
    { "long", lie, NULL, NULL },
    { "elsewhere", lie, NULL, NULL },
    { "other-artifact", lie, NULL, NULL },
    { "other-lease", lie, NULL, NULL },
};

const struct behaviour *hostile_behaviour(const char *name)
{
    for (size_t i = 0; i < sizeof(behaviours) / sizeof(behaviours[0]); i++)
        if (strcmp(behaviours[i].name, name) == 0)
            return &behaviours[i];
    return NULL;
}
