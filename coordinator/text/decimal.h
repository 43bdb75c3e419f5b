/* decimal.h - numbers as decimal text, both ways
 *
 * Writing: the text is that of printf's "%.9g" if strtod() reads the same
 * number back, otherwise that of "%.17g". Reading: the number is that of
 * strtod(). Both take a tenth to a third of the time of the C library, which
 * matters because every sample of every result is written and read.
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_TEXT_DECIMAL_H
#define FA_COORDINATOR_TEXT_DECIMAL_H

#include <stddef.h>

#define DECIMAL_BYTES 32

/* Returns the length; 'real' is finite. */
size_t decimal_text(double real, char out[DECIMAL_BYTES]);

/* The fewest digits that strtod() reads as the same number, as d.ddde+dd.
 * Returns how many they are; 'real' is finite. */
int decimal_shortest(double real, char out[DECIMAL_BYTES]);
/* The same as Python's repr() writes it: 0.5, 1.0, 1e-05. */
void decimal_repr(double real, char out[DECIMAL_BYTES]);

/* As strtod(), bit for bit. */
double decimal_real(const char *text, const char **end);

#endif
