#include "coordinator/stored/stored_times.h"

#include "common/err.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"

static const struct row_column columns[] = {
    ROW_AT(struct stored_times, device, CHARS),
    ROW_AT(struct stored_times, start_s, REAL),
    ROW_AT(struct stored_times, build_s, REAL),
    ROW_AT(struct stored_times, measure_s, REAL),
    ROW_AT(struct stored_times, external_s, REAL),
};
static const struct row_shape shape = ROW_SHAPE(NULL, columns);

int stored_times_load(struct store *store, struct stored_times *out,
                      struct err *err)
{
    static const char text[] =
        "SELECT (SELECT device FROM sweep ORDER BY created_utc DESC LIMIT 1)"
        " AS device, (SELECT avg(s) FROM (SELECT (min(leased_utc)-epoch)/1e9 "
        "AS s"
        "  FROM lease GROUP BY epoch)) AS start_s,"
        " (SELECT avg(seconds) FROM build WHERE cached=0"
        "  AND purpose='kernel') AS build_s,"
        " (SELECT avg(held_s) FROM result WHERE counted=1"
        "  AND purpose='screen') AS measure_s,"
        " (SELECT avg(seconds) FROM tool WHERE purpose='external'"
        "  AND outcome='ran') AS external_s";
    int rc = row_first(store_db(store), text, &shape, out, err, "");

    return err_within(err, err_only(rc), "%s", store_path(store));
}
