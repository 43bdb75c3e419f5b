/* choice.h - which configurations a run is about, when not all that pass
 *
 * Named ones, a covering set of those that pass, or all that pass; a union of
 * these, each configuration once.  What passes is known when the device is,
 * so it is only said here and found out by plan_make().
 * Thread rule: no state of its own; any thread.
 */
#ifndef FA_COORDINATOR_CHOICE_H
#define FA_COORDINATOR_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include <stdint.h>

#include "coordinator/value.h"

struct err;
struct params;
struct report;
struct space;
struct spec;

struct choice {
    bool cover, all;      /* of what passes */
    struct value *values; /* named: n rows of a value each tunable */
    size_t n;
    char **texts; /* what texts among the values point into */
    size_t n_texts;
};

void choice_fini(struct choice *choice);

void choice_baseline(struct choice *choice, const struct spec *spec);
/* "A=1,B=2"; what is not named has the baseline's value.  ERR_INPUT */
int choice_named(struct choice *choice, const struct spec *spec,
                 const char *text, struct err *err);
/* Stored parameters; false when they are of other tunables, from before the
 * file was changed. */
bool choice_params(struct choice *choice, const struct spec *spec,
                   const struct params *params);
/* The 'most' fastest of a report that have all tunables of the spec; how many
 * there were. */
size_t choice_best(struct choice *choice, const struct spec *spec,
                   const struct report *report, size_t most);

struct chosen {
    int64_t point;              /* its number, -1 outside the axes */
    const struct value *values; /* outside: the choice's, else NULL */
    uint64_t warned;            /* bit g: warn gate g of the spec is hit */
};

/* What that is in a space: named ones first, whether they pass or not, then
 * those that pass, in order.  The caller frees '*out'.
 * ERR_INPUT when it is none, or a gate is wrong. */
int choice_resolve(const struct choice *choice, const struct spec *spec,
                   struct space *space, struct chosen **out, size_t *n,
                   struct err *err);

#endif
