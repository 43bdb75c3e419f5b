/* outcome.h - the outcomes of work, and their words
 *
 * A configuration ends in one of the first eight (docs/measuring.md). Builds
 * and runs of a tool have further outcomes.  Messages, records and rows carry
 * the words, programs compute with the numbers.  Depends on libc only:
 * fa-runner is compiled with it.
 */
#ifndef FA_COMMON_OUTCOME_H
#define FA_COMMON_OUTCOME_H

#include <stdbool.h>

enum outcome {
    OUTCOME_CORRECT,
    OUTCOME_CONSTRAINTS,
    OUTCOME_COMPILE,
    OUTCOME_RUNTIME,
    OUTCOME_CORRECTNESS,
    OUTCOME_TIMEOUT, /* up to here: a property of the configuration */
    OUTCOME_LOST,
    OUTCOME_CRASH,
    OUTCOME_PENDING, /* not settled yet; never in a message or a row */
    OUTCOME_BUILT,   /* a build produced its artifact */
    OUTCOME_RAN,     /* a tool: exit status 0 */
    OUTCOME_MISSING, /* there is no such tool on that host */
    OUTCOME_FAILED,  /* a tool: another exit status */
    OUTCOME_GARBAGE, /* it ran, and its output cannot be parsed */
    OUTCOME_WORDS,
};

/* The outcomes of a configuration; arrays of counts have this size. */
#define OUTCOMES_OF_CONFIG (OUTCOME_PENDING + 1)

/* In the detail of a correct result: inputs, or elements of an output, with
 * which it could not be checked. */
#define OUTCOME_UNJUDGED "not judged by"

const char *outcome_name(enum outcome outcome);
bool outcome_read(const char *name, enum outcome *out); /* false: not such a
                                                         * word */
bool outcome_is(const char *name, enum outcome outcome);

#endif
