#include "coordinator/text/string_pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/text/terminal.h"

#define SLOTS_FIRST 64

struct word {
    char *text; /* NULL: an empty slot */
    char *clean;
};

struct string_pool {
    struct word *slots;
    size_t n_slots; /* a power of two, at least twice the words */
    size_t n;
};

struct string_pool *string_pool_new(void)
{
    struct string_pool *pool = mem_new(1, sizeof(*pool));

    pool->n_slots = SLOTS_FIRST;
    pool->slots = mem_new(pool->n_slots, sizeof(*pool->slots));
    return pool;
}

void string_pool_free(struct string_pool *pool)
{
    if (!pool)
        return;
    for (size_t i = 0; i < pool->n_slots; i++) {
        free(pool->slots[i].text);
        free(pool->slots[i].clean);
    }
    free(pool->slots);
    free(pool);
}

static struct word *slot_of(const struct string_pool *pool, const char *text)
{
    uint64_t hash = 0;
    size_t at;

    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x9e3779b97f4a7c15);
    at = (size_t)(hash >> 32) & (pool->n_slots - 1);
    while (pool->slots[at].text && strcmp(pool->slots[at].text, text) != 0)
        at = (at + 1) & (pool->n_slots - 1);
    return &pool->slots[at];
}

static void make_room(struct string_pool *pool)
{
    struct string_pool larger = { .n_slots = 2 * pool->n_slots, .n = pool->n };

    larger.slots = mem_new(larger.n_slots, sizeof(*larger.slots));
    for (size_t i = 0; i < pool->n_slots; i++)
        if (pool->slots[i].text)
            *slot_of(&larger, pool->slots[i].text) = pool->slots[i];
    free(pool->slots);
    *pool = larger;
}

const char *string_pool_keep(struct string_pool *pool, const char *text)
{
    struct word *word = slot_of(pool, text);

    if (word->text)
        return word->clean;
    if (2 * ++pool->n > pool->n_slots) {
        make_room(pool);
        word = slot_of(pool, text);
    }
    word->text = mem_strdup(text);
    word->clean = terminal_clean(mem_strdup(text), false);
    return word->clean;
}
