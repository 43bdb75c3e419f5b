#include "coordinator/link/sweep_io.h"

#include <time.h>

#include "common/clock.h"
#include "coordinator/store/store.h"

static int64_t boot_ns(void *self)
{
    (void)self;
    return clock_boot_ns();
}

static int64_t utc_ns(void *self)
{
    (void)self;
    return clock_utc_ns();
}

static int64_t steady_utc_ns(void *self)
{
    (void)self;
    return clock_steady_utc_ns();
}

static int64_t cpu_ns(void *self)
{
    struct timespec used;

    (void)self;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * NS_PER_S + used.tv_nsec;
}

static int commit(void *self, struct store *store, struct err *err)
{
    (void)self;
    return store_commit(store, err);
}

const struct sweep_clock sweep_clock_real = { .boot_ns = boot_ns,
                                              .utc_ns = utc_ns,
                                              .steady_utc_ns = steady_utc_ns,
                                              .cpu_ns = cpu_ns };
const struct sweep_disk sweep_disk_real = { .commit = commit };
