#include "common/ptxas.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool has(const char *line, size_t len, const char *word)
{
    return memmem(line, len, word, strlen(word)) != NULL;
}

static size_t line_len(const char *at)
{
    const char *newline = strchr(at, '\n');

    return newline ? (size_t)(newline - at) + 1 : strlen(at);
}

/* 0 without a number, and for one that ptxas cannot mean: a host may lie. */
static int64_t number_before(const char *line, size_t len, const char *word)
{
    const char *at = memmem(line, len, word, strlen(word));
    int64_t value = 0;

    while (at && at > line && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return at && sscanf(at, "%" SCNd64, &value) == 1 && value <= INT32_MAX
               ? value
               : 0;
}

/* The entry's own line comes first, then those of the functions it calls. */
static void take_stack(const char *at, size_t len, struct ptxas_use *use)
{
    if (use->stack_bytes + use->spill_stores + use->spill_loads > 0)
        return;
    use->stack_bytes = number_before(at, len, " bytes stack frame");
    use->spill_stores = number_before(at, len, " bytes spill stores");
    use->spill_loads = number_before(at, len, " bytes spill loads");
}

struct ptxas_use ptxas_use(const char *output, const char *entry)
{
    struct ptxas_use use = { 0 };
    char mark[160];
    const char *at;

    snprintf(mark, sizeof(mark), "Compiling entry function '%s'", entry);
    at = strstr(output, mark);
    for (at = at ? at + line_len(at) : ""; *at; at += line_len(at)) {
        size_t len = line_len(at);

        if (has(at, len, "Compiling entry function"))
            break;
        if (has(at, len, " bytes stack frame"))
            take_stack(at, len, &use);
        if (!has(at, len, ": Used "))
            continue;
        use.registers = number_before(at, len, " registers");
        use.static_smem = number_before(at, len, " bytes smem");
        break;
    }
    return use;
}
