/* npy.h - a file of numpy.save(): the type and the shape of an array
 *
 * Formats 1.0 and 2.0, little-endian numbers of 1 to 8 bytes in C order
 * (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_SOURCE_NPY_H
#define FA_COORDINATOR_SOURCE_NPY_H

#include <stddef.h>
#include <stdint.h>

#define NPY_DIMS_MAX 32
#define NPY_COUNT_MAX (INT64_C(1) << 40)

struct npy {
    char descr[8]; /* "<f4", "|i1", as NumPy writes it */
    size_t item_bytes;
    int64_t dims[NPY_DIMS_MAX];
    size_t n_dims;
    int64_t count; /* elements: the product of 'dims' */
    size_t at;     /* byte of the first element */
};

/* What is wrong with the file, short enough for a line of a message. */
#define NPY_WHY_BYTES 160

/* Read a whole file.  0, or ERR_INPUT with what is wrong and what would be
 * right. */
int npy_read(const void *bytes, size_t len, struct npy *out,
             char why[NPY_WHY_BYTES]);

/* Are its elements of this type of an argument (fp16 bf16 fp32 fp64 int8 int32
 * int64)?  0, or ERR_INPUT.  NumPy has no bf16: ml_dtypes writes "<V2". */
int npy_check_type(const struct npy *npy, const char *type,
                   char why[NPY_WHY_BYTES]);

#endif
