#include "coordinator/stored/stored_refuted.h"

#include "common/err.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"

#define REFUTED(member) ROW_AT(struct stored_refuted, member, TEXT)
static const struct row_column columns[] = {
    REFUTED(config),
    REFUTED(outcome),
    REFUTED(reason),
};
static const struct row_shape shape = ROW_SHAPE(NULL, columns);

int stored_refuted_each(struct store *store, stored_refuted_fn *fn, void *arg,
                        struct err *err)
{
    struct row_query query;
    struct stored_refuted row;
    int rc = row_open(store_db(store), STORED_REFUTED " ORDER BY t.config",
                      &shape, &query, err, "");

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        fn(arg, &row);
    row_close(&query);
    return err_within(err, rc, "%s", store_path(store));
}
