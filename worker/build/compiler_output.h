/* compiler_output.h - sorts a compiler's output
 *
 * The first error comes first, because it is the one to fix.  Lines about our
 * generated files are removed.
 */
#ifndef FA_WORKER_BUILD_COMPILER_OUTPUT_H
#define FA_WORKER_BUILD_COMPILER_OUTPUT_H

#include <stdbool.h>

#include "common/buf.h"

/* 'out' gets the text from the first error on, then the text before it.
 * 'first' (with its own ceiling) gets the line of that error, or stays
 * empty. */
void compiler_output_text(const char *output, struct buf *out,
                          struct buf *first);

/* Is the first error in a line of 'header', which defines the tunables?  Then
 * the sources have another meaning for a tunable's name; 'out' says which one,
 * and the error. */
bool compiler_output_collides(const char *first, const char *header,
                              struct buf *out);

/* Did a compiler for the cpu device stop at what only nvcc compiles, inline PTX
 * or code of the host?  'out' says so, with the error. */
bool compiler_output_needs_nvcc(const char *first, struct buf *out);

/* Was the compiler, or a part of it, killed from outside?  Then the source is
 * not at fault. */
bool compiler_output_was_killed(const char *output);

#endif
