#include "coordinator/rental/rental_rows.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/mem.h"
#include "coordinator/rental/rental_command.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"

static int read_rows(struct store *store, const char *text,
                     struct store_acquisition **out, size_t *n, struct err *err)
{
    struct row_query query = { .stmt = NULL };
    struct store_acquisition row;
    int rc = row_open(store_db(store), text, &store_acquisition_shape, &query,
                      err, "");

    *out = NULL;
    *n = 0;
    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1) {
        *out = mem_grow(*out, *n + 1, sizeof(row));
        (*out)[(*n)++] = row;
    }
    row_close(&query);
    return rc < 0 ? rc : 0;
}

int rental_rows_open(struct store *store, struct store_acquisition **out,
                     size_t *n, struct err *err)
{
    return read_rows(store,
                     "SELECT * FROM acquisition WHERE state<>'released'"
                     " ORDER BY started_utc, id",
                     out, n, err);
}

int rental_rows_all(struct store *store, struct store_acquisition **out,
                    size_t *n, struct err *err)
{
    return read_rows(store,
                     "SELECT * FROM acquisition ORDER BY host, started_utc, id",
                     out, n, err);
}

static bool is_of_this_boot(const struct store_acquisition *row)
{
    char boot[CLOCK_BOOT_ID_BYTES];

    clock_boot_id(boot);
    return row->pid > 0 && strcmp(boot, row->boot_id) == 0;
}

int64_t rental_rows_now_utc(const struct store_acquisition *row)
{
    int64_t began_ns = row->pid_ticks * (NS_PER_S / sysconf(_SC_CLK_TCK));

    return row->pid_ticks > 0 && is_of_this_boot(row)
               ? row->started_utc + clock_boot_ns() - began_ns
               : clock_steady_utc_ns();
}

bool rental_rows_starts(const struct store_acquisition *row)
{
    return is_of_this_boot(row) &&
           rental_command_ticks(row->pid) == row->pid_ticks;
}
