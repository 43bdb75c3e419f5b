#include "coordinator/costs/foreseen.h"

#include <stdlib.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"
#include "coordinator/text/terminal.h"

#define IDLE_S 0.05 /* it held no host, or gave it back at once */

/* A command lasts until the next one begins.  One without an estimate, such as
 * 'confirm', only ends the one before. */
static const char query_text[] =
    "WITH c AS (SELECT id, at_utc, text, lead(at_utc, 1, 9223372036854775807)"
    "  OVER (ORDER BY at_utc, id) AS next_utc FROM event"
    "  WHERE name='" STORE_COMMAND_BEGUN "' AND json_valid(text))"
    " SELECT at_utc AS begun_utc, json_extract(text, '$.from') AS from_where,"
    " json_extract(text, '$.wall_s_low') AS wall_low,"
    " json_extract(text, '$.wall_s_likely') AS wall_likely,"
    " json_extract(text, '$.wall_s_high') AS wall_high,"
    " json_extract(text, '$.usd_low') AS usd_low,"
    " json_extract(text, '$.usd_likely') AS usd_likely,"
    " json_extract(text, '$.usd_high') AS usd_high,"
    " coalesce(((SELECT max(coalesce(ended_utc, (SELECT max(start_utc + end_ns"
    "   - start_ns) FROM held WHERE held.epoch=run.epoch), epoch)) FROM run"
    "  WHERE epoch>=at_utc AND epoch<next_utc) - at_utc) / 1e9, 0.0)"
    "  AS took_s,"
    " coalesce((SELECT sum(end_ns - start_ns) / 1e9 FROM held"
    "  WHERE start_utc>=at_utc AND start_utc<next_utc), 0.0) AS held_s,"
    " (SELECT CASE WHEN count(*)=count(rate_usd_per_h)"
    "   THEN sum((end_ns - start_ns) / 3.6e12 * rate_usd_per_h) END FROM held"
    "  WHERE start_utc>=at_utc AND start_utc<next_utc"
    "   AND phase IN ('search', 'proof', 'confirm')) AS took_usd,"
    " coalesce((SELECT min(coalesce(ending, '')='done') FROM run"
    "  WHERE epoch>=at_utc AND epoch<next_utc), 0) AS ended"
    " FROM c WHERE json_extract(text, '$.wall_s_low') IS NOT NULL"
    " ORDER BY at_utc, id";

#define AT(member, kind) ROW_AT(struct foreseen_command, member, kind)
#define AS(column, member, kind) \
    ROW_AS(struct foreseen_command, column, member, kind)
static const struct row_column columns[] = {
    AT(begun_utc, INT),
    AS("from_where", from, CHARS),
    AS("wall_low", wall_s.low, REAL),
    AS("wall_likely", wall_s.likely, REAL),
    AS("wall_high", wall_s.high, REAL),
    AS("usd_low", usd.low, REAL),
    AS("usd_likely", usd.likely, REAL),
    AS("usd_high", usd.high, REAL),
    AT(took_s, REAL),
    AT(held_s, REAL),
    AT(took_usd, REAL),
    AT(ended, BOOL),
};
static const struct row_shape shape = ROW_SHAPE(NULL, columns);

int foreseen_load(struct store *store, struct foreseen *out, struct err *err)
{
    struct foreseen_command row;
    struct row_query query;
    int rc = row_open(store_db(store), query_text, &shape, &query, err, "");

    *out = (struct foreseen){ 0 };
    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1) {
        terminal_clean(row.from, false);
        out->list = mem_grow(out->list, out->n + 1, sizeof(*out->list));
        out->list[out->n++] = row;
    }
    row_close(&query);
    if (rc < 0)
        foreseen_fini(out);
    return err_within(err, err_only(rc), "%s", store_path(store));
}

void foreseen_fini(struct foreseen *foreseen)
{
    free(foreseen->list);
    *foreseen = (struct foreseen){ 0 };
}

const struct foreseen_command *foreseen_newest(const struct foreseen *foreseen)
{
    for (size_t i = foreseen->n; i-- > 0;)
        if (!foreseen->list[i].ended || foreseen->list[i].held_s >= IDLE_S)
            return &foreseen->list[i];
    return foreseen->n > 0 ? &foreseen->list[foreseen->n - 1] : NULL;
}

bool foreseen_holds(const struct foreseen_range *range, double took)
{
    return took >= range->low && took <= range->high;
}
