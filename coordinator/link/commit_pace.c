#include "coordinator/link/commit_pace.h"

#include "common/int64.h"

struct commit_pace commit_pace_new(void)
{
    return (struct commit_pace){ .last_ns = INT64_MIN / 2 };
}

void commit_pace_row(struct commit_pace *pace, bool patient, int64_t now_ns)
{
    if (pace->rows++ == 0)
        pace->since_ns = now_ns;
    pace->urgent += !patient;
}

void commit_pace_committed(struct commit_pace *pace, int64_t now_ns)
{
    pace->rows = pace->urgent = 0;
    pace->last_ns = now_ns;
    pace->n_commits++;
}

/* The time of the next COMMIT; there are rows. */
static int64_t due_ns(const struct commit_pace *pace)
{
    if (pace->rows >= COMMIT_PACE_ROWS)
        return pace->since_ns;
    return pace->urgent > 0 ? pace->last_ns + COMMIT_PACE_NS
                            : pace->since_ns + COMMIT_PACE_PATIENT_NS;
}

static int64_t leases_ns(const struct commit_pace *pace, bool idle)
{
    return pace->last_ns + (idle ? COMMIT_PACE_IDLE_NS : COMMIT_PACE_NS);
}

bool commit_pace_is_due(const struct commit_pace *pace, int64_t now_ns)
{
    return pace->rows > 0 && now_ns >= due_ns(pace);
}

bool commit_pace_may_lease(const struct commit_pace *pace, bool idle,
                           int64_t now_ns)
{
    return now_ns >= leases_ns(pace, idle);
}

int64_t commit_pace_wait_ns(const struct commit_pace *pace, bool leases,
                            bool idle, int64_t most_ns, int64_t now_ns)
{
    int64_t until = now_ns + most_ns;

    if (pace->rows > 0)
        until = int64_min(until, due_ns(pace));
    if (leases)
        until = int64_min(until, leases_ns(pace, idle));
    return int64_max(until - now_ns, 0);
}
