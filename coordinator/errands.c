#include "coordinator/errands.h"

#include <assert.h>
#include <stdlib.h>

#include "common/mem.h"

struct run {
    int64_t id;
    int round, host, shape;
    bool on_trial;
};

/* A block that it joined and that is not over. */
struct joined {
    int round;
    bool timed; /* at one shape at least */
};

struct place {
    bool off;
    int lost;    /* runs, since the last that ended */
    bool *timed; /* shapes */
};

struct errands {
    struct errands_design design;
    struct place *places; /* hosts */
    int taken;            /* of design.blocks */
    struct joined *joined;
    size_t n_joined;
    struct run *runs;
    size_t n_runs;
};

struct errands *errands_new(const struct errands_design *design)
{
    struct errands *e = mem_new(1, sizeof(*e));

    e->design = *design;
    e->places = mem_new((size_t)design->hosts, sizeof(*e->places));
    for (int host = 0; host < design->hosts; host++)
        e->places[host].timed = mem_new((size_t)design->shapes, sizeof(bool));
    return e;
}

void errands_free(struct errands *e)
{
    if (!e)
        return;
    for (int host = 0; host < e->design.hosts; host++)
        free(e->places[host].timed);
    free(e->places);
    free(e->joined);
    free(e->runs);
    free(e);
}

void errands_had(struct errands *e, int blocks)
{
    e->taken += blocks;
}

void errands_failed(struct errands *e, int host)
{
    e->places[host].off = true;
}

bool errands_is_off(const struct errands *e, int host)
{
    return e->places[host].off;
}

enum errands_answer errands_ask(const struct errands *e, int host, int shape)
{
    const struct place *place = &e->places[host];

    assert(shape >= 0 && shape < e->design.shapes);
    if (place->off)
        return ERRANDS_NO;
    for (size_t i = 0; i < e->n_runs && !place->timed[shape]; i++)
        if (e->runs[i].host == host && e->runs[i].on_trial)
            return ERRANDS_LATER;
    return ERRANDS_YES;
}

enum errands_answer errands_join(struct errands *e, int round, int host,
                                 int shape)
{
    enum errands_answer answer = errands_ask(e, host, shape);

    if (answer == ERRANDS_NO || e->taken >= e->design.blocks)
        return ERRANDS_NO;
    if (answer == ERRANDS_LATER)
        return ERRANDS_LATER;
    e->joined = mem_grow(e->joined, e->n_joined + 1, sizeof(*e->joined));
    e->joined[e->n_joined++] = (struct joined){ .round = round };
    e->taken++;
    return ERRANDS_YES;
}

static struct joined *find_joined(const struct errands *e, int round)
{
    for (size_t i = 0; i < e->n_joined; i++)
        if (e->joined[i].round == round)
            return &e->joined[i];
    return NULL;
}

static void leave(struct errands *e, int round, bool counts)
{
    struct joined *joined = find_joined(e, round);

    if (!joined)
        return;
    if (!counts || !joined->timed)
        e->taken--;
    *joined = e->joined[--e->n_joined];
}

void errands_complete(struct errands *e, int round)
{
    leave(e, round, true);
}

void errands_broken(struct errands *e, int round)
{
    leave(e, round, false);
}

void errands_begin(struct errands *e, int64_t id, int round, int host,
                   int shape)
{
    assert(errands_ask(e, host, shape) == ERRANDS_YES);
    e->runs = mem_grow(e->runs, e->n_runs + 1, sizeof(*e->runs));
    e->runs[e->n_runs++] =
        (struct run){ .id = id,
                      .round = round,
                      .host = host,
                      .shape = shape,
                      .on_trial = !e->places[host].timed[shape] };
}

static void note_time(struct errands *e, const struct run *run)
{
    struct joined *joined = find_joined(e, run->round);

    e->places[run->host].timed[run->shape] = true;
    e->places[run->host].lost = 0;
    if (joined)
        joined->timed = true;
}

bool errands_end(struct errands *e, int64_t id, enum errands_end how)
{
    for (size_t i = 0; i < e->n_runs; i++) {
        struct run run = e->runs[i];

        if (run.id != id)
            continue;
        e->runs[i] = e->runs[--e->n_runs];
        if (how == ERRANDS_TIMED)
            note_time(e, &run);
        else if (how == ERRANDS_FAILED)
            errands_failed(e, run.host);
        return true;
    }
    return false;
}

bool errands_lost(struct errands *e, int host)
{
    struct place *place = &e->places[host];

    if (++place->lost < e->design.attempts)
        return false;
    place->off = true;
    return true;
}

int64_t errands_at(const struct errands *e, size_t i, int *round, int *host)
{
    if (i >= e->n_runs)
        return 0;
    *round = e->runs[i].round;
    *host = e->runs[i].host;
    return e->runs[i].id;
}

bool errands_runs(const struct errands *e, int round)
{
    for (size_t i = 0; i < e->n_runs; i++)
        if (e->runs[i].round == round)
            return true;
    return false;
}
