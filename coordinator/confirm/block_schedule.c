#include "coordinator/confirm/block_schedule.h"

#include <assert.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/stats/prng.h"

/* Blocks that may break: as many as were ever wanted, and some.  A machine that
 * breaks more cannot be used. */
#define BROKEN_SLACK 10

struct card {
    bool up;
    int complete;
    int block; /* the block that runs on it, 0 for none */
};

struct run {
    int number;
    int n, left;
    struct block_schedule_step *steps;
    bool *done;
};

struct block_schedule {
    struct block_schedule_design design;
    struct card *cards;
    struct run *runs; /* run of the card with the same index */
    int n_cards;
    bool *out;  /* by candidate: it is out */
    bool *rest; /* ... or not measured for now */
    int *crashes;
    int last; /* highest number given to a block */
    int complete, broken;
    int broken_most; /* more of them, and the pass has failed */
};

struct block_schedule *
block_schedule_new(const struct block_schedule_design *design)
{
    struct block_schedule *c = mem_new(1, sizeof(*c));

    assert(design->candidates >= 1 && design->shapes >= 1);
    c->design = *design;
    c->broken_most = design->blocks + BROKEN_SLACK;
    c->out = mem_new((size_t)design->candidates, sizeof(*c->out));
    c->rest = mem_new((size_t)design->candidates, sizeof(*c->rest));
    c->crashes = mem_new((size_t)design->candidates, sizeof(*c->crashes));
    return c;
}

static void end_run(struct block_schedule *c, int gpu)
{
    free(c->runs[gpu].steps);
    free(c->runs[gpu].done);
    c->runs[gpu] = (struct run){ 0 };
    c->cards[gpu].block = 0;
}

void block_schedule_free(struct block_schedule *c)
{
    if (!c)
        return;
    for (int gpu = 0; gpu < c->n_cards; gpu++)
        end_run(c, gpu);
    free(c->cards);
    free(c->runs);
    free(c->out);
    free(c->rest);
    free(c->crashes);
    free(c);
}

static struct card *card_of(struct block_schedule *c, int gpu)
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

void block_schedule_had(struct block_schedule *c, int block, int gpu,
                        bool complete)
{
    struct card *card = card_of(c, gpu);

    if (block > c->last)
        c->last = block;
    card->complete += complete;
    c->complete += complete;
    c->broken += !complete;
}

void block_schedule_gpu(struct block_schedule *c, int gpu, bool up)
{
    card_of(c, gpu)->up = up;
}

static int cards_up(const struct block_schedule *c)
{
    int n = 0;

    for (int gpu = 0; gpu < c->n_cards; gpu++)
        n += c->cards[gpu].up;
    return n;
}

static int running(const struct block_schedule *c)
{
    int n = 0;

    for (int gpu = 0; gpu < c->n_cards; gpu++)
        n += c->cards[gpu].block != 0;
    return n;
}

/* Complete blocks that this card should reach. */
static int share(const struct block_schedule *c)
{
    int up = cards_up(c);
    int even = up ? (c->design.blocks + up - 1) / up : c->design.blocks;

    return even > c->design.gpu_blocks ? even : c->design.gpu_blocks;
}

static bool wants_block(const struct block_schedule *c, const struct card *card)
{
    if (!card->up || card->block)
        return false;
    return card->complete < c->design.gpu_blocks ||
           (c->complete + running(c) < c->design.blocks &&
            card->complete < share(c));
}

static void shuffle(struct prng *prng, struct block_schedule_step *steps, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = (int)prng_below(prng, (uint64_t)i + 1);
        struct block_schedule_step held = steps[i];

        steps[i] = steps[j];
        steps[j] = held;
    }
}

/* The order depends only on the seed and the number. */
static void draw(const struct block_schedule *c, struct run *run)
{
    const struct block_schedule_design *design = &c->design;
    size_t most = (size_t)design->candidates * (size_t)design->shapes;
    struct prng prng;

    run->steps = mem_new(most, sizeof(*run->steps));
    run->done = mem_new(most, sizeof(*run->done));
    run->n = 0;
    prng_init(&prng, design->seed ^ (uint64_t)run->number << 32);
    for (int shape = 0; shape < design->shapes; shape++) {
        int first = run->n;

        for (int i = 0; i < design->candidates; i++)
            if (!c->out[i] && !c->rest[i])
                run->steps[run->n++] = (struct block_schedule_step){ i, shape };
        shuffle(&prng, &run->steps[first], run->n - first);
    }
    run->left = run->n;
}

bool block_schedule_next(struct block_schedule *c,
                         struct block_schedule_block *out)
{
    int best = -1;

    if (block_schedule_failed(c) || c->last >= BLOCK_SCHEDULE_BLOCKS_MAX)
        return false;
    for (int gpu = 0; gpu < c->n_cards; gpu++)
        if (wants_block(c, &c->cards[gpu]) &&
            (best < 0 || c->cards[gpu].complete < c->cards[best].complete))
            best = gpu;
    if (best < 0)
        return false;
    c->runs[best].number = c->cards[best].block = ++c->last;
    draw(c, &c->runs[best]);
    *out = (struct block_schedule_block){ c->last, best, c->runs[best].n,
                                          c->runs[best].steps };
    return true;
}

static int card_at(const struct block_schedule *c, int block)
{
    for (int gpu = 0; gpu < c->n_cards; gpu++)
        if (c->cards[gpu].block == block)
            return gpu;
    return -1;
}

bool block_schedule_measured(struct block_schedule *c, int block, int step)
{
    int gpu = card_at(c, block);
    struct run *run;

    if (gpu < 0)
        return false; /* the block broke meanwhile */
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

void block_schedule_broken(struct block_schedule *c, int block)
{
    int gpu = card_at(c, block);

    if (gpu < 0)
        return;
    end_run(c, gpu);
    c->broken++;
}

bool block_schedule_crashed(struct block_schedule *c, int block, int candidate)
{
    block_schedule_broken(c, block);
    if (++c->crashes[candidate] < BLOCK_SCHEDULE_CRASHES)
        return false;
    c->out[candidate] = true;
    return true;
}

void block_schedule_out(struct block_schedule *c, int candidate)
{
    c->out[candidate] = true;
}

bool block_schedule_is_out(const struct block_schedule *c, int candidate)
{
    return c->out[candidate];
}

void block_schedule_want(struct block_schedule *c, int blocks)
{
    c->design.blocks = blocks;
    if (c->broken_most < blocks + BROKEN_SLACK)
        c->broken_most = blocks + BROKEN_SLACK;
}

void block_schedule_rest(struct block_schedule *c, int candidate, bool rests)
{
    c->rest[candidate] = rests;
}

bool block_schedule_done(const struct block_schedule *c)
{
    if (running(c) || c->complete < c->design.blocks)
        return false;
    for (int gpu = 0; gpu < c->n_cards; gpu++)
        if (wants_block(c, &c->cards[gpu]))
            return false;
    return true;
}

bool block_schedule_failed(const struct block_schedule *c)
{
    int left = 0;

    for (int i = 1; i < c->design.candidates; i++)
        left += !c->out[i];
    return c->out[0] || left == 0 || c->broken > c->broken_most;
}

int block_schedule_complete(const struct block_schedule *c)
{
    return c->complete;
}

int block_schedule_broke(const struct block_schedule *c)
{
    return c->broken;
}

int block_schedule_wanted(const struct block_schedule *c)
{
    int wanted = 0;

    for (int gpu = 0; gpu < c->n_cards; gpu++)
        if (c->cards[gpu].up)
            wanted += c->design.gpu_blocks;
        else
            wanted += c->cards[gpu].complete;
    return wanted > c->design.blocks ? wanted : c->design.blocks;
}
