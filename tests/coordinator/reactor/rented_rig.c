#include "tests/coordinator/reactor/rented_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <poll.h>

#include <cmocka.h>

#include "coordinator/reactor/rented.h"

#define TURNS_MAX 5000 /* of a millisecond, for a command that ends at once */

void rented_open(struct rig *rig)
{
    rig_open_bare(rig, 2);
    snprintf(rig->list[0].rental.start, sizeof(rig->list[0].rental.start),
             "true");
    snprintf(rig->list[0].rental.stop, sizeof(rig->list[0].rental.stop),
             "true");
    rig->list[1].role = HOST_BUILDER;
    rig->options.stay.rental.machines = rental_new(&rig->hosts, "/");
    rig->options.stay.rental.store = rig->sweep.mail.store;
    rig_begin(rig);
    rented_begin(&rig->sweep, 0);
}

void rented_close(struct rig *rig)
{
    rental_free(rig->options.stay.rental.machines);
    rig_close(rig);
}

enum rental_state rented_state(const struct rig *rig)
{
    return rental_state(rig->options.stay.rental.machines, 0);
}

void rented_step(struct rig *rig)
{
    rented_turn(&rig->sweep, rig->now_ns);
}

void rented_turn_until(struct rig *rig, enum rental_state wanted)
{
    for (int i = 0; i < TURNS_MAX; i++) {
        rented_step(rig);
        if (rented_state(rig) == wanted)
            return;
        (void)poll(NULL, 0, 1);
    }
    fail_msg("it is not in state %d", (int)wanted);
}
