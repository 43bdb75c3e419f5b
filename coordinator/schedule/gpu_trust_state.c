/* The state of a GPU (trusted, resting or quarantined) from its canaries. */
#include "coordinator/schedule/gpu_trust_internal.h"

#include <math.h>
#include <stdio.h>

#include "common/int64.h"
#include "coordinator/stats/stats.h"

#define RESTS_IN_A_ROW 3
#define RESTS_MAX 6    /* after these it is quarantined, or used as it is */
#define RESTS_STEADY 1 /* rests of a GPU that still counts as steady */
#define RECENT 5       /* newest canaries whose median is the level */
#define NOISE_SIGMAS 4

void gpu_trust_quarantine(struct gpu_trust *w, int gpu, const char *why)
{
    struct watched *g = &w->gpus[gpu];
    double last_s = g->n ? g->canaries[g->n - 1].at_s : -INFINITY;

    g->trust = QUARANTINED;
    gpu_trust_say(w, GPU_TRUST_QUARANTINE, gpu, "%s", why);
    gpu_trust_doubt(w, gpu, last_s, INFINITY);
}

/* There are other usable GPUs, and at least half of them did not need to rest
 * often. */
static bool is_the_odd_one(const struct gpu_trust *w, int gpu)
{
    int others = 0, steady = 0;

    for (int i = 0; i < w->n_gpus; i++)
        if (i != gpu && gpu_trust_is_usable(&w->gpus[i])) {
            others++;
            steady += w->gpus[i].rests <= RESTS_STEADY;
        }
    return others > 0 && 2 * steady >= others;
}

static double median_of(const struct canary *canaries, size_t n)
{
    size_t recent = (size_t)int64_min((int64_t)n, RECENT);
    double values[RECENT];
    struct summary summary;

    for (size_t i = 0; i < recent; i++)
        values[i] = canaries[n - recent + i].seconds;
    stats_summary(values, recent, &summary);
    return summary.median;
}

static void trust(struct gpu_trust *w, int gpu, const char *why)
{
    struct watched *g = &w->gpus[gpu];

    if (g->trust == RESTING)
        gpu_trust_say(w, GPU_TRUST_GO_ON, gpu, "%s", why);
    g->trust = TRUSTED;
    g->strikes = 0;
}

static void rest(struct gpu_trust *w, int gpu, double at_s, double off)
{
    struct watched *g = &w->gpus[gpu];
    double rest_s = w->rules.rest_s * (g->strikes + 1);

    g->strikes++;
    g->rests++;
    g->trust = RESTING;
    g->rest_until_s = at_s + rest_s;
    gpu_trust_say(w, GPU_TRUST_REST, gpu,
                  "its canary is %+.1f %% off its level; it rests for %g s",
                  100 * off, rest_s);
}

/* The newest canary differs from the level of those before it. */
static void strike(struct gpu_trust *w, int gpu, double off)
{
    struct watched *g = &w->gpus[gpu];
    const struct canary *last = &g->canaries[g->n - 1];
    bool steady = g->strikes > 0 && fabs(last->seconds / last[-1].seconds -
                                         1) <= w->rules.line.drift;
    bool worn = g->strikes >= RESTS_IN_A_ROW || g->rests >= RESTS_MAX;
    char why[sizeof(((struct gpu_trust_step *)0)->text)];

    if (!steady && !worn) {
        rest(w, gpu, last->at_s, off);
        return;
    }
    snprintf(why, sizeof(why),
             "its canary is %+.1f %% off its level after %d rest%s", 100 * off,
             g->rests, g->rests == 1 ? "" : "s");
    if (worn && is_the_odd_one(w, gpu)) {
        gpu_trust_quarantine(w, gpu, why);
        return;
    }
    trust(w, gpu,
          steady ? "its canary is steady on a new level"
                 : "its canary does not settle; it is used as it is");
    g->base = g->n - (steady ? 2 : 1);
}

void gpu_trust_judge(struct gpu_trust *w, int gpu)
{
    struct watched *g = &w->gpus[gpu];
    const struct canary *last = &g->canaries[g->n - 1];
    size_t before = g->n - 1 - g->base - (size_t)g->strikes;
    double off;

    if (before == 0) {
        trust(w, gpu, "it has its first canary");
        return;
    }
    off = last->seconds / median_of(g->canaries + g->base, before) - 1;
    if (fabs(off) <= fmax(w->rules.line.drift, NOISE_SIGMAS * g->noise))
        trust(w, gpu, "its canary is back on its level");
    else
        strike(w, gpu, off);
}
