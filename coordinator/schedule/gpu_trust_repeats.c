/* Measurements that are in doubt and their repetitions. */
#include "coordinator/schedule/gpu_trust_internal.h"

#include <math.h>
#include <stdlib.h>

#include "common/mem.h"

#define REPEATS_MAX 2 /* repetitions of one measurement */
#define NOISE_FROM 6  /* canaries needed to estimate their noise */

void gpu_trust_had(struct gpu_trust *w, int gpu, int job, int repeats,
                   double at_s)
{
    struct record *record = &w->records[job];

    if (record->is_there && record->at_s > at_s)
        return;
    *record = (struct record){
        .is_there = true, .gpu = gpu, .repeats = repeats, .at_s = at_s
    };
}

void gpu_trust_measured(struct gpu_trust *w, int gpu, int job, double at_s)
{
    struct watched *g = gpu_trust_watched(w, gpu);

    g->since++;
    if (job < 0)
        return;
    w->records[job].is_there = true;
    w->records[job].gpu = gpu;
    w->records[job].at_s = at_s;
}

void gpu_trust_again_ended(struct gpu_trust *w, int gpu, int job, bool done)
{
    struct record *record = &w->records[job];

    w->gpus[gpu].flying--;
    record->in_doubt = !done && record->repeats < REPEATS_MAX;
    if (record->in_doubt)
        int_queue_push(&w->doubts, job);
}

static void cap(struct gpu_trust *w)
{
    if (!w->capped)
        gpu_trust_say(w, GPU_TRUST_SAY, -1,
                      "%d measurements were repeated, which is the limit; "
                      "further doubtful ones are kept without a check",
                      w->rules.again_max);
    w->capped = true;
}

int gpu_trust_doubt(struct gpu_trust *w, int gpu, double from_s, double to_s)
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
        int_queue_push(&w->doubts, job);
        n++;
    }
    return n;
}

/* What a GPU measured before its first canary, while the baseline was not built
 * yet, is as much in doubt as what it measured after that. */
static double window_begins_s(const struct watched *g,
                              const struct canary_calibration_window *window)
{
    return window->from_s > g->canaries[0].at_s ? window->from_s
                                                : -(double)INFINITY;
}

/* Every canary checks all windows again: an early shift may be visible only
 * once it is known how little the canary usually moves. */
void gpu_trust_doubt_windows(struct gpu_trust *w, int gpu)
{
    struct watched *g = &w->gpus[gpu];
    struct canary_calibration *line = canary_calibration_new(g->canaries, g->n);
    struct canary_calibration_window *windows = mem_new(g->n, sizeof(*windows));
    size_t n = canary_calibration_windows(line, &w->rules.line, windows);
    struct canary_calibration_gpu found;

    canary_calibration_gpu(line, 0, &w->rules.line, &found);
    g->noise = g->n < NOISE_FROM ? 0 : found.noise;
    for (size_t i = 0; i < n; i++) {
        int jobs = gpu_trust_doubt(w, gpu, window_begins_s(g, &windows[i]),
                                   windows[i].to_s);

        if (jobs)
            gpu_trust_say(
                w, GPU_TRUST_SAY, gpu,
                "its canary moved by %+.1f %%; %d measurement%s in between %s "
                "repeated",
                100 * windows[i].change, jobs, jobs == 1 ? "" : "s",
                jobs == 1 ? "is" : "are");
    }
    free(windows);
    canary_calibration_free(line);
}

/* The GPU that measured it, otherwise any; -1 if none is free now. */
static int place_for(const struct gpu_trust *w, const struct record *record)
{
    const struct watched *own = &w->gpus[record->gpu];

    if (gpu_trust_is_usable(own))
        return own->flying < w->rules.every ? record->gpu : -1;
    if (own->up && own->trust == RESTING)
        return -1;
    for (int i = 0; i < w->n_gpus; i++)
        if (gpu_trust_is_usable(&w->gpus[i]) &&
            w->gpus[i].flying < w->rules.every)
            return i;
    return -1;
}

bool gpu_trust_next_again(struct gpu_trust *w, struct gpu_trust_step *out)
{
    for (int i = 0; i < w->doubts.n; i++) {
        int job = int_queue_peek(&w->doubts, i);
        struct record *record = &w->records[job];
        int gpu = place_for(w, record);

        if (gpu < 0)
            continue;
        int_queue_remove(&w->doubts, i);
        w->gpus[gpu].flying++;
        record->repeats++;
        *out = (struct gpu_trust_step){ .act = GPU_TRUST_AGAIN,
                                        .gpu = gpu,
                                        .job = job };
        return true;
    }
    return false;
}
