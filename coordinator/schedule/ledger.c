#include "coordinator/schedule/ledger.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/int64.h"
#include "common/mem.h"
#include "coordinator/schedule/bill.h"

struct work {
    int64_t lease;
    bool measuring;
};

struct account {
    bool held;
    bool is_told;     /* the open held interval was emitted */
    int64_t start_ns; /* of the open interval */
    int64_t held_ns;  /* start of the open held interval */
    int64_t free_ns;  /* it was not held before, since then */
    double rate;      /* USD per hour; NaN: unpriced */
    enum ledger_category phase;
    struct work *works; /* running, oldest first */
    size_t n, cap;
};

struct ledger {
    struct account *accounts;
    int hosts;
    ledger_emit *emit;
    ledger_emit_held *emit_held;
    void *arg;
    struct bill past; /* held intervals that have ended */
};

struct ledger *ledger_new(int hosts, ledger_emit *emit, void *arg)
{
    struct ledger *ledger = mem_new(1, sizeof(*ledger));

    ledger->accounts = mem_new((size_t)hosts, sizeof(*ledger->accounts));
    ledger->hosts = hosts;
    ledger->emit = emit;
    ledger->arg = arg;
    for (int i = 0; i < hosts; i++)
        ledger->accounts[i].rate = (double)NAN;
    return ledger;
}

void ledger_free(struct ledger *ledger)
{
    if (!ledger)
        return;
    for (int i = 0; i < ledger->hosts; i++)
        free(ledger->accounts[i].works);
    free(ledger->accounts);
    free(ledger);
}

void ledger_keep_held(struct ledger *ledger, ledger_emit_held *emit_held)
{
    ledger->emit_held = emit_held;
}

const char *ledger_category_name(enum ledger_category category)
{
    static const char *const names[] = {
        [LEDGER_ACQUIRING] = "acquiring", [LEDGER_SETUP] = "setup",
        [LEDGER_UPLOADING] = "uploading", [LEDGER_BUILDING] = "building",
        [LEDGER_MEASURING] = "measuring", [LEDGER_IDLE] = "idle",
        [LEDGER_FAILED] = "failed",       [LEDGER_LOST] = "lost",
    };

    return names[category];
}

static const struct work *leading(const struct account *account)
{
    for (size_t i = 0; i < account->n; i++)
        if (account->works[i].measuring)
            return &account->works[i];
    return account->n ? &account->works[0] : NULL;
}

static enum ledger_category category_now(const struct account *account)
{
    const struct work *work = leading(account);

    if (!work)
        return account->phase;
    return work->measuring ? LEDGER_MEASURING : LEDGER_BUILDING;
}

static void emit(struct ledger *ledger, int host, enum ledger_category category,
                 int64_t now)
{
    struct account *account = &ledger->accounts[host];
    const struct work *work = leading(account);

    if (now <= account->start_ns)
        return;
    ledger->emit(ledger->arg,
                 &(struct ledger_interval){ .host = host,
                                            .start_ns = account->start_ns,
                                            .end_ns = now,
                                            .category = category,
                                            .lease = work ? work->lease : 0 });
}

static void emit_held(struct ledger *ledger, int host, int64_t now)
{
    struct account *account = &ledger->accounts[host];

    if (!ledger->emit_held || now <= account->held_ns)
        return;
    ledger->emit_held(ledger->arg,
                      &(struct ledger_held){ .host = host,
                                             .start_ns = account->held_ns,
                                             .end_ns = now,
                                             .rate_usd_per_h = account->rate });
    account->is_told = true;
}

/* End the held interval; the next one may begin. */
static void settle(struct ledger *ledger, int host, int64_t now)
{
    struct account *account = &ledger->accounts[host];

    emit_held(ledger, host, now);
    bill_add(&ledger->past, int64_max(now - account->held_ns, 0),
             account->rate);
    account->held_ns = int64_max(account->held_ns, now);
    account->is_told = false;
}

/* End the open interval under 'category' and open the next one.  If the caller
 * is killed, no interval is left without the held one that it is in. */
static void cut(struct ledger *ledger, int host, enum ledger_category category,
                int64_t now)
{
    struct account *account = &ledger->accounts[host];

    emit(ledger, host, category, now);
    if (!account->is_told)
        emit_held(ledger, host, now);
    account->start_ns = int64_max(account->start_ns, now);
}

void ledger_hold(struct ledger *ledger, int host, int64_t now)
{
    struct account *account = &ledger->accounts[host];

    if (account->held)
        return;
    account->held = true;
    account->is_told = false;
    account->start_ns = account->held_ns = int64_max(now, account->free_ns);
    account->phase = LEDGER_ACQUIRING;
    account->n = 0;
}

void ledger_release(struct ledger *ledger, int host, int64_t now)
{
    struct account *account = &ledger->accounts[host];

    if (!account->held)
        return;
    cut(ledger, host, category_now(account), now);
    settle(ledger, host, now);
    account->free_ns = now;
    account->held = false;
}

void ledger_price(struct ledger *ledger, int host, double rate_usd_per_h,
                  int64_t now)
{
    struct account *account = &ledger->accounts[host];
    bool same = isnan(rate_usd_per_h) ? isnan(account->rate)
                                      : rate_usd_per_h == account->rate;

    if (account->held && !same) {
        cut(ledger, host, category_now(account), now);
        settle(ledger, host, now);
    }
    account->rate = rate_usd_per_h;
}

void ledger_bill(const struct ledger *ledger, int64_t now, struct bill *bill)
{
    bill_join(bill, &ledger->past);
    for (int host = 0; host < ledger->hosts; host++) {
        const struct account *account = &ledger->accounts[host];

        if (account->held)
            bill_add(bill, int64_max(now - account->held_ns, 0), account->rate);
    }
}

double ledger_usd_per_h(const struct ledger *ledger)
{
    double sum = 0;

    for (int host = 0; host < ledger->hosts; host++)
        if (ledger->accounts[host].held && !isnan(ledger->accounts[host].rate))
            sum += ledger->accounts[host].rate;
    return sum;
}

void ledger_phase(struct ledger *ledger, int host, enum ledger_category phase,
                  int64_t now)
{
    struct account *account = &ledger->accounts[host];

    if (!account->held || account->phase == phase)
        return;
    if (account->n == 0)
        cut(ledger, host, account->phase, now);
    account->phase = phase;
}

void ledger_start(struct ledger *ledger, int host, int64_t lease,
                  bool measuring, int64_t now)
{
    struct account *account = &ledger->accounts[host];
    const struct work *before = leading(account);

    if (!account->held)
        return;
    if (!before || (measuring && !before->measuring))
        cut(ledger, host, category_now(account), now);
    if (account->n == account->cap) {
        account->cap = account->cap ? account->cap * 2 : 8;
        account->works =
            mem_grow(account->works, account->cap, sizeof(*account->works));
    }
    account->works[account->n++] = (struct work){ lease, measuring };
}

void ledger_end(struct ledger *ledger, int host, int64_t lease,
                enum ledger_category ending, int64_t now)
{
    struct account *account = &ledger->accounts[host];
    const struct work *lead = leading(account);

    if (account->held && lead && lead->lease == lease)
        cut(ledger, host, ending, now);
    for (size_t i = 0; i < account->n; i++) {
        if (account->works[i].lease != lease)
            continue;
        account->n--;
        memmove(&account->works[i], &account->works[i + 1],
                (account->n - i) * sizeof(*account->works));
        return;
    }
}

void ledger_flush(struct ledger *ledger, int64_t now)
{
    for (int host = 0; host < ledger->hosts; host++) {
        if (!ledger->accounts[host].held)
            continue;
        emit(ledger, host, category_now(&ledger->accounts[host]), now);
        emit_held(ledger, host, now);
    }
}
