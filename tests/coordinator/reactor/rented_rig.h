/* rented_rig.h - host a is acquired with start=, host b is there
 */
#ifndef FA_TESTS_RENTED_RIG_H
#define FA_TESTS_RENTED_RIG_H

#include "coordinator/rental/rental.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

/* The same as rig_open() of two hosts; start= and stop= do nothing. */
void rented_open(struct rig *rig);
void rented_close(struct rig *rig);
enum rental_state rented_state(const struct rig *rig);
/* A turn, at the rig's time. */
void rented_step(struct rig *rig);
/* Take turns until the machine is in this state.  The rig's time stands
 * still. */
void rented_turn_until(struct rig *rig, enum rental_state wanted);

#endif
