/* shifted_clock.c - a wall clock that is FA_SHIFT_S seconds off, for LD_PRELOAD
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *now)
{
    const char *shift = getenv("FA_SHIFT_S");
    int rc = (int)syscall(SYS_clock_gettime, id, now);

    if (rc == 0 && id == CLOCK_REALTIME && shift)
        now->tv_sec += strtol(shift, NULL, 10);
    return rc;
}
