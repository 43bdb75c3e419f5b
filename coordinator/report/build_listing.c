#include "coordinator/report/build_listing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/result/evidence.h"
#include "coordinator/space/space_config.h"
#include "coordinator/store/store.h"

enum {
    REGISTERS_MAX = 255, /* a thread, on all architectures of the table */
    WARPS_FEW = 8        /* an SM: two for each of its four schedulers */
};

static const struct {
    const char *name, *why;
} gates[BUILD_LISTING_GATES] = {
    [BUILD_LISTING_LAUNCH] = { "launch",
                               "a block needs more registers, threads or "
                               "shared memory than the device allows" },
    [BUILD_LISTING_SPILLS] = { "spills",
                               "registers are spilled to local memory" },
    [BUILD_LISTING_REGISTERS] = { "registers", "the compiler uses all 255 "
                                               "registers of a thread" },
    [BUILD_LISTING_OCCUPANCY] = { "occupancy", "fewer than 8 warps per SM, two "
                                               "for each scheduler" },
};

const char *build_listing_gate_name(enum build_listing_gate gate)
{
    return gates[gate].name;
}

const char *build_listing_gate_kind(enum build_listing_gate gate)
{
    return gate == BUILD_LISTING_LAUNCH ? "reject" : "warn";
}

const char *build_listing_gate_why(enum build_listing_gate gate)
{
    return gates[gate].why;
}

static unsigned hits_of(const struct build_row *row)
{
    const struct occupancy *held = &row->occupancy;
    const bool hit[BUILD_LISTING_GATES] = {
        [BUILD_LISTING_LAUNCH] = held->blocks_per_sm == 0,
        [BUILD_LISTING_SPILLS] =
            row->use.spill_stores + row->use.spill_loads > 0,
        [BUILD_LISTING_REGISTERS] = row->use.registers >= REGISTERS_MAX,
        [BUILD_LISTING_OCCUPANCY] =
            held->blocks_per_sm > 0 && held->warps_per_sm < WARPS_FEW,
    };
    unsigned hits = 0;

    for (unsigned g = 0; g < BUILD_LISTING_GATES; g++)
        hits |= (unsigned)hit[g] << g;
    return hits;
}

static int find_launch(struct build_listing *listing, struct build_row *row,
                       struct err *err)
{
    const struct spec *spec = listing->spec;
    struct value values[SPEC_AXES_MAX];
    struct space_launch launch;
    size_t n;
    const struct spec_shape *shapes = space_shapes(listing->space, &n);
    int rc;

    plan_values(listing->plan, (int)(row - listing->rows), values);
    rc = space_launch(listing->space, values, &shapes[0], &launch, err);
    if (rc < 0)
        return err_within(err, rc, "%s", spec->file.name);
    row->threads = launch.block[0] * launch.block[1] * launch.block[2];
    row->dynamic_smem = launch.smem;
    row->occupancy = occupancy_of(
        &(struct occupancy_block){ .threads = row->threads,
                                   .registers = row->use.registers,
                                   .smem_bytes =
                                       row->use.static_smem + launch.smem },
        listing->facts);
    row->hits = hits_of(row);
    return 0;
}

static void take(struct build_listing *listing,
                 const struct evidence_build *build, struct build_row *row)
{
    row->known = true;
    snprintf(row->outcome, sizeof(row->outcome), "%s", build->outcome);
    row->built = outcome_is(row->outcome, OUTCOME_BUILT);
    free(row->detail);
    row->detail = mem_strdup(build->detail);
    snprintf(row->artifact, sizeof(row->artifact), "%s", build->artifact);
    if (!build->cached)
        row->seconds = build->seconds;
    row->use = ptxas_use(build->log, listing->spec->kernel.entry);
    snprintf(listing->toolkit, sizeof(listing->toolkit), "%s", build->toolkit);
}

static int find(struct build_listing *listing, struct row_query *builds,
                struct build_row *row, struct err *err)
{
    struct evidence_build build;
    int rc = evidence_builds_find(builds, row->unit->key, row->unit->source_key,
                                  &build, err);

    if (rc == 1) {
        take(listing, &build, row);
        rc = row->built ? find_launch(listing, row, err) : 0;
    }
    return rc;
}

static int read_rows(struct build_listing *listing, struct store *store,
                     struct err *err)
{
    struct row_query *builds = NULL;
    int rc = evidence_builds_open(store, &builds, err);

    for (size_t i = 0; rc == 0 && i < listing->n; i++)
        rc = find(listing, builds, &listing->rows[i], err);
    evidence_builds_close(builds);
    return rc;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The first of equal texts, from 1. */
static uint32_t number_of(const char *const *sorted, size_t n, const char *text)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (strcmp(sorted[middle], text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low + 1;
}

static void find_dead(struct build_listing *listing)
{
    const struct spec *spec = listing->spec;
    struct dead_tunables_point *points = mem_new(listing->n, sizeof(*points));
    const char **codes = mem_new(listing->n + 1, sizeof(*codes));
    size_t sizes[SPEC_AXES_MAX], n_codes = 0, n = 0;

    for (size_t i = 0; i < spec->space.n_axes; i++)
        sizes[i] = spec->space.axes[i].n;
    for (size_t i = 0; i < listing->n; i++)
        if (listing->rows[i].built)
            codes[n_codes++] = listing->rows[i].artifact;
    if (n_codes)
        qsort(codes, n_codes, sizeof(*codes), by_text);
    for (size_t i = 0; i < listing->n; i++)
        if (listing->rows[i].built && listing->rows[i].unit->point >= 0)
            points[n++] = (struct dead_tunables_point){
                listing->rows[i].unit->point,
                number_of(codes, n_codes, listing->rows[i].artifact)
            };
    dead_tunables_axes(sizes, spec->space.n_axes, points, n, listing->dead);
    free(codes);
    free(points);
}

static int read_db(struct build_listing *listing, const char *db,
                   struct err *err)
{
    struct store *store;
    int rc;

    if (access(db, F_OK) < 0)
        return 0;
    rc = store_open(db, STORE_WHOLE, &store, err);
    if (rc < 0)
        return rc;
    rc = read_rows(listing, store, err);
    store_close(store);
    return rc;
}

int build_listing_load(const struct spec *spec, struct space *space,
                       const struct gpu_arch_facts *facts, const char *arch,
                       const char *db, struct build_listing **out,
                       struct err *err)
{
    struct build_listing *listing = mem_new(1, sizeof(*listing));
    const char *device = device_kind_is(arch, DEVICE_KIND_CPU)
                             ? arch
                             : device_kind_name(DEVICE_KIND_CUDA);
    int rc;

    *listing =
        (struct build_listing){ .spec = spec, .space = space, .facts = facts };
    rc = plan_make(spec, space, NULL, device, arch, &listing->plan, err);
    if (rc == 0) {
        listing->n = (size_t)plan_units(listing->plan);
        listing->rows = mem_new(listing->n, sizeof(*listing->rows));
        for (size_t i = 0; i < listing->n; i++)
            listing->rows[i] =
                (struct build_row){ .unit = plan_unit(listing->plan, (int)i),
                                    .detail = mem_strdup(""),
                                    .seconds = (double)NAN };
        rc = read_db(listing, db, err);
    }
    if (rc < 0) {
        build_listing_free(listing);
        return rc;
    }
    find_dead(listing);
    *out = listing;
    return 0;
}

void build_listing_free(struct build_listing *listing)
{
    if (!listing)
        return;
    for (size_t i = 0; i < listing->n; i++)
        free(listing->rows[i].detail);
    free(listing->rows);
    plan_free(listing->plan);
    free(listing);
}

size_t build_listing_failed(const struct build_listing *listing)
{
    size_t n = 0;

    for (size_t i = 0; i < listing->n; i++)
        n += listing->rows[i].known && !listing->rows[i].built;
    return n;
}
