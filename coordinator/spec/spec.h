/* spec.h - a sweep file, read and checked (docs/sweep-file.md)
 *
 * A spec has the contents of the file, with defaults filled in.  SQL is kept as
 * text; space.h checks it.  An error has file, line, column, the text of the
 * line, a caret, the reason and what to do.
 * Immutable once loaded; any thread may read it.
 */
#ifndef FA_COORDINATOR_SPEC_SPEC_H
#define FA_COORDINATOR_SPEC_SPEC_H

#include <stddef.h>

#include "coordinator/spec/spec_external.h"
#include "coordinator/spec/spec_inputs.h"
#include "coordinator/spec/spec_kernel.h"
#include "coordinator/spec/spec_measure.h"
#include "coordinator/spec/spec_rule.h"
#include "coordinator/spec/spec_shape.h"
#include "coordinator/spec/spec_space.h"

struct err;
struct replay;
struct search_settings;

#define SPEC_BYTES_MAX (8 << 20)

/* The sweep file itself. */
struct spec_file {
    char *path;   /* as the user gave it */
    char *folder; /* of the file, absolute */
    char *name;   /* in the folder */
    char *text;   /* byte for byte */
    size_t len;
};

struct spec {
    struct spec_file file;
    char *name;
    struct spec_kernel kernel, reference;
    struct spec_compile compile;
    struct spec_space space;
    struct spec_shapes shapes;
    struct spec_argument *arguments; /* in the order of the kernel's
                                      * parameters */
    size_t n_arguments;
    struct spec_inputs inputs;       /* of spec_load() */
    struct spec_tolerance tolerance; /* of float outputs without their own */
    struct spec_baseline baseline;
    struct spec_externals externals;
    struct spec_figures figures;
    struct spec_measure measure;
    struct spec_confirm confirm;
    struct search_settings *search; /* search_settings.h; its texts too */
    struct spec_budget budget;

    struct replay *replay; /* borrowed; in a replay, the record */
};

/* Read a sweep file, or the sweep.json of a folder.  Returns 0 and a spec for
 * the caller to spec_free(), or
 *   ERR_INPUT   missing, not JSON, or an error in its contents */
int spec_load(const char *path, struct spec **out, struct err *err);
/* The same without reading the sources and the files of arguments. */
int spec_load_alone(const char *path, struct spec **out, struct err *err);
/* The same for a text; its file would be 'file' in 'folder'. */
int spec_parse(const char *folder, const char *file, const char *text,
               size_t len, struct spec **out, struct err *err);
void spec_free(struct spec *spec); /* NULL is fine */
/* Keep only what a record can answer: the first shape, no external baseline,
 * and a rule against the baseline. */
void spec_for_record(struct spec *spec);
/* Keep only the external baseline that the rule is against, if any, and of the
 * fuzz shapes 'most': the smallest of each part of the list. */
void spec_for_quick(struct spec *spec, size_t most);

/* The first placeholder of an argument, and its length with the braces; without
 * a placeholder, the end of the text and 0. */
size_t spec_placeholder(const char *text, size_t *len);

/* The shapes for a device: "cpu" has its own. */
const struct spec_shape *spec_shapes(const struct spec *spec,
                                     const char *device, size_t *n);
/* The shapes for fuzzing; those of the device if there are no others. */
const struct spec_shape *spec_fuzz_shapes(const struct spec *spec,
                                          const char *device, size_t *n);

/* Report an error at a byte of the file, with its line and a caret.  'why'
 * gives the reason and the remedy.  Returns ERR_INPUT. */
int spec_err(const struct spec *spec, size_t at, struct err *err,
             const char *why, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* The same at byte 'offset' of a rule's text. */
int spec_err_in(const struct spec *spec, const struct spec_rule *rule,
                size_t offset, struct err *err, const char *why,
                const char *fmt, ...) __attribute__((format(printf, 6, 7)));

#endif
