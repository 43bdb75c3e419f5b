#include "coordinator/schedule/bill.h"

#include <math.h>

#define NS_PER_HOUR 3.6e12

void bill_add(struct bill *bill, int64_t ns, double rate_usd_per_h)
{
    bill->held_ns += ns;
    if (isnan(rate_usd_per_h))
        bill->unpriced_ns += ns;
    else
        bill->priced_usd += (double)ns / NS_PER_HOUR * rate_usd_per_h;
}

void bill_join(struct bill *bill, const struct bill *other)
{
    bill->held_ns += other->held_ns;
    bill->unpriced_ns += other->unpriced_ns;
    bill->priced_usd += other->priced_usd;
}

double bill_hours(const struct bill *bill)
{
    return (double)bill->held_ns / NS_PER_HOUR;
}

double bill_usd(const struct bill *bill)
{
    return bill->unpriced_ns > 0 ? (double)NAN : bill->priced_usd;
}

bool bill_has_price(const struct bill *bill)
{
    return bill->held_ns > bill->unpriced_ns;
}
