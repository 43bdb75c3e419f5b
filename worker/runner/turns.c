#include "worker/runner/turns.h"

#include <string.h>

/* splitmix64's step, as of fill_random.h */
static uint64_t draw(struct turns *turns)
{
    turns->state += 0x9e3779b97f4a7c15u;
    return fill_mix(turns->state);
}

/* Does a launch find its inputs where the last one had its own? */
static bool in_place(const struct turns *turns)
{
    return turns->l2 == L2_MODE_WARM && turns->problem->has_live;
}

void turns_init(struct turns *turns, const struct problem *problem,
                uint64_t key)
{
    memset(turns, 0, sizeof(*turns));
    turns->problem = problem;
    turns->state = key;
}

void turns_arrange(struct turns *turns, enum l2_mode l2)
{
    const struct problem *problem = turns->problem;

    turns->l2 = l2;
    for (size_t i = 0; i < problem->n_args; i++)
        turns->written[i] = in_place(turns) && problem->live.inputs[i]
                                ? problem->live.inputs[i]
                                : problem->outputs[i];
}

struct poison turns_poison(struct turns *turns)
{
    enum poison_kind kind = turns->poisoned
                                ? (enum poison_kind)(draw(turns) % POISON_KINDS)
                                : POISON_UNWRITTEN;

    turns->poisoned = true;
    return (struct poison){ kind, draw(turns) };
}

static const struct trial *next_trial(struct turns *turns)
{
    const struct problem *problem = turns->problem;
    size_t turn;

    if (turns->l2 != L2_MODE_ROTATE || problem->n_copies == 0)
        return &problem->trials[draw(turns) % problem->n_seeds];
    turn = turns->done++ % (problem->n_copies + 1);
    /* what came before used the originals, so those come last */
    return turn < problem->n_copies ? &problem->copies[turn]
                                    : &problem->trials[0];
}

void turns_take(struct turns *turns, size_t n)
{
    const struct problem *problem = turns->problem;

    turns->n = n;
    for (size_t i = 0; i < n; i++) {
        const struct trial *values = next_trial(turns);
        const struct trial *original = &problem->trials[values->number];

        resident_problem_args(problem,
                              in_place(turns) ? &problem->live : values,
                              problem->outputs, &turns->args[i]);
        turns->trials[i] = original;
        turns->batch[i] = (struct device_turn){
            .args = turns->args[i].argv,
            .starts = original->inputs,
            .references = original->references,
            .sums = turns->known[original->number],
            .poison = turns_poison(turns),
        };
    }
}

bool turns_last(const struct turns *turns, struct trial *out)
{
    if (!in_place(turns) || turns->n == 0)
        return false;
    *out = turns->problem->live;
    memcpy(out->input_sums, turns->trials[turns->n - 1]->input_sums,
           sizeof(out->input_sums));
    return true;
}

void turns_learn(struct turns *turns, unsigned trial, size_t argument,
                 uint64_t sum)
{
    turns->known[trial][argument] = sum;
}
