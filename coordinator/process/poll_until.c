#include "coordinator/process/poll_until.h"

#include <errno.h>
#include <limits.h>

#include "common/clock.h"

int poll_until(struct pollfd *fds, size_t n, int64_t deadline_ns)
{
    for (;;) {
        int64_t left = deadline_ns - clock_boot_ns(), ms;
        int rc;

        if (left < 0)
            left = 0;
        ms = (left + NS_PER_MS - 1) / NS_PER_MS;
        rc = poll(fds, (nfds_t)n, ms > INT_MAX ? INT_MAX : (int)ms);
        if (rc > 0)
            return rc;
        if (rc < 0 && errno != EINTR)
            return -1;
        if (rc == 0 && clock_boot_ns() >= deadline_ns)
            return -1;
    }
}
