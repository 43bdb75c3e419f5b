#include "coordinator/costs/gpu_time.h"

#include <stdlib.h>
#include <string.h>

#include "common/int64.h"
#include "common/mem.h"

struct edge {
    int64_t at;
    enum gpu_time_kind kind;
    int step; /* 1: a span begins, -1: it ends */
};

const char *gpu_time_name(enum gpu_time_kind kind)
{
    static const char *const names[] = {
        [GPU_TIME_MEASURING] = "measuring",
        [GPU_TIME_EXTERNAL] = "external",
        [GPU_TIME_LOST] = "lost",
        [GPU_TIME_SETUP] = "setup",
        [GPU_TIME_WAITING] = "waiting",
        [GPU_TIME_IDLE] = "idle",
        [GPU_TIME_PROOF] = "proof",
        [GPU_TIME_CONFIRMATION] = "confirmation",
        [GPU_TIME_OTHER] = "other",
    };

    return names[kind];
}

struct gpu_time_window gpu_time_window(const char *phase, int64_t begin,
                                       int64_t end)
{
    struct gpu_time_window window = { begin, end, 0, GPU_TIME_OTHER };

    if (strcmp(phase, "search") == 0) {
        window.kinds = (1U << GPU_TIME_IDLE) - 1;
        window.rest = GPU_TIME_IDLE;
    } else if (strcmp(phase, "confirm") == 0) {
        window.kinds = 1U << GPU_TIME_EXTERNAL | 1U << GPU_TIME_LOST;
        window.rest = GPU_TIME_CONFIRMATION;
    } else if (strcmp(phase, "proof") == 0) {
        window.rest = GPU_TIME_PROOF;
    }
    return window;
}

static int by_time(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

static size_t edges_in(const struct gpu_time_span *spans, size_t n,
                       const struct gpu_time_window *window, struct edge *edges)
{
    size_t n_edges = 0;

    for (size_t i = 0; i < n; i++) {
        int64_t begin = int64_max(spans[i].begin, window->begin);
        int64_t end = spans[i].end < window->end ? spans[i].end : window->end;

        if (begin >= end || !(window->kinds & 1U << spans[i].kind))
            continue;
        edges[n_edges++] = (struct edge){ begin, spans[i].kind, 1 };
        edges[n_edges++] = (struct edge){ end, spans[i].kind, -1 };
    }
    if (n_edges > 0)
        qsort(edges, n_edges, sizeof(*edges), by_time);
    return n_edges;
}

static enum gpu_time_kind first_of(const int open[GPU_TIME_KINDS],
                                   enum gpu_time_kind rest)
{
    for (int kind = 0; kind < GPU_TIME_KINDS; kind++)
        if (open[kind] > 0)
            return (enum gpu_time_kind)kind;
    return rest;
}

void gpu_time_split(const struct gpu_time_span *spans, size_t n,
                    const struct gpu_time_window *window,
                    int64_t ns[GPU_TIME_KINDS])
{
    struct edge *edges = mem_new(2 * n + 1, sizeof(*edges));
    size_t n_edges = edges_in(spans, n, window, edges);
    int open[GPU_TIME_KINDS] = { 0 };
    int64_t at = window->begin;

    for (size_t i = 0; i < n_edges; i++) {
        ns[first_of(open, window->rest)] += edges[i].at - at;
        at = edges[i].at;
        open[edges[i].kind] += edges[i].step;
    }
    if (window->end > at)
        ns[window->rest] += window->end - at;
    free(edges);
}
