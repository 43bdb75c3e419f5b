/* decimal.h - numbers as decimal text, both ways
 *
 * Written, a number is as short as it can be and reads back as the same: what
 * printf's "%.9g" writes when strtod() makes the same number of it, else what
 * "%.17g" does.  Read, it is what strtod() makes of it.  Both at a tenth to a
 * third of their price, since every sample of every result goes these ways.
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_TEXT_DECIMAL_H
#define FA_COORDINATOR_TEXT_DECIMAL_H

#include <stddef.h>

#define DECIMAL_BYTES 32

/* Returns the length; 'real' is finite. */
size_t decimal_text(double real, char out[DECIMAL_BYTES]);

/* As strtod(), bit for bit. */
double decimal_real(const char *text, const char **end);

#endif
