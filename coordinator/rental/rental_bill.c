#include "coordinator/rental/rental_bill.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "coordinator/billing/reconcile_rows.h"
#include "coordinator/rental/rental_rows.h"
#include "coordinator/store/store.h"

#define LEAST_NS (NS_PER_S / 10) /* of the moments at which both are noted */

int rental_bill(struct store *store, struct err *err)
{
    struct store_acquisition *rows = NULL;
    struct reconcile_allocation *list;
    size_t n = 0, from = 0;
    int rc = rental_rows_all(store, &rows, &n, err);

    list = mem_new(n + 1, sizeof(*list));
    for (size_t i = 0; i < n && rc == 0; i++) {
        list[i] = (struct reconcile_allocation){
            .start_utc = rows[i].started_utc,
            .end_utc = rows[i].released_utc ? rows[i].released_utc
                                            : rental_rows_now_utc(&rows[i]),
            .rate_usd_per_h = &rows[i].rate_usd_per_h,
        };
        if (i + 1 < n && strcmp(rows[i + 1].host, rows[i].host) == 0)
            continue;
        rc = reconcile_rows(store,
                            &(struct reconcile_rows){
                                .host = rows[from].host,
                                .allocations = &list[from],
                                .n = i + 1 - from,
                                .rate_usd_per_h = rows[from].rate_usd_per_h,
                                .least_ns = LEAST_NS },
                            err);
        from = i + 1;
    }
    if (rc == 0)
        rc = store_commit(store, err);
    free(list);
    free(rows);
    return rc;
}
