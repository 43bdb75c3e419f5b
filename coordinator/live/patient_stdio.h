/* patient_stdio.h - stdout and stderr that never wait for their reader
 *
 * While a command has hosts to pay for, whatever writes to them.  Files are
 * written as usual.
 */
#ifndef FA_COORDINATOR_LIVE_PATIENT_STDIO_H
#define FA_COORDINATOR_LIVE_PATIENT_STDIO_H

#include <stdbool.h>

void patient_stdio_begin(void);
/* Has all of stderr been taken?  True if it has not begun. */
bool patient_stdio_is_clear(void);
/* From now on they wait again, first for what is kept.  More than one call is
 * fine. */
void patient_stdio_end(void);

#endif
