#include "common/clock.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t read_ns(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t clock_boot_ns(void)
{
    return read_ns(CLOCK_BOOTTIME);
}

int64_t clock_utc_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}

int64_t clock_steady_utc_ns(void)
{
    static _Atomic int64_t offset; /* from CLOCK_BOOTTIME; 0: not taken yet */
    int64_t now_ns = clock_boot_ns(), known = 0;
    int64_t first = clock_utc_ns() - now_ns;

    return now_ns + (atomic_compare_exchange_strong(&offset, &known, first)
                         ? first
                         : known);
}

void clock_iso(int64_t utc_ns, char out[CLOCK_ISO_BYTES])
{
    time_t s = (time_t)(utc_ns / NS_PER_S);
    struct tm tm;
    size_t n;

    gmtime_r(&s, &tm);
    n = strftime(out, CLOCK_ISO_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + n, CLOCK_ISO_BYTES - n, ".%03dZ",
             (int)(utc_ns % NS_PER_S / NS_PER_MS));
}

void clock_boot_id(char out[CLOCK_BOOT_ID_BYTES])
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

    out[0] = '\0';
    if (!f)
        return;
    if (fgets(out, CLOCK_BOOT_ID_BYTES, f))
        out[strcspn(out, "\n")] = '\0';
    fclose(f);
}
