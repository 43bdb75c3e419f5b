/* clock.h - the two clocks of the programs
 *
 * Leases and the ledger use CLOCK_BOOTTIME, which also counts while a laptop
 * sleeps.  Instants for people and for the database are UTC nanoseconds.
 */
#ifndef FA_COMMON_CLOCK_H
#define FA_COMMON_CLOCK_H

#include <stdint.h>

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

int64_t clock_boot_ns(void);
int64_t clock_utc_ns(void);
/* UTC as it was at the first call of this process, and counted on by
 * CLOCK_BOOTTIME: spans between them are true also if the clock is set. */
int64_t clock_steady_utc_ns(void);

/* "2026-01-02T03:04:05.678Z" */
#define CLOCK_ISO_BYTES 32
void clock_iso(int64_t utc_ns, char out[CLOCK_ISO_BYTES]);

/* The kernel's random id of this boot, 36 characters, or "" if not known. */
#define CLOCK_BOOT_ID_BYTES 40
void clock_boot_id(char out[CLOCK_BOOT_ID_BYTES]);

#endif
