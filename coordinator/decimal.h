/* decimal.h - a number as decimal text that reads back as the same number
 *
 * What printf's "%.9g" writes when strtod() makes the same number of it, else
 * what "%.17g" does, byte for byte; both at a tenth of their price, since every
 * sample of every result goes this way.  Pure; any thread.
 */
#ifndef FA_COORDINATOR_DECIMAL_H
#define FA_COORDINATOR_DECIMAL_H

#include <stddef.h>

#define DECIMAL_BYTES 32

/* Returns the length; 'real' is finite. */
size_t decimal_text(double real, char out[DECIMAL_BYTES]);

#endif
