#include "tests/simulation/sim_names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

#define SLOTS_FIRST 1024

/* FNV-1a, 64 bits. */
static uint64_t hash(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return h;
}

static size_t slot_of(const struct sim_names *names, const char *text)
{
    size_t at = (size_t)hash(text) & (names->n_slots - 1);

    while (names->slots[at] >= 0 &&
           strcmp(names->texts[names->slots[at]], text) != 0)
        at = (at + 1) & (names->n_slots - 1);
    return at;
}

static void grow(struct sim_names *names)
{
    names->n_slots = names->n_slots ? 2 * names->n_slots : SLOTS_FIRST;
    free(names->slots);
    names->slots = mem_new(names->n_slots, sizeof(*names->slots));
    memset(names->slots, 0xff, names->n_slots * sizeof(*names->slots));
    for (size_t i = 0; i < names->n; i++)
        names->slots[slot_of(names, names->texts[i])] = (int)i;
}

static int add(struct sim_names *names, const char *text, size_t slot)
{
    names->texts = mem_grow(names->texts, names->n + 1, sizeof(*names->texts));
    names->texts[names->n] = mem_strdup(text);
    names->slots[slot] = (int)names->n;
    return (int)names->n++;
}

int sim_name(struct sim_names *names, const char *text)
{
    size_t slot;

    if (2 * (names->n + 1) > names->n_slots)
        grow(names);
    if (names->n == 0)
        add(names, "", slot_of(names, ""));
    slot = slot_of(names, text ? text : "");
    return names->slots[slot] >= 0 ? names->slots[slot]
                                   : add(names, text, slot);
}

const char *sim_name_text(const struct sim_names *names, int name)
{
    return names->n ? names->texts[name] : "";
}

void sim_names_fini(struct sim_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->texts[i]);
    free(names->texts);
    free(names->slots);
}
