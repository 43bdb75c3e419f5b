#include "coordinator/schedule/ledger.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/int64.h"
#include "common/mem.h"

struct work {
    int64_t lease;
    bool measuring;
};

struct account {
    bool held;
    int64_t start_ns; /* of the open interval */
    enum ledger_category phase;
    struct work *works; /* running, oldest first */
    size_t n, cap;
};

struct ledger {
    struct account *accounts;
    int hosts;
    ledger_emit *emit;
    void *arg;
};

struct ledger *ledger_new(int hosts, ledger_emit *emit, void *arg)
{
    struct ledger *ledger = mem_new(1, sizeof(*ledger));

    ledger->accounts = mem_new((size_t)hosts, sizeof(*ledger->accounts));
    ledger->hosts = hosts;
    ledger->emit = emit;
    ledger->arg = arg;
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

/* End the open interval under 'category' and open the next one. */
static void cut(struct ledger *ledger, int host, enum ledger_category category,
                int64_t now)
{
    struct account *account = &ledger->accounts[host];

    emit(ledger, host, category, now);
    account->start_ns = int64_max(account->start_ns, now);
}

void ledger_hold(struct ledger *ledger, int host, int64_t now)
{
    struct account *account = &ledger->accounts[host];

    if (account->held)
        return;
    account->held = true;
    account->start_ns = now;
    account->phase = LEDGER_ACQUIRING;
    account->n = 0;
}

void ledger_release(struct ledger *ledger, int host, int64_t now)
{
    struct account *account = &ledger->accounts[host];

    if (!account->held)
        return;
    cut(ledger, host, category_now(account), now);
    account->held = false;
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

    if (lead && lead->lease == lease)
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
    for (int host = 0; host < ledger->hosts; host++)
        if (ledger->accounts[host].held)
            emit(ledger, host, category_now(&ledger->accounts[host]), now);
}
