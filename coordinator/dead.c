#include "coordinator/dead.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "coordinator/config.h"
#include "coordinator/space.h"
#include "coordinator/spec.h"
#include "coordinator/store.h"

struct order {
    int64_t stride;
    int64_t size;
};

/* The point without its coordinate on the axis: equal for those that differ
 * in nothing else. */
static int64_t group(const struct order *order, int64_t number)
{
    return number - number / order->stride % order->size * order->stride;
}

static int by_group(const void *a, const void *b, void *arg)
{
    int64_t x = group(arg, ((const struct dead_point *)a)->number);
    int64_t y = group(arg, ((const struct dead_point *)b)->number);

    return (x > y) - (x < y);
}

void dead_axes(const size_t *sizes, size_t axes, struct dead_point *points,
               size_t n, enum dead_verdict *out)
{
    int64_t stride = 1;

    for (size_t axis = 0; axis < axes; axis++)
        out[axis] = DEAD_UNKNOWN;
    if (n == 0)
        return;
    for (size_t axis = axes; axis-- > 0;) {
        struct order order = { stride, (int64_t)sizes[axis] };

        qsort_r(points, n, sizeof(*points), by_group, &order);
        for (size_t i = 1; i < n && out[axis] != DEAD_NO; i++)
            if (by_group(&points[i - 1], &points[i], &order) == 0)
                out[axis] =
                    strcmp(points[i - 1].artifact, points[i].artifact) == 0
                        ? DEAD_YES
                        : DEAD_NO;
        stride *= order.size;
    }
}

/* The newest build of a configuration, by key; NULL when there is none. */
static char *artifact_of(sqlite3_stmt *stmt, const char *key)
{
    char *artifact = NULL;

    sqlite3_bind_text(stmt, 1, key, -1, SQLITE_STATIC);
    if (sqlite3_step(stmt) == SQLITE_ROW)
        artifact = mem_strdup((const char *)sqlite3_column_text(stmt, 0));
    sqlite3_reset(stmt);
    return artifact;
}

struct found {
    struct dead_point *points;
    char **artifacts;
    size_t n;
};

static int find_builds(const struct spec *spec, struct space *space,
                       sqlite3_stmt *stmt, struct found *found, struct err *err)
{
    struct value *values = mem_new(spec->n_axes, sizeof(*values));
    struct space_point point;
    int rc;

    while ((rc = space_next(space, &point, err)) == 1) {
        char key[HASH_HEX], *artifact;

        space_values(space, point.number, values);
        config_key(spec, values, key);
        artifact = artifact_of(stmt, key);
        if (!artifact)
            continue;
        found->points =
            mem_grow(found->points, found->n + 1, sizeof(*found->points));
        found->artifacts =
            mem_grow(found->artifacts, found->n + 1, sizeof(*found->artifacts));
        found->points[found->n] = (struct dead_point){ point.number, artifact };
        found->artifacts[found->n++] = artifact;
    }
    free(values);
    return rc;
}

static int judge(const struct spec *spec, struct space *space,
                 struct store *store, enum dead_verdict *out, struct err *err)
{
    static const char sql[] =
        "SELECT artifact FROM build WHERE config = ?1 AND outcome = 'built' "
        "AND purpose = 'kernel' ORDER BY received_utc DESC LIMIT 1";
    struct sqlite3 *db = store_db(store);
    size_t *sizes = mem_new(spec->n_axes, sizeof(*sizes));
    struct found found = { 0 };
    sqlite3_stmt *stmt = NULL;
    int rc = 0;

    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        rc = err_set(err, ERR_STORE, "%s: %s", store_path(store),
                     sqlite3_errmsg(db));
    if (rc == 0)
        rc = find_builds(spec, space, stmt, &found, err);
    for (size_t i = 0; i < spec->n_axes; i++)
        sizes[i] = spec->axes[i].n;
    if (rc == 0)
        dead_axes(sizes, spec->n_axes, found.points, found.n, out);
    for (size_t i = 0; i < found.n; i++)
        free(found.artifacts[i]);
    free(found.artifacts);
    free(found.points);
    free(sizes);
    sqlite3_finalize(stmt);
    return rc;
}

int dead_from_db(const struct spec *spec, struct space *space, const char *db,
                 enum dead_verdict *out, struct err *err)
{
    struct store *store;
    int rc;

    for (size_t i = 0; i < spec->n_axes; i++)
        out[i] = DEAD_UNKNOWN;
    if (access(db, F_OK) < 0)
        return 0;
    rc = store_open(db, STORE_READ, &store, err);
    if (rc < 0)
        return rc;
    rc = judge(spec, space, store, out, err);
    store_close(store);
    return rc;
}
