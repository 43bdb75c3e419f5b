/* spec_inputs.h - the .npy files that arguments are filled from
 *
 * A fill { "file": NAME } has one file, or one for each shape if the name has
 * "{shape}" in it.  The files are read once and kept in memory; workers get
 * their elements, without the header.
 * Immutable once loaded; any thread may read them.
 */
#ifndef FA_COORDINATOR_SPEC_SPEC_INPUTS_H
#define FA_COORDINATOR_SPEC_SPEC_INPUTS_H

#include <stddef.h>

#include "common/buf.h"
#include "common/hash.h"
#include "coordinator/source/npy.h"

struct err;
struct spec;
struct spec_argument;
struct spec_shape;

#define SPEC_INPUT_BYTES_MAX (64 << 20)    /* of a file; a worker's limit */
#define SPEC_INPUTS_BYTES_MAX (256u << 20) /* of all files: memory */
#define SPEC_INPUTS_SHAPE "{shape}"

struct spec_input {
    char *name; /* in the folder of the sweep file */
    struct buf file;
    struct npy npy;
    char hash[HASH_HEX]; /* of the elements */
};

struct spec_inputs {
    struct spec_input *list;
    size_t n;
};

/* Read the files of all shapes of the sweep file.
 * ERR_INPUT   a file is missing, outside the folder, a symbolic link, not a
 *             .npy file of the argument's type, or too big */
int spec_inputs_load(struct spec *spec, struct err *err);
void spec_inputs_free(struct spec_inputs *inputs);

/* The elements; borrowed. */
const void *spec_inputs_bytes(const struct spec_input *input, size_t *len);
/* What fills the argument at a shape.  NULL: nothing was read, for example at a
 * shape that is not of the sweep file. */
const struct spec_input *spec_inputs_at(const struct spec *spec,
                                        const struct spec_argument *argument,
                                        const struct spec_shape *shape);
/* In how many messages WANT a worker asks for all of them. */
size_t spec_inputs_windows(const struct spec *spec);
/* The one whose elements have this hash, or NULL. */
const struct spec_input *spec_inputs_find(const struct spec *spec,
                                          const char *hash);

#endif
