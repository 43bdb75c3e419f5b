/* Measurements, and which of them are in doubt and made again. */
#include "coordinator/warden_state.h"

#include <stdlib.h>

#include "common/mem.h"

#define REPEATS_MAX 2 /* of one measurement */
#define NOISE_FROM 6  /* canaries, for their noise to be known */

void warden_had(struct warden *w, int gpu, int job, int repeats, double at_s)
{
    struct record *record = &w->records[job];

    warden_watched(w, gpu);
    if (record->is_there && record->at_s > at_s)
        return;
    *record = (struct record){
        .is_there = true, .gpu = gpu, .repeats = repeats, .at_s = at_s
    };
}

void warden_measured(struct warden *w, int gpu, int job, double at_s)
{
    struct watched *g = warden_watched(w, gpu);

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

static void cap(struct warden *w)
{
    if (!w->capped)
        warden_say(
            w, WARDEN_SAY, -1,
            "%d measurements were repeated, the most; what is in doubt from "
            "here on stays as it is",
            w->rules.again_max);
    w->capped = true;
}

int warden_doubt(struct warden *w, int gpu, double from_s, double to_s)
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
void warden_doubt_windows(struct warden *w, int gpu)
{
    struct watched *g = &w->gpus[gpu];
    struct calibration *line = calibration_new(g->canaries, g->n);
    struct calibration_window *windows = mem_new(g->n, sizeof(*windows));
    size_t n = calibration_windows(line, &w->rules.line, windows);
    struct calibration_gpu found;

    calibration_gpu(line, 0, &w->rules.line, &found);
    g->noise = g->n < NOISE_FROM ? 0 : found.noise;
    for (size_t i = 0; i < n; i++) {
        int jobs = warden_doubt(w, gpu, windows[i].from_s, windows[i].to_s);

        if (jobs)
            warden_say(
                w, WARDEN_SAY, gpu,
                "its canary moved by %+.1f %%; %d measurement%s in between %s "
                "repeated",
                100 * windows[i].change, jobs, jobs == 1 ? "" : "s",
                jobs == 1 ? "is" : "are");
    }
    free(windows);
    calibration_free(line);
}

/* Where it was, else anywhere; -1 for now nowhere. */
static int place_for(const struct warden *w, const struct record *record)
{
    const struct watched *own = &w->gpus[record->gpu];

    if (warden_is_usable(own))
        return own->flying < w->rules.every ? record->gpu : -1;
    if (own->up && own->trust == RESTING)
        return -1;
    for (int i = 0; i < w->n_gpus; i++)
        if (warden_is_usable(&w->gpus[i]) && w->gpus[i].flying < w->rules.every)
            return i;
    return -1;
}

bool warden_next_again(struct warden *w, struct warden_step *out)
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
