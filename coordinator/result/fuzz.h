/* fuzz.h - the results of a fuzz proof
 *
 * Each configuration at each shape is right, wrong, or skipped.  Skipped means
 * that it never ran to its end, so nothing is known.  Only rows for the same
 * sources, shapes and inputs as in this plan are used.
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

/* The verdict for an outcome; NULL: no outcome. */
enum fuzz_verdict fuzz_verdict(const char *outcome);

/* A result that is not right. */
struct fuzz_finding {
    enum fuzz_verdict verdict;
    char key[HASH_HEX];
    char *config, *params; /* A=1 B=2; a JSON object */
    char *shape, *outcome, *reason;
    double relative_l2, max_error; /* NaN if nothing was compared */
};

/* The launches of a configuration that were found right, at all shapes. */
struct fuzz_checked {
    char key[HASH_HEX];
    int64_t launches, varied; /* varied: in bits; -1: not known */
};

struct fuzz {
    int configs, shapes;
    int64_t counts[3];             /* by verdict */
    struct fuzz_finding *findings; /* the wrong ones first */
    size_t n_findings;
    struct fuzz_checked *checked; /* [configs] */
};

/* ERR_STORE */
int fuzz_collect(const struct plan *plan, const struct spec *spec,
                 struct store *store, struct fuzz *out, struct err *err);
void fuzz_fini(struct fuzz *fuzz);

/* Print the table and the summary; or an object for programs. */
void fuzz_print(const struct fuzz *fuzz, FILE *to);
void fuzz_json(const struct fuzz *fuzz, FILE *to);

/* An enum exit_answer: all right, some wrong, or some skipped. */
int fuzz_exit_code(const struct fuzz *fuzz);

#endif
