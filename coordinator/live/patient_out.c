#include "coordinator/live/patient_out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/mem.h"

struct patient_out {
    int fd;
    bool broken;
    char *kept; /* [size] */
    size_t n, size;
};

/* A description of its own: O_NONBLOCK on the one that is there would be seen
 * by all who share it, such as the user's shell. */
static int open_again(int fd)
{
    struct stat stat;
    char path[32];

    if (fstat(fd, &stat) < 0 || (!isatty(fd) && !S_ISFIFO(stat.st_mode)))
        return -1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

struct patient_out *patient_out_new(int fd)
{
    int again = open_again(fd);
    struct patient_out *out;

    if (again < 0)
        return NULL;
    out = mem_new(1, sizeof(*out));
    out->fd = again;
    return out;
}

/* How much was taken. */
static size_t put(struct patient_out *out, const char *text, size_t len)
{
    size_t done = 0;

    while (done < len && !out->broken) {
        ssize_t n = write(out->fd, text + done, len - done);

        if (n >= 0)
            done += (size_t)n;
        else if (errno == EAGAIN)
            break;
        else
            out->broken = errno != EINTR;
    }
    return done;
}

static void flush(struct patient_out *out)
{
    size_t n = put(out, out->kept, out->n);

    out->n = out->broken ? 0 : out->n - n;
    memmove(out->kept, out->kept + n, out->n);
}

static void keep(struct patient_out *out, const char *text, size_t len)
{
    if (len > PATIENT_OUT_KEPT - out->n)
        return;
    if (out->n + len > out->size) {
        out->size = 2 * (out->n + len);
        out->kept = mem_grow(out->kept, out->size, 1);
    }
    memcpy(out->kept + out->n, text, len);
    out->n += len;
}

bool patient_out_write(struct patient_out *out, const char *text, size_t len)
{
    size_t n = 0;

    if (out->n > 0)
        flush(out);
    if (out->n == 0)
        n = put(out, text, len);
    if (n < len && !out->broken)
        keep(out, text + n, len - n);
    return !out->broken;
}

bool patient_out_is_clear(struct patient_out *out)
{
    if (out->n > 0)
        flush(out);
    return out->n == 0;
}

void patient_out_free(struct patient_out *out, int wait_ms)
{
    int64_t end_ns = clock_boot_ns() + wait_ms * NS_PER_MS;

    if (!out)
        return;
    while (!patient_out_is_clear(out)) {
        struct pollfd ready = { .fd = out->fd, .events = POLLOUT };
        int64_t left_ms =
            wait_ms < 0 ? -1 : (end_ns - clock_boot_ns()) / NS_PER_MS;

        if (left_ms == 0 || (wait_ms >= 0 && left_ms < 0) ||
            poll(&ready, 1, (int)left_ms) == 0)
            break;
    }
    close(out->fd);
    free(out->kept);
    free(out);
}
