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
 * A host has a price while it is held: each time with one rate is a held
 * interval, with a beginning, an end and that rate.  Another rate begins
 * another one, and what was held before keeps its price.
 *
 * Pure: the caller brings the time (CLOCK_BOOTTIME, ns) and stores what 'emit'
 * and 'emit_held' are given.  The same interval is emitted again, longer, by
 * ledger_flush(): (host, start) identifies it.
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

/* For how long a host was held at one rate. */
struct ledger_held {
    int host;
    int64_t start_ns, end_ns;
    double rate_usd_per_h; /* NaN: unpriced */
};

typedef void ledger_emit_held(void *arg, const struct ledger_held *held);

struct bill;
struct ledger;

struct ledger *ledger_new(int hosts, ledger_emit *emit, void *arg);
void ledger_free(struct ledger *ledger);
/* Where held intervals go; 'arg' is that of 'emit'.  Without it, to nothing. */
void ledger_keep_held(struct ledger *ledger, ledger_emit_held *emit_held);
const char *ledger_category_name(enum ledger_category category);

void ledger_hold(struct ledger *ledger, int host, int64_t now);
/* 'now' may have passed, if the end of a host is heard later.  Intervals that
 * were emitted after it are the caller's to take back. */
void ledger_release(struct ledger *ledger, int host, int64_t now);

/* What the host costs from now on, in USD per hour; NaN, as it begins:
 * unpriced.
 */
void ledger_price(struct ledger *ledger, int host, double rate_usd_per_h,
                  int64_t now);
/* Add all that hosts were held for, until now. */
void ledger_bill(const struct ledger *ledger, int64_t now, struct bill *bill);
/* What all hosts that are held now cost together. */
double ledger_usd_per_h(const struct ledger *ledger);

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
