#include "coordinator/builds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql.h"
#include "coordinator/store.h"

enum {
    REGISTERS_MAX = 255, /* a thread, on all architectures of the table */
    WARPS_FEW = 8        /* an SM: two for each of its four schedulers */
};

static const struct {
    const char *name, *why;
} gates[BUILDS_GATES] = {
    [BUILDS_LAUNCH] = { "launch", "a block needs more registers, threads or "
                                  "shared memory than the device gives one" },
    [BUILDS_SPILLS] = { "spills", "registers go to local memory and back" },
    [BUILDS_REGISTERS] = { "registers", "all 255 of a thread are in use: the "
                                        "compiler had none to spare" },
    [BUILDS_OCCUPANCY] = { "occupancy", "fewer than 8 warps an SM, two for "
                                        "each scheduler" },
};

const char *builds_gate_name(enum builds_gate gate)
{
    return gates[gate].name;
}

const char *builds_gate_kind(enum builds_gate gate)
{
    return gate == BUILDS_LAUNCH ? "reject" : "warn";
}

const char *builds_gate_why(enum builds_gate gate)
{
    return gates[gate].why;
}

static unsigned hits_of(const struct build_row *row)
{
    const struct occupancy *held = &row->occupancy;
    const bool hit[BUILDS_GATES] = {
        [BUILDS_LAUNCH] = held->blocks_per_sm == 0,
        [BUILDS_SPILLS] = row->use.spill_stores + row->use.spill_loads > 0,
        [BUILDS_REGISTERS] = row->use.registers >= REGISTERS_MAX,
        [BUILDS_OCCUPANCY] =
            held->blocks_per_sm > 0 && held->warps_per_sm < WARPS_FEW,
    };
    unsigned hits = 0;

    for (unsigned g = 0; g < BUILDS_GATES; g++)
        hits |= (unsigned)hit[g] << g;
    return hits;
}

static int find_launch(struct builds *builds, struct build_row *row,
                       struct err *err)
{
    const struct spec *spec = builds->spec;
    struct value values[SPEC_AXES_MAX];
    struct space_launch launch;
    size_t n;
    const struct spec_shape *shapes = space_shapes(builds->space, &n);
    int rc;

    plan_values(builds->plan, (int)(row - builds->rows), values);
    rc = space_launch(builds->space, values, &shapes[0], &launch, err);
    if (rc < 0)
        return err_within(err, rc, "%s", spec->file);
    row->threads = launch.block[0] * launch.block[1] * launch.block[2];
    row->dynamic_smem = launch.smem;
    row->occupancy = occupancy_of(
        &(struct occupancy_block){ .threads = row->threads,
                                   .registers = row->use.registers,
                                   .smem_bytes =
                                       row->use.static_smem + launch.smem },
        builds->facts);
    row->hits = hits_of(row);
    return 0;
}

static void take(struct builds *builds, struct sqlite3_stmt *stmt,
                 struct build_row *row)
{
    row->known = true;
    snprintf(row->outcome, sizeof(row->outcome), "%s", sql_text(stmt, 0));
    row->built = strcmp(row->outcome, "built") == 0;
    free(row->detail);
    row->detail = mem_strdup(sql_text(stmt, 1));
    snprintf(row->artifact, sizeof(row->artifact), "%s", sql_text(stmt, 2));
    if (sql_int(stmt, 4) == 0)
        row->seconds = sql_real(stmt, 3);
    row->use = ptxas_use(sql_text(stmt, 5), builds->spec->kernel.entry);
    snprintf(builds->toolkit, sizeof(builds->toolkit), "%s", sql_text(stmt, 6));
}

static int find(struct builds *builds, struct sqlite3_stmt *stmt,
                struct build_row *row, struct err *err)
{
    int rc = sql_start(stmt, err, "ss", row->unit->key, row->unit->source_key);

    if (rc == 0)
        rc = sql_step(stmt, err);
    if (rc == 1) {
        take(builds, stmt, row);
        sql_reset(stmt);
        if (row->built)
            rc = find_launch(builds, row, err);
    }
    return rc < 0 ? rc : 0;
}

/* What a killed compiler left says least. */
static int read_rows(struct builds *builds, struct store *store,
                     struct err *err)
{
    static const char sql[] =
        "SELECT outcome, detail, artifact, seconds, cached, log,"
        " (SELECT toolkit FROM host WHERE name = b.host) FROM build b"
        " WHERE config = ? AND source_key = ? AND purpose = 'kernel'"
        " ORDER BY outcome = 'crash', received_utc DESC LIMIT 1";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), sql, &stmt, err);

    if (rc < 0)
        return err_within(err, rc, "%s", store_path(store));
    for (size_t i = 0; rc == 0 && i < builds->n; i++)
        rc = find(builds, stmt, &builds->rows[i], err);
    sql_free(stmt);
    return rc;
}

static void find_dead(struct builds *builds)
{
    const struct spec *spec = builds->spec;
    struct dead_point *points = mem_new(builds->n, sizeof(*points));
    size_t sizes[SPEC_AXES_MAX], n = 0;

    for (size_t i = 0; i < spec->n_axes; i++)
        sizes[i] = spec->axes[i].n;
    for (size_t i = 0; i < builds->n; i++)
        if (builds->rows[i].built && builds->rows[i].unit->point >= 0)
            points[n++] = (struct dead_point){ builds->rows[i].unit->point,
                                               builds->rows[i].artifact };
    dead_axes(sizes, spec->n_axes, points, n, builds->dead);
    free(points);
}

static int read_db(struct builds *builds, const char *db, struct err *err)
{
    struct store *store;
    int rc;

    if (access(db, F_OK) < 0)
        return 0;
    rc = store_open(db, STORE_READ, &store, err);
    if (rc < 0)
        return rc;
    rc = read_rows(builds, store, err);
    store_close(store);
    return rc;
}

int builds_load(const struct spec *spec, struct space *space,
                const struct arch_facts *facts, const char *arch,
                const char *db, struct builds **out, struct err *err)
{
    struct builds *builds = mem_new(1, sizeof(*builds));
    const char *device = strcmp(arch, "cpu") == 0 ? "cpu" : "cuda";
    int rc;

    *builds = (struct builds){ .spec = spec, .space = space, .facts = facts };
    rc = plan_make(spec, space, NULL, device, arch, &builds->plan, err);
    if (rc == 0) {
        builds->n = (size_t)plan_units(builds->plan);
        builds->rows = mem_new(builds->n, sizeof(*builds->rows));
        for (size_t i = 0; i < builds->n; i++)
            builds->rows[i] =
                (struct build_row){ .unit = plan_unit(builds->plan, (int)i),
                                    .detail = mem_strdup(""),
                                    .seconds = (double)NAN };
        rc = read_db(builds, db, err);
    }
    if (rc < 0) {
        builds_free(builds);
        return rc;
    }
    find_dead(builds);
    *out = builds;
    return 0;
}

void builds_free(struct builds *builds)
{
    if (!builds)
        return;
    for (size_t i = 0; i < builds->n; i++)
        free(builds->rows[i].detail);
    free(builds->rows);
    plan_free(builds->plan);
    free(builds);
}

size_t builds_failed(const struct builds *builds)
{
    size_t n = 0;

    for (size_t i = 0; i < builds->n; i++)
        n += builds->rows[i].known && !builds->rows[i].built;
    return n;
}
