#include "coordinator/rental/rental_plan.h"

#include <math.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/estimate/estimate.h"

/* Login, upload and the worker's start on a machine that is up: tests on
 * loopback take 1 to 2 s, boxes far away up to 10 s. */
#define SETUP_S 3.0
/* An idle GPU is kept for so long beyond its boot, because estimates err. */
#define IDLE_S 10.0

static const char *const goal_names[] = { "balanced", "cheapest", "fastest" };

int rental_goal_read(const char *word, enum rental_goal *out, struct err *err)
{
    for (size_t i = 0; i < sizeof(goal_names) / sizeof(goal_names[0]); i++)
        if (strcmp(word, goal_names[i]) == 0) {
            *out = (enum rental_goal)i;
            return 0;
        }
    return err_set(err, ERR_INPUT,
                   "--plan=%s: choose cheapest, balanced or fastest", word);
}

const char *rental_goal_name(enum rental_goal goal)
{
    return goal_names[goal];
}

struct problem {
    enum rental_goal goal;
    const struct rental_work *work;
    const struct rental_machine *machines;
    size_t n;
    bool *wanted;
    bool only_builds; /* which builders?  Some GPU will measure */
    bool is_late;     /* boxes with GPUs come when the builds end */
};

static bool is_builder(const struct rental_machine *machine)
{
    return machine->builds && !machine->measures;
}

static double build_s(const struct problem *p)
{
    int slots = 0;

    for (size_t i = 0; i < p->n; i++)
        if (p->wanted[i] && p->machines[i].builds &&
            !(p->is_late && p->machines[i].measures))
            slots += p->machines[i].slots;
    if (p->work->builds == 0)
        return 0;
    return slots > 0 ? p->work->builds * p->work->build_s / slots
                     : (double)INFINITY;
}

static double measure_s(const struct problem *p)
{
    int gpus = 0;

    for (size_t i = 0; i < p->n; i++)
        if (p->wanted[i] && p->machines[i].measures)
            gpus += p->machines[i].gpus;
    if (p->work->measurements == 0 || (gpus == 0 && p->only_builds))
        return 0;
    return gpus > 0 ? p->work->measurements * p->work->measurement_s / gpus
                    : (double)INFINITY;
}

static double ready_s(const struct rental_machine *machine)
{
    if (!machine->is_rented || machine->is_busy)
        return 0;
    return machine->is_held
               ? fmax(0, machine->boot_s + SETUP_S - machine->held_s)
               : machine->boot_s + SETUP_S;
}

static double billed_s(const struct rental_machine *m, double held_s)
{
    return estimate_billed_s(held_s, m->min_s, m->round_s);
}

static bool comes_late(const struct problem *p, const struct rental_machine *m)
{
    return m->measures && (p->is_late || !m->builds);
}

/* From now until all builds have ended: machines that build boot first. */
static double built_s(const struct problem *p)
{
    double wait = 0;

    if (p->work->builds == 0)
        return 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->wanted[i] && !comes_late(p, &p->machines[i]))
            wait = fmax(wait, ready_s(&p->machines[i]));
    return wait + build_s(p);
}

/* Seconds and dollars from now to the end, if the wanted machines are held for
 * what they can do: a builder to the end, a GPU box for the measurements, or
 * from now on if it builds, too. */
static double score(const struct problem *p)
{
    double measures = measure_s(p), start = built_s(p), usd = 0, all;

    for (size_t i = 0; i < p->n; i++)
        if (p->wanted[i])
            start = fmax(start, ready_s(&p->machines[i]));
    all = start + measures;
    for (size_t i = 0; i < p->n; i++) {
        const struct rental_machine *m = &p->machines[i];
        double held = comes_late(p, m) ? ready_s(m) + measures : all;

        if (p->wanted[i] && isfinite(all))
            usd += m->rate / 3600 * (billed_s(m, m->held_s + held) - m->held_s);
    }
    switch (p->goal) {
    case RENTAL_GOAL_CHEAPEST:
        return isfinite(all) ? usd : all;
    case RENTAL_GOAL_FASTEST:
        return all;
    case RENTAL_GOAL_BALANCED:
        break;
    }
    return usd > 0 ? usd * all : all;
}

/* Those of a pool, mostly. */
static bool is_same(const struct rental_machine *a,
                    const struct rental_machine *b)
{
    return a->is_busy == b->is_busy && a->measures == b->measures &&
           a->builds == b->builds && a->slots == b->slots &&
           a->gpus == b->gpus && a->rate == b->rate && a->boot_s == b->boot_s &&
           a->min_s == b->min_s && a->round_s == b->round_s &&
           a->held_s == b->held_s;
}

/* Add the first machine of one kind, held or not, that makes it better. */
static bool add_one(struct problem *p, bool builders, bool held)
{
    const struct rental_machine *tried = NULL;
    double before = score(p);

    for (size_t i = 0; i < p->n; i++) {
        const struct rental_machine *m = &p->machines[i];

        if (p->wanted[i] || m->is_lost || m->is_held != held ||
            is_builder(m) != builders || (tried && is_same(m, tried)))
            continue;
        p->wanted[i] = true;
        if (score(p) < before)
            return true;
        p->wanted[i] = false;
        tried = m;
    }
    return false;
}

/* Add machines of one kind, those that are held first, as long as one of them
 * makes it better. */
static void add(struct problem *p, bool builders)
{
    p->only_builds = builders;
    while (add_one(p, builders, true) || add_one(p, builders, false))
        continue;
}

/* What the others cost while they wait for this machine. */
static double waiting_rate(const struct problem *p,
                           const struct rental_machine *m)
{
    double rate = 0;

    for (size_t i = 0; i < p->n; i++)
        if (p->wanted[i] && !comes_late(p, &p->machines[i]) &&
            &p->machines[i] != m)
            rate += p->machines[i].rate;
    return rate;
}

/* So long before the builds end a GPU begins to measure, to end with them.
 * Before the pace of measurements is known, that is a guess: too soon costs the
 * price of the GPU, too late that of those who wait for it. */
static double overlap_s(const struct problem *p, const struct rental_machine *m)
{
    double measures = measure_s(p), waits;

    if (p->work->is_measured)
        return measures;
    if (p->goal == RENTAL_GOAL_BALANCED)
        return measures / 2;
    waits = waiting_rate(p, m);
    return waits > 0 ? measures * waits / (waits + m->rate) : 0;
}

/* A GPU box for itself is there when all but the last builds have ended, and
 * not sooner.  One that is held stays if it would be started again soon, or is
 * paid for. */
static bool is_due(const struct problem *p, const struct rental_machine *m)
{
    double left = built_s(p), lead = m->boot_s + SETUP_S + overlap_s(p, m);

    /* A guess is the mean of a long tail: most builds take far less. */
    if (!p->work->is_built && p->goal == RENTAL_GOAL_BALANCED)
        left -= build_s(p) / 2;
    if (p->goal == RENTAL_GOAL_FASTEST || left <= lead)
        return true;
    return m->is_held &&
           (m->is_busy ||
            left <= lead + IDLE_S + billed_s(m, m->held_s) - m->held_s);
}

/* The device must tell its facts before there is a plan. */
static void want_one_gpu(struct problem *p)
{
    for (int held = 1; held >= 0; held--)
        for (size_t i = 0; i < p->n; i++)
            if (p->machines[i].measures && !p->machines[i].is_lost &&
                p->machines[i].is_held == held) {
                p->wanted[i] = true;
                return;
            }
}

static bool has_gpu(const struct problem *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->wanted[i] && p->machines[i].measures)
            return true;
    return false;
}

/* Choose the machines, if GPUs come late or build from the start; returns the
 * score. */
static double choose(struct problem *p, bool is_late)
{
    p->is_late = is_late;
    for (size_t i = 0; i < p->n; i++)
        p->wanted[i] = !p->machines[i].is_rented && !p->machines[i].is_lost;
    if (p->work->builds > 0)
        add(p, true);
    if (p->work->is_known && p->work->measurements + p->work->builds > 0)
        add(p, false);
    return score(p);
}

void rental_plan(enum rental_goal goal, const struct rental_work *work,
                 const struct rental_machine *machines, size_t n, bool *wanted)
{
    struct problem p = { .goal = goal,
                         .work = work,
                         .machines = machines,
                         .n = n,
                         .wanted = wanted };

    if (!(choose(&p, true) <= choose(&p, false)))
        p.is_late = false;
    else
        choose(&p, true);
    if ((!work->is_known || work->is_paced) && !has_gpu(&p))
        want_one_gpu(&p);
    for (size_t i = 0; i < n; i++) {
        const struct rental_machine *m = &machines[i];

        if (!m->is_rented)
            continue;
        if (wanted[i] && m->measures && p.is_late && work->is_known &&
            !work->is_paced)
            wanted[i] = is_due(&p, m);
        /* artifacts are fetched from it; work that runs is not cut off */
        if (m->is_held && (m->is_busy || m->serves || is_builder(m)))
            wanted[i] = true;
    }
}
