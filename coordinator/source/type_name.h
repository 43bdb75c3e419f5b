/* type_name.h - what C, CUDA, NumPy and T1 call the types of a sweep file
 *
 * A sweep file has fp16, bf16, fp32, fp64, int8, int32 and int64
 * (docs/sweep-file.md).  Unsigned integers count as signed ones of their size.
 * One name may mean two things: float16 is fp16 to NumPy, and a vector of 16
 * floats to T1.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_SOURCE_TYPE_NAME_H
#define FA_COORDINATOR_SOURCE_TYPE_NAME_H

#include <stddef.h>

enum {
    TYPE_NAME_C = 1,     /* C and CUDA: the parameter of a kernel */
    TYPE_NAME_NUMPY = 2, /* and PyTorch: where a dtype is named otherwise */
    TYPE_NAME_T1 = 4,    /* the "Type" of an argument in a T1 file */
};

struct type_name {
    const char *name;
    const char *type;   /* of the sweep file */
    int elements;       /* of that type: 4 in a float4 */
    unsigned languages; /* that have the name */
};

/* Row 'i', NULL after the last one.  Who looks for a type in a C declaration
 * of several words takes the first row that has one of them: 'long' comes
 * before 'int', so "unsigned long int" is int64. */
const struct type_name *type_name_at(size_t i);

/* The row of exactly this name in one of the languages, or NULL. */
const struct type_name *type_name_find(const char *name, unsigned languages);

/* What C calls a type of the sweep file: __half for fp16.  NULL if it is not
 * one. */
const char *type_name_in_c(const char *type);

#endif
