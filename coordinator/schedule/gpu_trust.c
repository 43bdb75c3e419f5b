#include "coordinator/schedule/gpu_trust_internal.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/mem.h"

#define WRONG_MAX 2
#define GONE_MAX 5 /* canaries in a row that were ordered and not measured */

struct gpu_trust *gpu_trust_new(const struct gpu_trust_rules *rules, int jobs)
{
    struct gpu_trust *w = mem_new(1, sizeof(*w));

    w->rules = *rules;
    w->n_records = jobs;
    w->records = mem_new((size_t)jobs, sizeof(*w->records));
    return w;
}

void gpu_trust_free(struct gpu_trust *w)
{
    if (!w)
        return;
    for (int i = 0; i < w->n_gpus; i++)
        free(w->gpus[i].canaries);
    int_queue_fini(&w->doubts);
    free(w->gpus);
    free(w->records);
    free(w->steps);
    free(w);
}

static void add_canary(struct watched *g, int gpu, double at_s, double seconds)
{
    g->canaries = mem_grow(g->canaries, g->n + 1, sizeof(*g->canaries));
    g->canaries[g->n++] =
        (struct canary){ .gpu = gpu, .at_s = at_s, .seconds = seconds };
}

void gpu_trust_had_canary(struct gpu_trust *w, int gpu, double at_s,
                          double seconds)
{
    struct watched *g = gpu_trust_watched(w, gpu);

    add_canary(g, gpu, at_s, seconds);
    g->base = g->n;
    w->was_right = true;
}

void gpu_trust_gpu(struct gpu_trust *w, int gpu, bool up)
{
    struct watched *g = gpu_trust_watched(w, gpu);

    g->up = up;
    g->due = up;
    g->gone = 0;
    if (!up) {
        g->pending = false;
        g->since = 0;
    }
}

/* ---- events ---- */

void gpu_trust_canary(struct gpu_trust *w, int gpu, double at_s, double seconds)
{
    struct watched *g = gpu_trust_watched(w, gpu);

    assert(seconds > 0);
    add_canary(g, gpu, at_s, seconds);
    g->pending = false;
    g->wrong = g->gone = 0;
    w->was_right = true;
    if (g->trust == QUARANTINED)
        return;
    gpu_trust_doubt_windows(w, gpu);
    gpu_trust_judge(w, gpu);
}

/* It counts as a measurement, so that the canary is asked for even if nothing
 * else is left to measure. */
static void once_more(struct watched *g)
{
    g->due = true;
    g->since++;
}

void gpu_trust_canary_wrong(struct gpu_trust *w, int gpu, const char *why)
{
    struct watched *g = gpu_trust_watched(w, gpu);
    char text[sizeof(((struct gpu_trust_step *)0)->text)];

    g->pending = false;
    g->wrong++;
    if (g->trust == QUARANTINED)
        return;
    if (g->wrong < WRONG_MAX) {
        once_more(g);
        return;
    }
    snprintf(text, sizeof(text), "its canary failed %d times: %.100s", g->wrong,
             why);
    if (w->was_right)
        gpu_trust_quarantine(w, gpu, text);
    else if (g->wrong == WRONG_MAX)
        gpu_trust_say(
            w, GPU_TRUST_SAY, gpu,
            "%s; it was never right on any GPU, so this GPU is not to blame",
            text);
}

void gpu_trust_canary_gone(struct gpu_trust *w, int gpu)
{
    struct watched *g = gpu_trust_watched(w, gpu);

    g->pending = false;
    if (g->up && ++g->gone < GONE_MAX)
        once_more(g);
}

/* ---- the next step ---- */

static bool next_canary(struct gpu_trust *w, double now_s, bool over,
                        struct gpu_trust_step *out)
{
    for (int i = 0; i < w->n_gpus; i++) {
        struct watched *g = &w->gpus[i];
        bool rested = g->trust == RESTING && now_s >= g->rest_until_s &&
                      (!over || w->doubts.n > 0);
        bool due = g->trust == TRUSTED &&
                   (g->since >= w->rules.every ||
                    (over ? g->since > 0 && g->flying == 0 && w->doubts.n == 0
                          : g->due));

        if (!g->up || g->pending || (!rested && !due))
            continue;
        g->pending = true;
        g->due = false;
        g->since = 0;
        *out = (struct gpu_trust_step){ .act = GPU_TRUST_CANARY,
                                        .gpu = i,
                                        .job = -1 };
        return true;
    }
    return false;
}

bool gpu_trust_next(struct gpu_trust *w, double now_s, bool over,
                    struct gpu_trust_step *out)
{
    if (w->told < w->n_steps) {
        *out = w->steps[w->told++];
        return true;
    }
    w->told = w->n_steps = 0;
    return next_canary(w, now_s, over, out) || gpu_trust_next_again(w, out);
}

bool gpu_trust_waits(const struct gpu_trust *w)
{
    if (w->told < w->n_steps)
        return true;
    for (int i = 0; w->doubts.n > 0 && i < w->n_gpus; i++)
        if (w->gpus[i].up && w->gpus[i].trust == RESTING)
            return true;
    return false;
}

double gpu_trust_rested_s(const struct gpu_trust *w)
{
    double first_s = (double)INFINITY;

    for (int i = 0; i < w->n_gpus; i++) {
        const struct watched *g = &w->gpus[i];

        if (g->up && g->trust == RESTING && !g->pending)
            first_s = fmin(first_s, g->rest_until_s);
    }
    return first_s;
}

void gpu_trust_ban(struct gpu_trust *w, int gpu)
{
    gpu_trust_watched(w, gpu)->trust = QUARANTINED;
}

bool gpu_trust_is_trusted(const struct gpu_trust *w, int gpu)
{
    return gpu >= w->n_gpus || w->gpus[gpu].trust == TRUSTED;
}

bool gpu_trust_is_quarantined(const struct gpu_trust *w, int gpu)
{
    return gpu < w->n_gpus && w->gpus[gpu].trust == QUARANTINED;
}
