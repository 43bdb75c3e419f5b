/* The list of GPUs, and the queue of steps for the caller. */
#include "coordinator/schedule/gpu_trust_internal.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/mem.h"

struct watched *gpu_trust_watched(struct gpu_trust *w, int gpu)
{
    if (gpu >= w->n_gpus) {
        w->gpus = mem_grow(w->gpus, (size_t)gpu + 1, sizeof(*w->gpus));
        while (w->n_gpus <= gpu)
            w->gpus[w->n_gpus++] = (struct watched){ 0 };
    }
    return &w->gpus[gpu];
}

bool gpu_trust_is_usable(const struct watched *g)
{
    return g->up && g->trust == TRUSTED;
}

void gpu_trust_say(struct gpu_trust *w, enum gpu_trust_act act, int gpu,
                   const char *fmt, ...)
{
    struct gpu_trust_step step = { .act = act, .gpu = gpu, .job = -1 };
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(step.text, sizeof(step.text), fmt, ap);
    va_end(ap);
    w->steps = mem_grow(w->steps, w->n_steps + 1, sizeof(*w->steps));
    w->steps[w->n_steps++] = step;
}
