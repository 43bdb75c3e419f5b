/* compiler_output.h - what a compiler's output says
 *
 * The first error goes first, since that is the one to mend; lines about our
 * own generated files go.
 */
#ifndef FA_WORKER_BUILD_COMPILER_OUTPUT_H
#define FA_WORKER_BUILD_COMPILER_OUTPUT_H

#include <stdbool.h>

#include "common/buf.h"

/* 'out' takes the text from the first error on, then what stood before it;
 * 'first' (of its own ceiling) takes that error's line, or stays empty. */
void compiler_output_text(const char *output, struct buf *out,
                          struct buf *first);

/* The compiler, or a part of it, was killed from outside: not the source's
 * doing. */
bool compiler_output_was_killed(const char *output);

#endif
