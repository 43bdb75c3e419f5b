/* ledger.h - what the time of each host was spent on
 *
 * A host is held from ledger_hold() to ledger_release(); the intervals of the
 * time between follow each other without gap or overlap, each with one
 * category.  While work runs, the time belongs to the leading lease: the oldest
 * running measurement, else the oldest running build.  If that lease ends
 * badly, its interval becomes FAILED (it did not build, run or compute the
 * right answer) or LOST (its result never came); earlier intervals keep their
 * category.
 *
 * Pure: the caller brings the time (CLOCK_BOOTTIME, ns) and stores what 'emit'
 * is given.  The same interval is emitted again, longer, by ledger_flush():
 * (host, start) identifies it.
 */
#ifndef FA_COORDINATOR_SCHEDULE_LEDGER_H
#define FA_COORDINATOR_SCHEDULE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

enum ledger_category {
    LEDGER_ACQUIRING, /* reaching it: connection, login */
    LEDGER_SETUP,     /* finding tools, building the runner, opening GPUs */
    LEDGER_UPLOADING,
    LEDGER_BUILDING,
    LEDGER_MEASURING,
    LEDGER_IDLE, /* held, ready and without work */
    LEDGER_FAILED,
    LEDGER_LOST,
};

struct ledger_interval {
    int host;
    int64_t start_ns, end_ns;
    enum ledger_category category;
    int64_t lease; /* 0 for none */
};

typedef void ledger_emit(void *arg, const struct ledger_interval *interval);

struct ledger;

struct ledger *ledger_new(int hosts, ledger_emit *emit, void *arg);
void ledger_free(struct ledger *ledger);
const char *ledger_category_name(enum ledger_category category);

void ledger_hold(struct ledger *ledger, int host, int64_t now);
void ledger_release(struct ledger *ledger, int host, int64_t now);

/* The category of a host without work: ACQUIRING, SETUP, UPLOADING or IDLE. */
void ledger_phase(struct ledger *ledger, int host, enum ledger_category phase,
                  int64_t now);

/* Work begins and ends on a host that is held.  'ending' is BUILDING or
 * MEASURING if the work counted, otherwise FAILED or LOST. */
void ledger_start(struct ledger *ledger, int host, int64_t lease,
                  bool measuring, int64_t now);
void ledger_end(struct ledger *ledger, int host, int64_t lease,
                enum ledger_category ending, int64_t now);

void ledger_flush(struct ledger *ledger, int64_t now);

#endif
