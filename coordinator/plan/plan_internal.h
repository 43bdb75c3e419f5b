/* plan_internal.h - the parts of a plan; private to plan*.c */
#ifndef FA_COORDINATOR_PLAN_PLAN_INTERNAL_H
#define FA_COORDINATOR_PLAN_PLAN_INTERNAL_H

#include "common/buf.h"
#include "common/msg_values.h"
#include "coordinator/plan/plan.h"
#include "coordinator/spec/bundle.h"
#include "coordinator/spec/spec_rule.h"

struct spec_argument;

/* Units by key, open addressing. */
struct plan_index {
    int *slots; /* the unit plus one, or 0 */
    size_t n;   /* a power of two, at least twice the units */
};

/* "NAME BYTES" of an argument, as a BUILD has it. */
#define PLAN_ARGUMENT_BYTES 96

/* Storage of the last plan_build() or plan_measure(). */
struct plan_message {
    struct buf text;
    const char *flag;
    char argument_texts[SPEC_LIST_MAX][PLAN_ARGUMENT_BYTES];
    const char *arguments[SPEC_LIST_MAX];
    const char *inputs[SPEC_LIST_MAX];
    const char *names[BUNDLE_FILES_MAX];
    struct bytes contents[BUNDLE_FILES_MAX];
};

struct plan {
    const struct spec *spec;
    struct space *space;
    char arch[32];
    bool emulated;
    struct plan_unit *units; /* the configurations, then the reference */
    int n, cap;              /* without the reference; 'cap' counts unused
                              * room */
    int taken;
    struct plan_index index;
    const struct spec_shape *shapes;
    size_t n_shapes;
    const struct plan_ask *ask; /* NULL: everything that passes */
    signed char *gates; /* gates of the selection: units by shapes, -1 none */
    char baseline_key[HASH_HEX];
    char (*measure_keys)[HASH_HEX];
    struct bundle kernel, reference;
    struct value *values, *derived; /* of the unit that was looked at last */
    struct plan_message message;
};

bool plan_is_reference(const struct plan *plan, int unit);
/* The values of a configuration, in plan->values. */
void plan_look_at(const struct plan *plan, int unit);

/* plan_keys.c: keys of the configuration in plan->values, and what they are
 * made of.  How the kernel and the reference take an argument: buffers by
 * address. */
void plan_argument(const struct spec_argument *argument,
                   char out[PLAN_ARGUMENT_BYTES]);
/* Writes its header to plan->text. */
int plan_header(struct plan *plan, struct err *err);
int plan_kernel_key(struct plan *plan, char out[HASH_HEX], struct err *err);
void plan_reference_key(struct plan *plan, char out[HASH_HEX]);
void plan_shape_key(struct plan *plan, const struct spec_shape *shape,
                    char out[HASH_HEX]);

#endif
