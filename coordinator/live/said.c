#include "coordinator/live/said.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

struct entry {
    char *host, *text;
};

struct said {
    struct entry *list;
    size_t n, cap;
};

struct said *said_new(void)
{
    return mem_new(1, sizeof(struct said));
}

static void fini(struct entry *entry)
{
    free(entry->host);
    free(entry->text);
}

void said_free(struct said *said)
{
    if (!said)
        return;
    for (size_t i = 0; i < said->n; i++)
        fini(&said->list[i]);
    free(said->list);
    free(said);
}

bool said_is_new(struct said *said, const char *host, const char *text)
{
    for (size_t i = 0; i < said->n; i++)
        if (strcmp(said->list[i].host, host) == 0 &&
            strcmp(said->list[i].text, text) == 0)
            return false;
    if (said->n == said->cap) {
        said->cap = said->cap ? said->cap * 2 : 16;
        said->list = mem_grow(said->list, said->cap, sizeof(*said->list));
    }
    said->list[said->n++] =
        (struct entry){ mem_printf("%s", host), mem_printf("%s", text) };
    return true;
}

void said_forget(struct said *said, const char *host)
{
    size_t kept = 0;

    for (size_t i = 0; i < said->n; i++)
        if (strcmp(said->list[i].host, host) == 0)
            fini(&said->list[i]);
        else
            said->list[kept++] = said->list[i];
    said->n = kept;
}
