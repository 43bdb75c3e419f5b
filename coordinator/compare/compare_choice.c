#include "coordinator/compare/compare_choice.h"

#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/compare/compare_looks.h"
#include "coordinator/compare/compare_side.h"
#include "coordinator/confirm/finalists.h"
#include "coordinator/result/report.h"
#include "coordinator/result/screening.h"

/* A confirmation would choose its finalists at this level. */
#define ALPHA 0.05

static size_t could_be_best(const struct report *report)
{
    const struct screening_rules rules = { ALPHA, report->n_configs };
    bool *none = mem_new(report->n_configs + 1, sizeof(*none));
    bool *chosen = mem_new(report->n_configs + 1, sizeof(*chosen));
    struct finalists found;

    screening_choose(report, &rules, none, chosen, &found);
    free(chosen);
    free(none);
    return found.n_possible;
}

size_t compare_choice_among(const struct compare_side *side, bool blocks)
{
    size_t n = blocks ? compare_looks_finalists(side->looks)
                      : could_be_best(side->report);

    return n > 1 ? n : 1;
}
