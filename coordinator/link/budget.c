#include "coordinator/link/budget.h"

#include <math.h>

#include "common/clock.h"

#define MESSAGES 4096.0
#define MESSAGES_PER_S 50.0
#define MESSAGES_A_LEASE 16.0
#define REPETITION (1.0 / 64)         /* 6,400 results, each again every 2 s */
#define ROWS_BYTES (96.0 * (1 << 20)) /* a full journal, and a half */
#define ROWS_BYTES_PER_S 65536.0

struct budget budget_full(int64_t now_ns)
{
    return (struct budget){ MESSAGES, ROWS_BYTES, now_ns };
}

void budget_lease(struct budget *budget)
{
    budget->messages = fmin(budget->messages + MESSAGES_A_LEASE, MESSAGES);
}

static void refill(struct budget *budget, int64_t now_ns)
{
    double s = (double)(now_ns - budget->at_ns) / (double)NS_PER_S;

    budget->at_ns = now_ns;
    budget->messages = fmin(budget->messages + s * MESSAGES_PER_S, MESSAGES);
    budget->rows = fmin(budget->rows + s * ROWS_BYTES_PER_S, ROWS_BYTES);
}

static bool take(double *bucket, double n)
{
    if (*bucket < n)
        return false;
    *bucket -= n;
    return true;
}

bool budget_message(struct budget *budget, int64_t now_ns)
{
    refill(budget, now_ns);
    return take(&budget->messages, 1);
}

bool budget_repetition(struct budget *budget, int64_t now_ns)
{
    refill(budget, now_ns);
    return take(&budget->messages, REPETITION);
}

bool budget_row(struct budget *budget, int64_t now_ns, size_t bytes)
{
    refill(budget, now_ns);
    return take(&budget->rows, (double)bytes);
}
