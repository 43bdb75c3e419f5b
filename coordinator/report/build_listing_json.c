#include <math.h>
#include <stdlib.h>

#include "common/buf.h"
#include "coordinator/report/build_listing_sum.h"
#include "coordinator/space/space_config.h"
#include "coordinator/text/json_out.h"

#define FACTS_MAX 4096 /* bytes of JSON */

static void json_failures(const struct build_listing *listing,
                          struct json_out *out)
{
    struct build_listing_failure *failures;
    size_t n;

    failures = build_listing_failures(listing, &n);
    json_out_open(out, "failed_by_reason", '[');
    for (size_t i = 0; i < n; i++) {
        json_out_open(out, NULL, '{');
        json_out_text(out, "outcome", failures[i].first->outcome);
        json_out_text(out, "reason", failures[i].first->detail);
        json_out_int(out, "count", (int64_t)failures[i].n);
        json_out_text(out, "first", failures[i].first->unit->key);
        json_out_close(out);
    }
    json_out_close(out);
    free(failures);
}

static void json_figures(const struct build_listing *listing,
                         struct json_out *out)
{
    json_out_open(out, "figures", '{');
    for (int f = 0; f < FIGURE_COUNT; f++) {
        struct build_listing_spread spread =
            build_listing_spread(listing, (enum build_listing_figure)f);

        if (spread.n == 0) {
            json_out_null(
                out, build_listing_figure_name((enum build_listing_figure)f));
            continue;
        }
        json_out_open(
            out, build_listing_figure_name((enum build_listing_figure)f), '{');
        json_out_real(out, "min", spread.all.min);
        json_out_real(out, "median", spread.all.median);
        json_out_real(out, "max", spread.all.max);
        json_out_int(out, "above_zero", (int64_t)spread.above_zero);
        json_out_close(out);
    }
    json_out_close(out);
    json_out_open(out, "limiters", '{');
    for (int i = 0; i < BUILD_LISTING_LIMITERS; i++)
        json_out_int(
            out, build_listing_limiters[i],
            (int64_t)build_listing_limited(listing, build_listing_limiters[i]));
    json_out_close(out);
    json_out_open(out, "cubin_gates", '[');
    for (int g = 0; g < BUILD_LISTING_GATES; g++) {
        json_out_open(out, NULL, '{');
        json_out_text(out, "name",
                      build_listing_gate_name((enum build_listing_gate)g));
        json_out_text(out, "kind",
                      build_listing_gate_kind((enum build_listing_gate)g));
        json_out_int(out, "hit",
                     (int64_t)build_listing_gate_hits(
                         listing, (enum build_listing_gate)g));
        json_out_close(out);
    }
    json_out_close(out);
}

static void json_warnings(const struct build_listing *listing,
                          const struct build_row *row, struct json_out *out)
{
    char *warnings = plan_warnings(listing->plan, (int)(row - listing->rows));

    json_out_raw(out, "warnings", warnings);
    free(warnings);
    json_out_open(out, "cubin_warnings", '[');
    for (int g = 0; g < BUILD_LISTING_GATES; g++)
        if (row->hits >> g & 1)
            json_out_text(out, NULL,
                          build_listing_gate_name((enum build_listing_gate)g));
    json_out_close(out);
}

static int json_grid(const struct build_listing *listing,
                     const struct build_row *row, struct json_out *out,
                     struct err *err)
{
    struct value values[SPEC_AXES_MAX];
    size_t n;
    const struct spec_shape *shapes = space_shapes(listing->space, &n);
    int rc = 0;

    plan_values(listing->plan, (int)(row - listing->rows), values);
    json_out_open(out, "grid_blocks", '{');
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct space_launch launch;

        rc = space_launch(listing->space, values, &shapes[i], &launch, err);
        if (rc == 0)
            json_out_int(out, shapes[i].name,
                         launch.grid[0] * launch.grid[1] * launch.grid[2]);
    }
    json_out_close(out);
    return rc;
}

/* For a configuration that was not built, the facts of a cubin are null. */
static void json_use(const struct build_row *row, struct json_out *out)
{
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {
        { "registers", row->use.registers },
        { "spill_bytes", row->use.spill_stores + row->use.spill_loads },
        { "spill_store_bytes", row->use.spill_stores },
        { "spill_load_bytes", row->use.spill_loads },
        { "stack_bytes", row->use.stack_bytes },
        { "smem_bytes", row->use.static_smem + row->dynamic_smem },
        { "static_smem_bytes", row->use.static_smem },
        { "dynamic_smem_bytes", row->dynamic_smem },
        { "threads", row->threads },
        { "blocks_per_sm", row->occupancy.blocks_per_sm },
        { "warps_per_sm", row->occupancy.warps_per_sm },
    };

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (row->built)
            json_out_int(out, counts[i].name, counts[i].value);
        else
            json_out_null(out, counts[i].name);
    if (row->built) {
        json_out_real(out, "occupancy", row->occupancy.fraction);
        json_out_text(out, "limiter", row->occupancy.limiter);
        json_out_text(out, "cubin", row->artifact);
    } else {
        json_out_null(out, "occupancy");
        json_out_null(out, "limiter");
        json_out_null(out, "cubin");
    }
    json_out_real(out, "build_s", row->seconds);
    if (row->built)
        json_out_null(out, "error");
    else
        json_out_text(out, "error", row->known ? row->detail : "not built yet");
}

static int json_row(const struct build_listing *listing,
                    const struct build_row *row, struct json_out *out,
                    struct err *err)
{
    char *params = plan_params(listing->plan, (int)(row - listing->rows));
    int rc;

    json_out_open(out, NULL, '{');
    json_out_raw(out, "params", params);
    free(params);
    json_out_text(out, "key", row->unit->key);
    if (row->unit->point >= 0)
        json_out_int(out, "point", row->unit->point);
    else
        json_out_null(out, "point");
    json_out_bool(out, "baseline", row->unit->baseline);
    json_use(row, out);
    json_warnings(listing, row, out);
    rc = json_grid(listing, row, out, err);
    json_out_close(out);
    return rc;
}

static int json_shapes(const struct build_listing *listing,
                       struct json_out *out, struct err *err)
{
    const struct spec *spec = listing->spec;
    size_t n;
    const struct spec_shape *shapes = space_shapes(listing->space, &n);
    int rc = 0, floor;

    json_out_open(out, "shapes", '[');
    for (size_t i = 0; rc == 0 && i < n; i++) {
        double seconds;

        json_out_open(out, NULL, '{');
        json_out_text(out, "name", shapes[i].name);
        json_out_open(out, "vars", '{');
        for (size_t v = 0; v < spec->shapes.n_vars; v++)
            json_out_int(out, spec->shapes.vars[v], shapes[i].vars[v]);
        json_out_close(out);
        rc = space_floor(listing->space, &shapes[i], &seconds, &floor, err);
        json_out_real(out, "floor_s", rc == 0 ? seconds : (double)NAN);
        json_out_close(out);
    }
    json_out_close(out);
    return rc;
}

int build_listing_json(const struct build_listing *listing,
                       struct json_out *out, struct err *err)
{
    struct buf facts;
    int rc;

    buf_init(&facts, FACTS_MAX);
    gpu_arch_json(listing->facts, &facts);
    json_out_raw(out, "facts", buf_text(&facts));
    buf_fini(&facts);
    rc = json_shapes(listing, out, err);
    json_out_text(out, "toolkit", listing->toolkit);
    json_out_int(out, "built", (int64_t)build_listing_built(listing));
    json_out_int(out, "failed", (int64_t)build_listing_failed(listing));
    json_out_int(out, "distinct_codes",
                 (int64_t)build_listing_distinct(listing));
    json_out_real(out, "compile_s",
                  build_listing_spread(listing, FIGURE_BUILD_S).sum);
    json_failures(listing, out);
    json_figures(listing, out);
    json_out_open(out, "builds", '[');
    for (size_t i = 0; rc == 0 && i < listing->n; i++)
        rc = json_row(listing, &listing->rows[i], out, err);
    json_out_close(out);
    return rc;
}
