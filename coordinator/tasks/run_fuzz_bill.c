/* The database of the fuzz proof, and what its hosts were held for. */
#include "coordinator/tasks/run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/schedule/bill.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_held.h"
#include "coordinator/stored/stored_work.h"

char *run_fuzz_path(const char *db)
{
    size_t len = strlen(db);

    if (len > 3 && strcmp(db + len - 3, ".db") == 0)
        len -= 3;
    return mem_printf("%.*s.fuzz.db", (int)len, db);
}

struct copying {
    struct store *to;
    struct bill *bill;
    int rc;
    struct err *err;
};

static void copy_held(void *arg, const struct store_held *held)
{
    struct copying *copying = arg;

    if (copying->rc == 0)
        copying->rc = store_held_put(copying->to, held, copying->err);
    if (copying->bill)
        bill_add(copying->bill, held->end_ns - held->start_ns,
                 held->rate_usd_per_h);
}

int run_fuzz_bill(const char *db, struct store *to, struct bill *bill,
                  struct err *err)
{
    struct copying copying = { .to = to, .bill = bill, .err = err };
    char *fuzz = run_fuzz_path(db);
    struct store *store = NULL;
    struct err here;
    int rc = 0;

    if (access(fuzz, F_OK) == 0) {
        rc = store_open(fuzz, STORE_READ, &store, err);
        if (rc == 0)
            rc = stored_work_held(store, copy_held, &copying, &here);
        if (rc < 0 && store)
            *err = here;
        else if (rc == 0)
            rc = copying.rc;
        store_close(store);
    }
    free(fuzz);
    return rc;
}
