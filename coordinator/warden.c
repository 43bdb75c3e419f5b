#include "coordinator/warden.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/mem.h"
#include "common/stats.h"
#include "coordinator/fifo.h"

#define RESTS_IN_A_ROW 3
#define RESTS_MAX 6    /* then it is quarantined, or left as it is */
#define RESTS_STEADY 1 /* of a GPU that others are measured against */
#define WRONG_MAX 2
#define REPEATS_MAX 2 /* of one measurement */
#define GONE_MAX 5    /* canaries that did not come about, in a row */
#define RECENT 5      /* canaries that make the level a GPU is held against */
#define NOISE_SIGMAS 4
#define NOISE_FROM 6 /* canaries, for their noise to be known */

enum trust {
    TRUSTED,
    RESTING,
    QUARANTINED
};

struct watched {
    bool known, up;
    enum trust trust;
    bool due, pending;  /* the canary */
    int since;          /* measurements, since the canary was asked for */
    int flying;         /* repetitions asked for */
    int wrong, gone;    /* canaries in a row */
    int strikes, rests; /* in a row, and in all */
    double rest_until_s;
    struct canary *canaries;
    size_t n, base; /* of which those from 'base' on make its level */
    double noise;   /* of one canary, relative; 0 while it is not known */
};

/* The newest measurement of a job. */
struct record {
    bool is_there, in_doubt;
    int gpu, repeats;
    double at_s;
};

struct warden {
    struct warden_rules rules;
    struct watched *gpus;
    int n_gpus;
    struct record *records;
    int n_records;
    struct fifo doubts; /* jobs to measure again */
    int repeats;        /* asked for, of all jobs */
    bool capped;        /* and said so */
    bool was_right;     /* a canary, somewhere */
    struct warden_step *steps;
    size_t n_steps, told;
};

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

static struct watched *watched(struct warden *w, int gpu)
{
    if (gpu >= w->n_gpus) {
        w->gpus = mem_grow(w->gpus, (size_t)gpu + 1, sizeof(*w->gpus));
        while (w->n_gpus <= gpu)
            w->gpus[w->n_gpus++] = (struct watched){ 0 };
    }
    return &w->gpus[gpu];
}

static void say(struct warden *w, enum warden_act act, int gpu, const char *fmt,
                ...) __attribute__((format(printf, 4, 5)));

static void say(struct warden *w, enum warden_act act, int gpu, const char *fmt,
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
    struct watched *g = watched(w, gpu);

    add_canary(g, gpu, at_s, seconds);
    g->base = g->n;
    w->was_right = true;
}

void warden_had(struct warden *w, int gpu, int job, int repeats, double at_s)
{
    struct record *record = &w->records[job];

    watched(w, gpu);
    if (record->is_there && record->at_s > at_s)
        return;
    *record = (struct record){
        .is_there = true, .gpu = gpu, .repeats = repeats, .at_s = at_s
    };
}

void warden_gpu(struct warden *w, int gpu, bool up)
{
    struct watched *g = watched(w, gpu);

    g->up = up;
    g->due = up;
    g->gone = 0;
    if (!up) {
        g->pending = false;
        g->since = 0;
    }
}

static bool is_usable(const struct watched *g)
{
    return g->up && g->trust == TRUSTED;
}

/* ---- what is in doubt ---- */

static void cap(struct warden *w)
{
    if (!w->capped)
        say(w, WARDEN_SAY, -1,
            "%d measurements were repeated, the most; what is in doubt from "
            "here on stays as it is",
            w->rules.again_max);
    w->capped = true;
}

static int doubt(struct warden *w, int gpu, double from_s, double to_s)
{
    int n = 0;

    for (int job = 0; job < w->n_records; job++) {
        struct record *record = &w->records[job];

        if (!record->is_there || record->in_doubt || record->gpu != gpu ||
            record->at_s <= from_s || record->at_s > to_s ||
            record->repeats >= REPEATS_MAX)
            continue;
        if (w->repeats >= w->rules.again_max) {
            cap(w);
            break;
        }
        w->repeats++;
        record->in_doubt = true;
        fifo_push(&w->doubts, job);
        n++;
    }
    return n;
}

/* With each canary, all windows: an early one may show only when it is known
 * how little the canary usually moves. */
static void doubt_windows(struct warden *w, int gpu)
{
    struct watched *g = &w->gpus[gpu];
    struct calibration *line = calibration_new(g->canaries, g->n);
    struct calibration_window *windows = mem_new(g->n, sizeof(*windows));
    size_t n = calibration_windows(line, &w->rules.line, windows);
    struct calibration_gpu found;

    calibration_gpu(line, 0, &w->rules.line, &found);
    g->noise = g->n < NOISE_FROM ? 0 : found.noise;
    for (size_t i = 0; i < n; i++) {
        int jobs = doubt(w, gpu, windows[i].from_s, windows[i].to_s);

        if (jobs)
            say(w, WARDEN_SAY, gpu,
                "its canary moved by %+.1f %%; %d measurement%s in between %s "
                "repeated",
                100 * windows[i].change, jobs, jobs == 1 ? "" : "s",
                jobs == 1 ? "is" : "are");
    }
    free(windows);
    calibration_free(line);
}

/* ---- trust ---- */

static void quarantine(struct warden *w, int gpu, const char *why)
{
    struct watched *g = &w->gpus[gpu];
    double last_s = g->n ? g->canaries[g->n - 1].at_s : -INFINITY;

    g->trust = QUARANTINED;
    say(w, WARDEN_QUARANTINE, gpu, "%s", why);
    doubt(w, gpu, last_s, INFINITY);
}

/* Other GPUs go on without it, and most of them do not need to rest. */
static bool is_the_odd_one(const struct warden *w, int gpu)
{
    int others = 0, steady = 0;

    for (int i = 0; i < w->n_gpus; i++)
        if (i != gpu && is_usable(&w->gpus[i])) {
            others++;
            steady += w->gpus[i].rests <= RESTS_STEADY;
        }
    return others > 0 && 2 * steady >= others;
}

static double median_of(const struct canary *canaries, size_t n)
{
    double values[RECENT];
    struct summary summary;

    if (n > RECENT) {
        canaries += n - RECENT;
        n = RECENT;
    }
    for (size_t i = 0; i < n; i++)
        values[i] = canaries[i].seconds;
    stats_summary(values, n, &summary);
    return summary.median;
}

static void trust(struct warden *w, int gpu, const char *why)
{
    struct watched *g = &w->gpus[gpu];

    if (g->trust == RESTING)
        say(w, WARDEN_GO_ON, gpu, "%s", why);
    g->trust = TRUSTED;
    g->strikes = 0;
}

static void rest(struct warden *w, int gpu, double at_s, double off)
{
    struct watched *g = &w->gpus[gpu];
    double rest_s = w->rules.rest_s * (g->strikes + 1);

    g->strikes++;
    g->rests++;
    g->trust = RESTING;
    g->rest_until_s = at_s + rest_s;
    say(w, WARDEN_REST, gpu,
        "its canary is %+.1f %% off its level; it rests for %g s", 100 * off,
        rest_s);
}

/* The newest canary is off the level of those before it. */
static void strike(struct warden *w, int gpu, double off)
{
    struct watched *g = &w->gpus[gpu];
    const struct canary *last = &g->canaries[g->n - 1];
    bool steady = g->strikes > 0 && fabs(last->seconds / last[-1].seconds -
                                         1) <= w->rules.line.drift;
    bool worn = g->strikes >= RESTS_IN_A_ROW || g->rests >= RESTS_MAX;
    char why[sizeof(((struct warden_step *)0)->text)];

    if (!steady && !worn) {
        rest(w, gpu, last->at_s, off);
        return;
    }
    snprintf(why, sizeof(why),
             "its canary is %+.1f %% off its level after %d rest%s", 100 * off,
             g->rests, g->rests == 1 ? "" : "s");
    if (worn && is_the_odd_one(w, gpu)) {
        quarantine(w, gpu, why);
        return;
    }
    trust(w, gpu,
          steady ? "its canary is steady on a new level"
                 : "its canary does not settle; it is used as it is");
    g->base = g->n - (steady ? 2 : 1);
}

static void judge(struct warden *w, int gpu)
{
    struct watched *g = &w->gpus[gpu];
    const struct canary *last = &g->canaries[g->n - 1];
    size_t before = g->n - 1 - g->base - (size_t)g->strikes;
    double off;

    if (before == 0) {
        trust(w, gpu, "its first canary is there");
        return;
    }
    off = last->seconds / median_of(g->canaries + g->base, before) - 1;
    if (fabs(off) <= fmax(w->rules.line.drift, NOISE_SIGMAS * g->noise))
        trust(w, gpu, "its canary is back on its level");
    else
        strike(w, gpu, off);
}

/* ---- what is told ---- */

void warden_measured(struct warden *w, int gpu, int job, double at_s)
{
    struct watched *g = watched(w, gpu);

    g->since++;
    if (job < 0)
        return;
    w->records[job].is_there = true;
    w->records[job].gpu = gpu;
    w->records[job].at_s = at_s;
}

void warden_again_ended(struct warden *w, int gpu, int job, bool done)
{
    struct record *record = &w->records[job];

    w->gpus[gpu].flying--;
    record->in_doubt = !done && record->repeats < REPEATS_MAX;
    if (record->in_doubt)
        fifo_push(&w->doubts, job);
}

void warden_canary(struct warden *w, int gpu, double at_s, double seconds)
{
    struct watched *g = watched(w, gpu);

    assert(seconds > 0);
    add_canary(g, gpu, at_s, seconds);
    g->pending = false;
    g->wrong = g->gone = 0;
    w->was_right = true;
    if (g->trust == QUARANTINED)
        return;
    doubt_windows(w, gpu);
    judge(w, gpu);
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
    struct watched *g = watched(w, gpu);
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
        quarantine(w, gpu, text);
    else if (g->wrong == WRONG_MAX)
        say(w, WARDEN_SAY, gpu,
            "%s; as it was right nowhere, the GPU is not to blame", text);
}

void warden_canary_gone(struct warden *w, int gpu)
{
    struct watched *g = watched(w, gpu);

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

/* Where it was, else anywhere; -1 for now nowhere. */
static int place_for(const struct warden *w, const struct record *record)
{
    const struct watched *own = &w->gpus[record->gpu];

    if (is_usable(own))
        return own->flying < w->rules.every ? record->gpu : -1;
    if (own->up && own->trust == RESTING)
        return -1;
    for (int i = 0; i < w->n_gpus; i++)
        if (is_usable(&w->gpus[i]) && w->gpus[i].flying < w->rules.every)
            return i;
    return -1;
}

static bool next_again(struct warden *w, struct warden_step *out)
{
    for (int i = 0; i < w->doubts.n; i++) {
        int job = fifo_peek(&w->doubts, i);
        struct record *record = &w->records[job];
        int gpu = place_for(w, record);

        if (gpu < 0)
            continue;
        fifo_remove(&w->doubts, i);
        w->gpus[gpu].flying++;
        record->repeats++;
        *out =
            (struct warden_step){ .act = WARDEN_AGAIN, .gpu = gpu, .job = job };
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
    return next_canary(w, now_s, over, out) || next_again(w, out);
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
    watched(w, gpu)->trust = QUARANTINED;
}

bool warden_is_trusted(const struct warden *w, int gpu)
{
    return gpu >= w->n_gpus || w->gpus[gpu].trust == TRUSTED;
}

bool warden_is_quarantined(const struct warden *w, int gpu)
{
    return gpu < w->n_gpus && w->gpus[gpu].trust == QUARANTINED;
}
