#include "tests/coordinator/schedule/sched_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct sched *pair_new(int hosts)
{
    return sched_new((struct sched_limits){
        .units = 2, .shapes = 1, .hosts = hosts, .attempts = 3 });
}

struct sched_lease pair_take(struct sched *sched, enum job_stage stage,
                             int unit, int host)
{
    struct sched_lease lease;

    assert_true(sched_next(sched, &lease));
    assert_int_equal(lease.stage, stage);
    assert_int_equal(lease.unit, unit);
    assert_int_equal(lease.host, host);
    return lease;
}

void pair_built(struct sched *sched, int unit, int host)
{
    assert_true(sched_apply(sched, JOB_BUILD, unit, 0, JOB_EV_RESULT, host));
}

bool pair_lose(struct sched *sched, enum job_stage stage, int unit, int shape)
{
    const struct sched_lease *lease = sched_lease_of(sched, stage, unit, shape);

    return lease && sched_lease_apply(sched, lease->id, JOB_EV_LOST);
}
