#include "coordinator/confirm.h"

#include <assert.h>
#include <stdlib.h>

#include "common/mem.h"
#include "common/prng.h"

/* As many again, and some: a machine that breaks more is not fit for it. */
#define BROKEN_SLACK 10

struct card {
    bool up;
    int complete;
    int block; /* that runs on it, 0 none */
};

struct run {
    int number;
    int n, left;
    struct confirm_step *steps;
    bool *done;
};

struct confirm {
    struct confirm_design design;
    struct card *cards;
    struct run *runs; /* of the card with the same index */
    int n_cards;
    bool *out; /* contestants */
    int *crashes;
    int last; /* number given to a block */
    int complete, broken;
};

struct confirm *confirm_new(const struct confirm_design *design)
{
    struct confirm *c = mem_new(1, sizeof(*c));

    assert(design->contestants >= 1 && design->shapes >= 1);
    c->design = *design;
    c->out = mem_new((size_t)design->contestants, sizeof(*c->out));
    c->crashes = mem_new((size_t)design->contestants, sizeof(*c->crashes));
    return c;
}

static void end_run(struct confirm *c, int gpu)
{
    free(c->runs[gpu].steps);
    free(c->runs[gpu].done);
    c->runs[gpu] = (struct run){ 0 };
    c->cards[gpu].block = 0;
}

void confirm_free(struct confirm *c)
{
    if (!c)
        return;
    for (int gpu = 0; gpu < c->n_cards; gpu++)
        end_run(c, gpu);
    free(c->cards);
    free(c->runs);
    free(c->out);
    free(c->crashes);
    free(c);
}

static struct card *card_of(struct confirm *c, int gpu)
{
    if (gpu >= c->n_cards) {
        size_t n = (size_t)gpu + 1;

        c->cards = mem_grow(c->cards, n, sizeof(*c->cards));
        c->runs = mem_grow(c->runs, n, sizeof(*c->runs));
        for (; c->n_cards <= gpu; c->n_cards++) {
            c->cards[c->n_cards] = (struct card){ 0 };
            c->runs[c->n_cards] = (struct run){ 0 };
        }
    }
    return &c->cards[gpu];
}

void confirm_had(struct confirm *c, int block, int gpu, bool complete)
{
    struct card *card = card_of(c, gpu);

    if (block > c->last)
        c->last = block;
    card->complete += complete;
    c->complete += complete;
    c->broken += !complete;
}

void confirm_gpu(struct confirm *c, int gpu, bool up)
{
    card_of(c, gpu)->up = up;
}

static int cards_up(const struct confirm *c)
{
    int n = 0;

    for (int gpu = 0; gpu < c->n_cards; gpu++)
        n += c->cards[gpu].up;
    return n;
}

static int running(const struct confirm *c)
{
    int n = 0;

    for (int gpu = 0; gpu < c->n_cards; gpu++)
        n += c->cards[gpu].block != 0;
    return n;
}

/* Complete ones that this card should come to. */
static int share(const struct confirm *c)
{
    int up = cards_up(c);
    int even = up ? (c->design.blocks + up - 1) / up : c->design.blocks;

    return even > c->design.gpu_blocks ? even : c->design.gpu_blocks;
}

static bool wants_block(const struct confirm *c, const struct card *card)
{
    if (!card->up || card->block)
        return false;
    return card->complete < c->design.gpu_blocks ||
           (c->complete + running(c) < c->design.blocks &&
            card->complete < share(c));
}

static void shuffle(struct prng *prng, struct confirm_step *steps, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = (int)prng_below(prng, (uint64_t)i + 1);
        struct confirm_step held = steps[i];

        steps[i] = steps[j];
        steps[j] = held;
    }
}

/* The order depends on the seed and the number alone. */
static void draw(const struct confirm *c, struct run *run)
{
    const struct confirm_design *design = &c->design;
    size_t most = (size_t)design->contestants * (size_t)design->shapes;
    struct prng prng;

    run->steps = mem_new(most, sizeof(*run->steps));
    run->done = mem_new(most, sizeof(*run->done));
    run->n = 0;
    prng_init(&prng, design->seed ^ (uint64_t)run->number << 32);
    for (int shape = 0; shape < design->shapes; shape++) {
        int first = run->n;

        for (int i = 0; i < design->contestants; i++)
            if (!c->out[i])
                run->steps[run->n++] = (struct confirm_step){ i, shape };
        shuffle(&prng, &run->steps[first], run->n - first);
    }
    run->left = run->n;
}

bool confirm_next(struct confirm *c, struct confirm_block *out)
{
    int best = -1;

    if (confirm_failed(c) || c->last >= CONFIRM_BLOCKS_MAX)
        return false;
    for (int gpu = 0; gpu < c->n_cards; gpu++)
        if (wants_block(c, &c->cards[gpu]) &&
            (best < 0 || c->cards[gpu].complete < c->cards[best].complete))
            best = gpu;
    if (best < 0)
        return false;
    c->runs[best].number = c->cards[best].block = ++c->last;
    draw(c, &c->runs[best]);
    *out = (struct confirm_block){ c->last, best, c->runs[best].n,
                                   c->runs[best].steps };
    return true;
}

static int card_at(const struct confirm *c, int block)
{
    for (int gpu = 0; gpu < c->n_cards; gpu++)
        if (c->cards[gpu].block == block)
            return gpu;
    return -1;
}

bool confirm_measured(struct confirm *c, int block, int step)
{
    int gpu = card_at(c, block);
    struct run *run;

    if (gpu < 0)
        return false; /* broken meanwhile */
    run = &c->runs[gpu];
    assert(step >= 0 && step < run->n);
    run->left -= !run->done[step];
    run->done[step] = true;
    if (run->left > 0)
        return false;
    end_run(c, gpu);
    c->cards[gpu].complete++;
    c->complete++;
    return true;
}

void confirm_broken(struct confirm *c, int block)
{
    int gpu = card_at(c, block);

    if (gpu < 0)
        return;
    end_run(c, gpu);
    c->broken++;
}

bool confirm_crashed(struct confirm *c, int block, int contestant)
{
    confirm_broken(c, block);
    if (++c->crashes[contestant] < CONFIRM_CRASHES)
        return false;
    c->out[contestant] = true;
    return true;
}

void confirm_out(struct confirm *c, int contestant)
{
    c->out[contestant] = true;
}

bool confirm_is_out(const struct confirm *c, int contestant)
{
    return c->out[contestant];
}

bool confirm_done(const struct confirm *c)
{
    if (running(c) || c->complete < c->design.blocks)
        return false;
    for (int gpu = 0; gpu < c->n_cards; gpu++)
        if (wants_block(c, &c->cards[gpu]))
            return false;
    return true;
}

bool confirm_failed(const struct confirm *c)
{
    int left = 0;

    for (int i = 1; i < c->design.contestants; i++)
        left += !c->out[i];
    return c->out[0] || left == 0 ||
           c->broken > c->design.blocks + BROKEN_SLACK;
}

int confirm_complete(const struct confirm *c)
{
    return c->complete;
}

int confirm_broke(const struct confirm *c)
{
    return c->broken;
}

int confirm_wanted(const struct confirm *c)
{
    int wanted = 0;

    for (int gpu = 0; gpu < c->n_cards; gpu++)
        if (c->cards[gpu].up)
            wanted += c->design.gpu_blocks;
        else
            wanted += c->cards[gpu].complete;
    return wanted > c->design.blocks ? wanted : c->design.blocks;
}
