/* fuzz.h - what came of proving configurations right over many shapes
 *
 * A configuration at a shape is right, wrong, or skipped: nobody could run it
 * to its end, so nothing is known.  Read from the rows that were settled for
 * the sources, shapes and inputs of this very plan and for no others.
 */
#ifndef FA_COORDINATOR_RESULT_FUZZ_H
#define FA_COORDINATOR_RESULT_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/hash.h"

struct err;
struct plan;
struct spec;
struct store;

enum fuzz_verdict {
    FUZZ_RIGHT,
    FUZZ_WRONG,
    FUZZ_SKIPPED,
};

/* By the word of its outcome, NULL when it has none. */
enum fuzz_verdict fuzz_verdict(const char *outcome);

/* One that is not right. */
struct fuzz_finding {
    enum fuzz_verdict verdict;
    char key[HASH_HEX];
    char *config, *params; /* A=1 B=2; a JSON object */
    char *shape, *outcome, *reason;
    double relative_l2, max_error; /* NaN where nothing was compared */
};

struct fuzz {
    int configs, shapes;
    int64_t counts[3];             /* by verdict */
    struct fuzz_finding *findings; /* the wrong ones first */
    size_t n_findings;
};

/* ERR_STORE */
int fuzz_collect(const struct plan *plan, const struct spec *spec,
                 struct store *store, struct fuzz *out, struct err *err);
void fuzz_fini(struct fuzz *fuzz);

/* The table and the summary; an object for programs. */
void fuzz_print(const struct fuzz *fuzz, FILE *to);
void fuzz_json(const struct fuzz *fuzz, FILE *to);

/* An enum exit_answer: all right, some wrong, some skipped. */
int fuzz_exit_code(const struct fuzz *fuzz);

#endif
