/* Converts the names of a record to names that a sweep file accepts. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/source/identifier.h"

#define NAME_BYTES 55 /* of the 64 of a name; the rest is for '_' */
#define NAME_TRIES 8

static char *plain_copy(const char *text, const char *allowed)
{
    char *copy = mem_dup(text, strnlen(text, NAME_BYTES));

    for (char *at = copy; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr(allowed, *at))
            *at = '_';
    return copy;
}

static void add_mark(char **name)
{
    char *longer = mem_printf("%s_", *name);

    free(*name);
    *name = longer;
}

static bool is_taken(const struct landscape *land, int t, const char *name)
{
    for (int i = 0; i < t; i++)
        if (strcasecmp(land->tunables[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < GPU_ARCH_FACTS; i++)
        if (strcasecmp(gpu_arch_fact_name(i), name) == 0)
            return true;
    return strcasecmp(name, "time_s") == 0;
}

/* A '_' at the end repairs a keyword, one in front a leading digit.  After as
 * many attempts as there are names, a free one was found. */
static void fit_name(struct landscape *land, int t)
{
    struct landscape_tunable *tunable = &land->tunables[t];
    char *name = plain_copy(tunable->name, "_");

    if (!isalpha((unsigned char)name[0])) {
        char *led = mem_printf("T%s", name);

        free(name);
        name = led;
    }
    for (int tries = 0; tries < NAME_TRIES &&
                        (identifier_flaw(name) || is_taken(land, t, name));
         tries++)
        add_mark(&name);
    free(tunable->name);
    tunable->name = name;
}

static bool is_there(const struct landscape_tunable *tunable, int i,
                     const char *text)
{
    for (int k = 0; k < tunable->n; k++)
        if (k != i && strcmp(tunable->texts[k], text) == 0)
            return true;
    return false;
}

static void fit_text(struct landscape_tunable *tunable, int i)
{
    char *text = plain_copy(tunable->texts[i], "_.:+-");

    for (int n = 2; is_there(tunable, i, text); n++) {
        free(text);
        text = mem_printf("_%d", n); /* the n-th at the latest is free */
    }
    free(tunable->texts[i]);
    tunable->texts[i] = text;
}

void landscape_fit_names(struct landscape *landscape)
{
    for (int t = 0; t < landscape->tunables_n; t++) {
        struct landscape_tunable *tunable = &landscape->tunables[t];

        fit_name(landscape, t);
        for (int i = 0; i < tunable->n; i++)
            if (identifier_value_flaw(tunable->texts[i]))
                fit_text(tunable, i);
    }
}
