/* numeral.h - decimal numbers in files of other programs, in other units
 *
 * Such files have milliseconds, and a database has seconds.  The point is moved
 * in the text, so that a number that is written here and read again is the same
 * in every bit; multiplying by 1000 and by 0.001 would not give that.
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_REPLAY_NUMERAL_H
#define FA_COORDINATOR_REPLAY_NUMERAL_H

#include <stdbool.h>

#define NUMERAL_BYTES 40

/* Whether the text is a plain number as in JSON: 16, -1, 0.500000. */
bool numeral_is(const char *text);

/* The number in 'text', which is one that strtod() reads to its end, times 10
 * to the power of 'exponent', rounded once. */
double numeral_real(const char *text, int exponent);

/* A text for which numeral_real(text, -exponent) is 'real', which is finite.
 * One that is a float is preferred, because CUDA's timers return floats. */
void numeral_text(double real, int exponent, char out[NUMERAL_BYTES]);

#endif
