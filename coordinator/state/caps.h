/* caps.h - what the user caps: hours and dollars
 *
 * A sweep ends when a cap is reached.  Before that, when what is left is what
 * the confirmation takes (coordinator/reserve), nothing is given out any more.
 */
#ifndef FA_COORDINATOR_STATE_CAPS_H
#define FA_COORDINATOR_STATE_CAPS_H

#include <stdint.h>

struct sweep;

/* End the sweep, or keep the rest of the caps for the confirmation, if it is
 * time.  Says once how many configurations fit. */
void caps_check(struct sweep *sweep, int64_t now);

#endif
