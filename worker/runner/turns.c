#include "worker/runner/turns.h"

#include <string.h>

/* splitmix64's step, as of fill_random.h */
static uint64_t draw(struct turns *turns)
{
    turns->state += 0x9e3779b97f4a7c15u;
    return fill_mix(turns->state);
}

void turns_init(struct turns *turns, const struct problem *problem,
                uint64_t key)
{
    memset(turns, 0, sizeof(*turns));
    turns->problem = problem;
    turns->state = key;
}

void turns_renew(struct turns *turns, const struct problem *problem)
{
    turns->problem = problem;
    turns->done = 0;
    turns->launched = turns->kept = false;
    memset(turns->known, 0, sizeof(turns->known));
}

void turns_arrange(struct turns *turns, enum l2_mode l2)
{
    turns->l2 = l2;
    turns->done = 0;
}

/* One of those that this round has not had. */
static enum poison_kind any_kind(struct turns *turns)
{
    unsigned kind;

    if (turns->had == (1u << POISON_KINDS) - 1)
        turns->had = 0;
    do
        kind = (unsigned)(draw(turns) % POISON_KINDS);
    while (turns->had >> kind & 1u);
    return (enum poison_kind)kind;
}

struct poison turns_poison(struct turns *turns)
{
    enum poison_kind kind =
        turns->poisoned ? any_kind(turns) : POISON_UNWRITTEN;

    turns->poisoned = true;
    turns->had |= 1u << kind;
    return (struct poison){ kind, draw(turns) };
}

bool turns_keep(struct turns *turns)
{
    turns->kept = turns->launched && !turns->kept;
    turns->launched = true;
    return turns->kept;
}

/* Its workspaces are poisoned. */
static bool poison_all(struct turns *turns)
{
    turns->launched = true;
    return turns->kept = false;
}

static const struct trial *any_trial(struct turns *turns)
{
    return &turns->problem->trials[draw(turns) % turns->problem->n_seeds];
}

static const struct trial *next_trial(struct turns *turns)
{
    const struct problem *problem = turns->problem;
    size_t done = turns->done++, turn;

    if (turns->l2 == L2_MODE_WARM) {
        if (done % TURNS_WARM == 0)
            turns->warm = any_trial(turns);
        return turns->warm;
    }
    if (turns->l2 != L2_MODE_ROTATE || problem->n_copies == 0)
        /* all of them first, so that their outputs are known soon */
        return done < problem->n_seeds ? &problem->trials[done]
                                       : any_trial(turns);
    turn = done % (problem->n_copies + 1);
    /* what came before used the originals, so those come last */
    return turn < problem->n_copies ? &problem->copies[turn]
                                    : &problem->trials[0];
}

void turns_take(struct turns *turns, size_t n, bool counted)
{
    static const uint64_t unknown[WIRE_ARGS_MAX];
    const struct problem *problem = turns->problem;

    for (size_t i = 0; i < n; i++) {
        bool first = turns->done % TURNS_WARM == 0;
        const struct trial *values = next_trial(turns);
        const struct trial *original = &problem->trials[values->number];

        problem_args(problem, values, problem->outputs, &turns->args[i]);
        turns->trials[i] = original;
        turns->batch[i] = (struct device_turn){
            .args = turns->args[i].argv,
            .starts = original->inputs,
            .references = original->references,
            .sums = turns->varied ? unknown : turns->known[original->number],
            .poison = turns_poison(turns),
            .kept = counted ? poison_all(turns) : turns_keep(turns),
            .led = turns->l2 == L2_MODE_WARM && first && counted,
        };
    }
}

void turns_learn(struct turns *turns, unsigned trial, size_t argument,
                 uint64_t sum)
{
    uint64_t *known = &turns->known[trial][argument];

    if (*known != 0 && *known != sum)
        turns->varied = true;
    *known = sum;
}
