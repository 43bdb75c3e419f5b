/* spec.h - a sweep file, read and checked (docs/sweep-file.md)
 *
 * Holds what the file says, with defaults filled in; SQL is kept as text and
 * is looked at by space.h.  Every flaw is one message with file, line, column,
 * the line, a caret, why and what to do.
 * Immutable once loaded; any thread may read it.
 */
#ifndef FA_COORDINATOR_SPEC_H
#define FA_COORDINATOR_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/terms.h"
#include "coordinator/value.h"

struct err;
struct replay;

#define SPEC_BYTES_MAX (8 << 20)
#define SPEC_NAME_MAX 64 /* bytes of a name */
#define SPEC_AXES_MAX 64
#define SPEC_VALUES_MAX 4096 /* of one tunable */
#define SPEC_LIST_MAX 64     /* derived, gates, arguments, metrics, floors */
#define SPEC_SHAPES_MAX 256  /* of a list, products multiplied out */
#define SPEC_VARS_MAX 32     /* variables of a shape */
#define SPEC_DIMS_MAX 8      /* of an argument */
#define SPEC_SCALE_MAX 1e30
#define SPEC_SAMPLES_MAX 1000
#define SPEC_SAMPLES "samples" /* a placeholder beside the variables */
/* As few as an interval of 95 % allows, and two. */
#define SPEC_EXTERNAL_BLOCKS 8
#define SPEC_EXTERNAL_SAMPLES 20
#define SPEC_EXTERNAL_TIMEOUT_S 120

/* A SQL expression; 'at' is where its string stands, for spec_err_in(). */
struct spec_rule {
    char *text; /* NULL: not given */
    size_t at;
};

struct spec_axis {
    char *name;
    size_t at;
    enum value_kind kind; /* of all its values */
    struct value *values;
    size_t n;
};

struct spec_named {
    char *name;
    size_t at;
    struct spec_rule rule;
    char *unit; /* metrics; "" if none */
};

struct spec_gate {
    char *name;
    size_t at;
    bool warns; /* counts; a gate that does not rejects */
    struct spec_rule rule;
    char *why; /* what to tell the user, never "" */
};

struct spec_launch {
    struct spec_rule grid[3]; /* what is not given is "1" */
    struct spec_rule block[3];
    struct spec_rule smem; /* bytes; "0" by default */
};

struct spec_shape {
    char *name;
    size_t at;
    int64_t *vars; /* one for each of spec.vars */
};

struct spec_argument {
    char *name;
    size_t at;
    const char *type; /* fp16 bf16 fp32 fp64 int8 int32 int64 */
    size_t type_bytes;
    bool buffer;
    bool output;
    struct spec_rule
        dims[SPEC_DIMS_MAX]; /* buffers: elements are the product */
    size_t n_dims;
    const char *fill; /* buffers: normal uniform zeros ones iota ramp */
    double scale;     /* buffers without scale_rule */
    struct spec_rule scale_rule; /* buffers: of shape variables */
    struct spec_rule value;      /* scalars */
};

struct spec_kernel {
    char *source; /* relative to the folder */
    size_t source_at;
    char *entry;
    struct spec_launch launch;
};

struct spec_measure {
    int canary_every;   /* measurements; 0 for no canary, -1 as the device */
    int canary_samples; /* of each */
    int warmups;
    int least, most; /* samples; the same: that many */
    double noise;    /* wanted: half an interval over the median */
    double margin;   /* over the fastest, beyond which no more are taken */
    double timeout_s;
    int64_t seed;
    const char *l2; /* flush warm rotate */
};

/* The external baseline. */
struct spec_external {
    char *name;     /* NULL: there is none */
    char **command; /* the program first; may hold placeholders {S} */
    size_t n_command;
    char **files; /* relative to the folder */
    size_t *files_at;
    size_t n_files;
    double timeout_s; /* of a run */
    int blocks;       /* it takes part in, over all GPUs */
    int samples;      /* it is asked for in each */
};

/* docs/confirm.md */
struct spec_confirm {
    bool off;
    bool unproved; /* no fuzz before it */
    int64_t blocks, samples, finalists_max;
    double floor, target, alpha;
};

struct spec {
    char *path;   /* as it was given */
    char *folder; /* of the file, absolute */
    char *file;   /* name in the folder */
    char *text;   /* the file, byte for byte */
    size_t len;

    char *name;
    struct spec_kernel kernel, reference;
    const char *standard; /* c++17 */
    char **flags;
    size_t n_flags;

    struct spec_axis *axes; /* the tunables */
    size_t tunables_at;
    size_t n_axes;
    struct spec_named *derived;
    size_t n_derived;
    struct spec_gate *gates;
    size_t n_gates;
    char **vars; /* names of the shape variables */
    size_t n_vars;
    struct spec_shape *shapes; /* the first is the headline */
    size_t n_shapes;
    struct spec_shape *emulation_shapes; /* the shapes when none are given */
    size_t n_emulation_shapes;
    struct spec_shape *fuzz_shapes; /* likewise */
    size_t n_fuzz_shapes;
    struct spec_shape
        *emulation_fuzz_shapes; /* the emulation shapes likewise */
    size_t n_emulation_fuzz_shapes;
    struct spec_argument *arguments; /* in the kernel's order */
    size_t n_arguments;
    double relative_l2, max_error; /* tolerance */
    struct value *baseline; /* one value a tunable, in or outside its values */
    size_t baseline_at;
    struct spec_external external;
    struct spec_named *metrics;
    size_t n_metrics;
    struct spec_named *floors;
    size_t n_floors;
    struct spec_measure measure;
    struct spec_confirm confirm;
    struct terms search;             /* the strategy is the spec's */
    double budget_usd, budget_hours; /* 0: no cap */

    struct replay *replay; /* borrowed: the record that answers; or NULL */
};

/* Read a sweep file, or the sweep.json of a folder.  Returns 0 and a spec for
 * the caller to spec_free(), or
 *   ERR_INPUT   missing, not JSON, or a flaw in what it says */
int spec_load(const char *path, struct spec **out, struct err *err);
/* The same, but the sources are not looked at. */
int spec_load_alone(const char *path, struct spec **out, struct err *err);
/* The same for text that stands in 'folder' under 'file'. */
int spec_parse(const char *folder, const char *file, const char *text,
               size_t len, struct spec **out, struct err *err);
void spec_free(struct spec *spec); /* NULL is fine */
/* Leave what a record can answer: the first shape, no other program. */
void spec_for_record(struct spec *spec);

/* Where the first placeholder of an argument stands, and its length with the
 * braces; its end and 0 when there is none. */
size_t spec_placeholder(const char *text, size_t *len);

/* Find the shapes for a device: "cpu" has its own. */
const struct spec_shape *spec_shapes(const struct spec *spec,
                                     const char *device, size_t *n);
/* The same for fuzzing; the shapes of the device when there are no others. */
const struct spec_shape *spec_fuzz_shapes(const struct spec *spec,
                                          const char *device, size_t *n);

/* Record a flaw at a byte of the file, with its line and a caret; 'why' says
 * why and what to do.  Returns ERR_INPUT. */
int spec_err(const struct spec *spec, size_t at, struct err *err,
             const char *why, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* The same at byte 'offset' of a rule's text. */
int spec_err_in(const struct spec *spec, const struct spec_rule *rule,
                size_t offset, struct err *err, const char *why,
                const char *fmt, ...) __attribute__((format(printf, 6, 7)));

#endif
