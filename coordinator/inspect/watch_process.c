#include "coordinator/inspect/watch_process.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"

#define STAT_BYTES 1024

struct run_row {
    int64_t epoch, pid;
    const char *machine;
    bool ended;
};

static const struct row_column run_columns[] = {
    ROW_AT(struct run_row, epoch, INT),
    ROW_AT(struct run_row, pid, INT),
    ROW_AT(struct run_row, machine, TEXT),
    ROW_AT(struct run_row, ended, BOOL),
};
static const struct row_shape run_shape = ROW_SHAPE(NULL, run_columns);

/* The start of a process in clock ticks since boot: field 22 of
 * proc_pid_stat(5), counted from the end of the name, which may hold anything.
 * 0: no process. */
static long long start_ticks(int64_t pid)
{
    char path[64], text[STAT_BYTES];
    const char *after;
    long long ticks = 0;
    FILE *file;
    size_t n;

    snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    n = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[n] = '\0';
    after = strrchr(text, ')');
    if (!after || sscanf(after + 1,
                         " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u "
                         "%*u %*d %*d %*d %*d %*d %*d %lld",
                         &ticks) != 1)
        return 0;
    return ticks;
}

bool watch_process_is_there(int64_t pid, int64_t utc_ns)
{
    long long ticks = pid > 0 ? start_ticks(pid) : 0;
    int64_t start_ns = ticks * (NS_PER_S / sysconf(_SC_CLK_TCK));
    int64_t age_ns = clock_boot_ns() - start_ns;

    return ticks > 0 && clock_utc_ns() - age_ns <= utc_ns;
}

int watch_process_is_at_work(struct store *store, bool *out, struct err *err)
{
    char machine[80] = "unknown"; /* as in the row of a run */
    struct row_query query;
    struct run_row row = { 0 };
    int rc = row_open(store_db(store),
                      "SELECT epoch, pid, machine, ended_utc IS NOT NULL AS "
                      "ended FROM run ORDER BY epoch DESC LIMIT 1",
                      &run_shape, &query, err, "");

    *out = false;
    (void)gethostname(machine, sizeof(machine) - 1); /* stays "unknown" */
    if (rc >= 0)
        rc = row_next(&query, &row, err);
    if (rc == 1)
        *out = row.ended && strcmp(row.machine, machine) == 0 &&
               watch_process_is_there(row.pid, row.epoch);
    row_close(&query);
    return rc < 0 ? rc : 0;
}
