/* bundle.h - the files that a build needs: a source and all it includes
 *
 * Files of the sweep's folder are named by their path in it.  Device primitives
 * are named "fa/NAME" and are embedded in fa-coord.  For the cpu device the
 * emulation is added.  Other <...> includes are left to the compiler.
 */
#ifndef FA_COORDINATOR_SPEC_BUNDLE_H
#define FA_COORDINATOR_SPEC_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/hash.h"

struct buf;
struct err;
struct spec;

#define BUNDLE_FILE_MAX (1 << 20)  /* bytes of one file */
#define BUNDLE_BYTES_MAX (3 << 19) /* of all files: fits a message */
#define BUNDLE_FILES_MAX 256

struct bundle_file {
    char *name;
    char *bytes;
    size_t len;
};

struct bundle {
    struct bundle_file *files; /* the source first */
    size_t n;
    char hash[HASH_HEX]; /* of names and contents */
};

/* Read 'source' (spec->kernel.source or spec->reference.source; 'at' is its
 * offset in the sweep file) and what it includes.
 * ERR_INPUT   a file is missing, absolute, outside the folder, a symbolic
 *             link, not text or too big; no device primitive has that name */
int bundle_load(const struct spec *spec, const char *source, size_t at,
                bool emulation, struct bundle *out, struct err *err);
/* Read exactly these files, whatever they include; 'at' are their offsets in
 * the sweep file.  Errors as above. */
int bundle_files(const struct spec *spec, char *const *names, const size_t *at,
                 size_t n, struct bundle *out, struct err *err);
/* One input as it is, text or not; 'out' has its limit and may be truncated.
 * Errors as above. */
int bundle_bytes(const struct spec *spec, const char *name, size_t at,
                 struct buf *out, struct err *err);
/* One empty file with this name, for a build that needs no source. */
void bundle_of_record(const char *name, struct bundle *out);
void bundle_fini(struct bundle *bundle);

#endif
