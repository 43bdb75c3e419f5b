#include "coordinator/search/effort.h"

#include <string.h>

#include "common/err.h"
#include "coordinator/text/suggest.h"

#define QUICK_FINALISTS 4
#define QUICK_BLOCKS 24
#define QUICK_FUZZ_SHAPES 8
#define FULL_FINALISTS 1000 /* what a sweep file allows at most ... */
#define FULL_BLOCKS 4000    /* ... likewise */
/* More time for what is not clear.  A cap that is higher still would put the
 * first looks off, and with them the answers that are clear early. */
#define FULL_TIMES_BLOCKS 4

static const char *const names[EFFORTS] = {
    [EFFORT_NORMAL] = "normal", [EFFORT_QUICK] = "quick", [EFFORT_FULL] = "full"
};

int effort_read(const char *word, enum effort *out, struct err *err)
{
    char ending[SUGGEST_BYTES];

    for (size_t i = 0; i < EFFORTS; i++)
        if (strcmp(word, names[i]) == 0) {
            *out = (enum effort)i;
            return 0;
        }
    return err_set(err, ERR_INPUT,
                   "--effort=%.32s: choose quick, normal or full%s", word,
                   suggest_ending(word, strlen(word), names, EFFORTS, ending));
}

const char *effort_name(enum effort effort)
{
    return names[effort];
}

enum effort effort_recall(const char *word)
{
    for (size_t i = 0; word && i < EFFORTS; i++)
        if (strcmp(word, names[i]) == 0)
            return (enum effort)i;
    return EFFORT_NORMAL;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void effort_limit(enum effort effort, struct effort_limits *limits)
{
    if (effort == EFFORT_QUICK) {
        limits->finalists = lesser(limits->finalists, QUICK_FINALISTS);
        limits->blocks = lesser(limits->blocks, QUICK_BLOCKS);
        limits->fuzz_shapes = lesser(limits->fuzz_shapes, QUICK_FUZZ_SHAPES);
    } else if (effort == EFFORT_FULL) {
        limits->finalists = FULL_FINALISTS;
        limits->blocks =
            lesser(FULL_TIMES_BLOCKS * limits->blocks, FULL_BLOCKS);
    }
}

void effort_thin(const double *sizes, size_t n, size_t most, bool *kept)
{
    size_t runs = most < n ? most : n;

    memset(kept, 0, n * sizeof(*kept));
    for (size_t run = 0; run < runs; run++) {
        size_t smallest = run * n / runs;

        for (size_t i = smallest; i < (run + 1) * n / runs; i++)
            if (sizes[i] < sizes[smallest])
                smallest = i;
        kept[smallest] = true;
    }
}
