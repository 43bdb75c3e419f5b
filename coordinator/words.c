#include "coordinator/words.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/terminal.h"

#define SLOTS_FIRST 64

struct word {
    char *text; /* NULL: an empty slot */
    char *clean;
};

struct words {
    struct word *slots;
    size_t n_slots; /* a power of two, at least twice the words */
    size_t n;
};

struct words *words_new(void)
{
    struct words *words = mem_new(1, sizeof(*words));

    words->n_slots = SLOTS_FIRST;
    words->slots = mem_new(words->n_slots, sizeof(*words->slots));
    return words;
}

void words_free(struct words *words)
{
    if (!words)
        return;
    for (size_t i = 0; i < words->n_slots; i++) {
        free(words->slots[i].text);
        free(words->slots[i].clean);
    }
    free(words->slots);
    free(words);
}

static struct word *slot_of(const struct words *words, const char *text)
{
    uint64_t hash = 0;
    size_t at;

    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x9e3779b97f4a7c15);
    at = (size_t)(hash >> 32) & (words->n_slots - 1);
    while (words->slots[at].text && strcmp(words->slots[at].text, text) != 0)
        at = (at + 1) & (words->n_slots - 1);
    return &words->slots[at];
}

static void make_room(struct words *words)
{
    struct words larger = { .n_slots = 2 * words->n_slots, .n = words->n };

    larger.slots = mem_new(larger.n_slots, sizeof(*larger.slots));
    for (size_t i = 0; i < words->n_slots; i++)
        if (words->slots[i].text)
            *slot_of(&larger, words->slots[i].text) = words->slots[i];
    free(words->slots);
    *words = larger;
}

const char *words_keep(struct words *words, const char *text)
{
    struct word *word = slot_of(words, text);

    if (word->text)
        return word->clean;
    if (2 * ++words->n > words->n_slots) {
        make_room(words);
        word = slot_of(words, text);
    }
    word->text = mem_strdup(text);
    word->clean = terminal_clean(mem_strdup(text), false);
    return word->clean;
}
