#include "coordinator/warden_state.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/mem.h"

#define WRONG_MAX 2
#define GONE_MAX 5 /* canaries that did not come about, in a row */

struct warden *warden_new(const struct warden_rules *rules, int jobs)
{
    struct warden *w = mem_new(1, sizeof(*w));

    w->rules = *rules;
    w->n_records = jobs;
    w->records = mem_new((size_t)jobs, sizeof(*w->records));
    return w;
}

void warden_free(struct warden *w)
{
    if (!w)
        return;
    for (int i = 0; i < w->n_gpus; i++)
        free(w->gpus[i].canaries);
    fifo_fini(&w->doubts);
    free(w->gpus);
    free(w->records);
    free(w->steps);
    free(w);
}

struct watched *warden_watched(struct warden *w, int gpu)
{
    if (gpu >= w->n_gpus) {
        w->gpus = mem_grow(w->gpus, (size_t)gpu + 1, sizeof(*w->gpus));
        while (w->n_gpus <= gpu)
            w->gpus[w->n_gpus++] = (struct watched){ 0 };
    }
    return &w->gpus[gpu];
}

void warden_say(struct warden *w, enum warden_act act, int gpu, const char *fmt,
                ...)
{
    struct warden_step step = { .act = act, .gpu = gpu, .job = -1 };
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(step.text, sizeof(step.text), fmt, ap);
    va_end(ap);
    w->steps = mem_grow(w->steps, w->n_steps + 1, sizeof(*w->steps));
    w->steps[w->n_steps++] = step;
}

static void add_canary(struct watched *g, int gpu, double at_s, double seconds)
{
    g->canaries = mem_grow(g->canaries, g->n + 1, sizeof(*g->canaries));
    g->canaries[g->n++] =
        (struct canary){ .gpu = gpu, .at_s = at_s, .seconds = seconds };
}

void warden_had_canary(struct warden *w, int gpu, double at_s, double seconds)
{
    struct watched *g = warden_watched(w, gpu);

    add_canary(g, gpu, at_s, seconds);
    g->base = g->n;
    w->was_right = true;
}

void warden_gpu(struct warden *w, int gpu, bool up)
{
    struct watched *g = warden_watched(w, gpu);

    g->up = up;
    g->due = up;
    g->gone = 0;
    if (!up) {
        g->pending = false;
        g->since = 0;
    }
}

bool warden_is_usable(const struct watched *g)
{
    return g->up && g->trust == TRUSTED;
}

/* ---- what is told ---- */

void warden_canary(struct warden *w, int gpu, double at_s, double seconds)
{
    struct watched *g = warden_watched(w, gpu);

    assert(seconds > 0);
    add_canary(g, gpu, at_s, seconds);
    g->pending = false;
    g->wrong = g->gone = 0;
    w->was_right = true;
    if (g->trust == QUARANTINED)
        return;
    warden_doubt_windows(w, gpu);
    warden_judge(w, gpu);
}

/* Also when nothing else is left to measure. */
static void once_more(struct watched *g)
{
    g->due = true;
    if (g->since == 0)
        g->since = 1;
}

void warden_canary_wrong(struct warden *w, int gpu, const char *why)
{
    struct watched *g = warden_watched(w, gpu);
    char text[sizeof(((struct warden_step *)0)->text)];

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
        warden_quarantine(w, gpu, text);
    else if (g->wrong == WRONG_MAX)
        warden_say(w, WARDEN_SAY, gpu,
                   "%s; as it was right nowhere, the GPU is not to blame",
                   text);
}

void warden_canary_gone(struct warden *w, int gpu)
{
    struct watched *g = warden_watched(w, gpu);

    g->pending = false;
    if (g->up && ++g->gone < GONE_MAX)
        once_more(g);
}

/* ---- what is asked for ---- */

static bool next_canary(struct warden *w, double now_s, bool over,
                        struct warden_step *out)
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
        *out =
            (struct warden_step){ .act = WARDEN_CANARY, .gpu = i, .job = -1 };
        return true;
    }
    return false;
}

bool warden_next(struct warden *w, double now_s, bool over,
                 struct warden_step *out)
{
    if (w->told < w->n_steps) {
        *out = w->steps[w->told++];
        return true;
    }
    w->told = w->n_steps = 0;
    return next_canary(w, now_s, over, out) || warden_next_again(w, out);
}

bool warden_waits(const struct warden *w)
{
    if (w->told < w->n_steps)
        return true;
    for (int i = 0; w->doubts.n > 0 && i < w->n_gpus; i++)
        if (w->gpus[i].up && w->gpus[i].trust == RESTING)
            return true;
    return false;
}

void warden_ban(struct warden *w, int gpu)
{
    warden_watched(w, gpu)->trust = QUARANTINED;
}

bool warden_is_trusted(const struct warden *w, int gpu)
{
    return gpu >= w->n_gpus || w->gpus[gpu].trust == TRUSTED;
}

bool warden_is_quarantined(const struct warden *w, int gpu)
{
    return gpu < w->n_gpus && w->gpus[gpu].trust == QUARANTINED;
}
