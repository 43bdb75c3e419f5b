#include "coordinator/confirm/external_schedule.h"

#include <assert.h>
#include <limits.h>
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
    bool timed; /* it has a time at some shape */
};

struct place {
    bool off;
    int lost;    /* runs lost in a row */
    bool *timed; /* shapes */
};

struct external_schedule {
    struct external_schedule_design design;
    struct place *places; /* hosts */
    int taken;            /* blocks joined, of design.blocks */
    struct joined *joined;
    size_t n_joined;
    struct run *runs;
    size_t n_runs;
};

int external_schedule_blocks(int asked, size_t needed, int first, bool decides)
{
    if (decides)
        return INT_MAX;
    if (asked > first)
        asked = first;
    return (size_t)asked < needed ? (int)needed : asked;
}

struct external_schedule *
external_schedule_new(const struct external_schedule_design *design)
{
    struct external_schedule *e = mem_new(1, sizeof(*e));

    e->design = *design;
    e->places = mem_new((size_t)design->hosts, sizeof(*e->places));
    for (int host = 0; host < design->hosts; host++)
        e->places[host].timed = mem_new((size_t)design->shapes, sizeof(bool));
    return e;
}

void external_schedule_free(struct external_schedule *e)
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

void external_schedule_had(struct external_schedule *e, int blocks)
{
    e->taken += blocks;
}

void external_schedule_failed(struct external_schedule *e, int host)
{
    e->places[host].off = true;
}

bool external_schedule_is_off(const struct external_schedule *e, int host)
{
    return e->places[host].off;
}

enum external_schedule_answer
external_schedule_ask(const struct external_schedule *e, int host, int shape)
{
    const struct place *place = &e->places[host];

    assert(shape >= 0 && shape < e->design.shapes);
    if (place->off)
        return EXTERNAL_SCHEDULE_NO;
    for (size_t i = 0; i < e->n_runs && !place->timed[shape]; i++)
        if (e->runs[i].host == host && e->runs[i].on_trial)
            return EXTERNAL_SCHEDULE_LATER;
    return EXTERNAL_SCHEDULE_YES;
}

enum external_schedule_answer
external_schedule_join(struct external_schedule *e, int round, int host,
                       int shape)
{
    enum external_schedule_answer answer =
        external_schedule_ask(e, host, shape);

    if (answer == EXTERNAL_SCHEDULE_NO || e->taken >= e->design.blocks)
        return EXTERNAL_SCHEDULE_NO;
    if (answer == EXTERNAL_SCHEDULE_LATER)
        return EXTERNAL_SCHEDULE_LATER;
    e->joined = mem_grow(e->joined, e->n_joined + 1, sizeof(*e->joined));
    e->joined[e->n_joined++] = (struct joined){ .round = round };
    e->taken++;
    return EXTERNAL_SCHEDULE_YES;
}

static struct joined *find_joined(const struct external_schedule *e, int round)
{
    for (size_t i = 0; i < e->n_joined; i++)
        if (e->joined[i].round == round)
            return &e->joined[i];
    return NULL;
}

static void leave(struct external_schedule *e, int round, bool counts)
{
    struct joined *joined = find_joined(e, round);

    if (!joined)
        return;
    if (!counts || !joined->timed)
        e->taken--;
    *joined = e->joined[--e->n_joined];
}

void external_schedule_complete(struct external_schedule *e, int round)
{
    leave(e, round, true);
}

void external_schedule_broken(struct external_schedule *e, int round)
{
    leave(e, round, false);
}

void external_schedule_begin(struct external_schedule *e, int64_t id, int round,
                             int host, int shape)
{
    assert(external_schedule_ask(e, host, shape) == EXTERNAL_SCHEDULE_YES);
    e->runs = mem_grow(e->runs, e->n_runs + 1, sizeof(*e->runs));
    e->runs[e->n_runs++] =
        (struct run){ .id = id,
                      .round = round,
                      .host = host,
                      .shape = shape,
                      .on_trial = !e->places[host].timed[shape] };
}

static void note_time(struct external_schedule *e, const struct run *run)
{
    struct joined *joined = find_joined(e, run->round);

    e->places[run->host].timed[run->shape] = true;
    e->places[run->host].lost = 0;
    if (joined)
        joined->timed = true;
}

bool external_schedule_end(struct external_schedule *e, int64_t id,
                           enum external_schedule_end how)
{
    for (size_t i = 0; i < e->n_runs; i++) {
        struct run run = e->runs[i];

        if (run.id != id)
            continue;
        e->runs[i] = e->runs[--e->n_runs];
        if (how == EXTERNAL_SCHEDULE_TIMED)
            note_time(e, &run);
        else if (how == EXTERNAL_SCHEDULE_FAILED)
            external_schedule_failed(e, run.host);
        return true;
    }
    return false;
}

bool external_schedule_lost(struct external_schedule *e, int host)
{
    struct place *place = &e->places[host];

    if (++place->lost < e->design.attempts)
        return false;
    place->off = true;
    return true;
}

int64_t external_schedule_at(const struct external_schedule *e, size_t i,
                             int *round, int *host)
{
    if (i >= e->n_runs)
        return 0;
    *round = e->runs[i].round;
    *host = e->runs[i].host;
    return e->runs[i].id;
}

bool external_schedule_runs(const struct external_schedule *e, int round)
{
    for (size_t i = 0; i < e->n_runs; i++)
        if (e->runs[i].round == round)
            return true;
    return false;
}
