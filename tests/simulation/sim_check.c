#include "tests/simulation/sim_check.h"

#include "tests/simulation/sim_run.h"

void sim_check(struct sim_run *run)
{
    sim_check_delivery(run);
    sim_check_leases(run);
    sim_check_crashes(run);
    if (run->idle)
        sim_check_idle(run);
    sim_check_rows(run);
}
