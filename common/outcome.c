#include "common/outcome.h"

#include <string.h>

static const char *const names[OUTCOME_WORDS] = {
    [OUTCOME_CORRECT] = "correct",
    [OUTCOME_CONSTRAINTS] = "constraints",
    [OUTCOME_COMPILE] = "compile",
    [OUTCOME_RUNTIME] = "runtime",
    [OUTCOME_CORRECTNESS] = "correctness",
    [OUTCOME_TIMEOUT] = "timeout",
    [OUTCOME_LOST] = "lost",
    [OUTCOME_CRASH] = "crash",
    [OUTCOME_PENDING] = "pending",
    [OUTCOME_BUILT] = "built",
    [OUTCOME_RAN] = "ran",
    [OUTCOME_MISSING] = "missing",
    [OUTCOME_FAILED] = "failed",
    [OUTCOME_GARBAGE] = "garbage",
};

const char *outcome_name(enum outcome outcome)
{
    return names[outcome];
}

bool outcome_read(const char *name, enum outcome *out)
{
    for (int i = 0; i < OUTCOME_WORDS; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (enum outcome)i;
            return true;
        }
    return false;
}

bool outcome_is(const char *name, enum outcome outcome)
{
    return strcmp(name, names[outcome]) == 0;
}
