/* The winner as JSON: the same facts as the header, for programs. */
#include <math.h>
#include <string.h>

#include "common/buf.h"
#include "coordinator/config/config.h"
#include "coordinator/export/export.h"
#include "coordinator/result/report.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_config.h"
#include "coordinator/text/json_out.h"

#define TEXT_MAX (1 << 16)

static void put_winner(const struct export *export, struct json_out *out)
{
    const struct winner *winner = &export->winner;

    json_out_text(out, "name", export->report->name);
    json_out_text(out, "prefix", export->prefix);
    json_out_raw(out, "config", winner->config->json);
    json_out_text(out, "key", winner->config->key);
    json_out_int(out, "rank", winner->config->rank);
    json_out_bool(out, "baseline", winner->config->baseline);
    json_out_text(out, "state", winner->state);
    if (winner->shape)
        json_out_text(out, "best_at", winner->shape);
    else
        json_out_null(out, "best_at");
    if (isnan(winner->low_s)) {
        json_out_null(out, "interval_s");
        return;
    }
    json_out_open(out, "interval_s", '[');
    json_out_real(out, NULL, winner->low_s);
    json_out_real(out, NULL, winner->high_s);
    json_out_close(out);
}

static void put_derived(const struct export *export, struct json_out *out)
{
    const struct spec *spec = export->stored->spec;

    json_out_open(out, "derived", '{');
    for (size_t i = 0; i < spec->space.n_derived; i++) {
        struct buf text;

        buf_init(&text, TEXT_MAX);
        value_json(&export->derived[i], &text);
        json_out_raw(out, spec->space.derived[i].name, buf_text(&text));
        buf_fini(&text);
    }
    json_out_close(out);
}

static void put_kernel(const struct export *export, struct json_out *out)
{
    const struct spec *spec = export->stored->spec;

    json_out_open(out, "kernel", '{');
    json_out_text(out, "source", spec->kernel.source);
    json_out_text(out, "entry", spec->kernel.entry);
    json_out_text(out, "standard", spec->compile.standard);
    json_out_text(out, "arch", export->report->arch);
    json_out_open(out, "flags", '[');
    for (size_t i = 0; i < spec->compile.n_flags; i++)
        json_out_text(out, NULL, spec->compile.flags[i]);
    json_out_close(out);
    json_out_close(out);
}

static void put_argument(const struct spec_argument *argument,
                         struct json_out *out)
{
    json_out_open(out, NULL, '{');
    json_out_text(out, "name", argument->name);
    json_out_text(out, "type", argument->type);
    if (argument->buffer) {
        json_out_open(out, "shape", '[');
        for (size_t d = 0; d < argument->n_dims; d++)
            json_out_text(out, NULL, argument->dims[d].text);
        json_out_close(out);
        json_out_bool(out, "output", argument->output);
    } else {
        json_out_text(out, "value", argument->value.text);
    }
    json_out_close(out);
}

/* Grid, block and shared memory: as SQL texts, or as numbers. */
static void put_launch(const struct export *export,
                       const struct space_launch *launch, struct json_out *out)
{
    const struct spec *spec = export->stored->spec;

    for (size_t i = 0; i < EXPORT_LAUNCHES; i++) {
        bool alone = i == EXPORT_LAUNCHES - 1;
        const char *key = alone ? "smem" : NULL;

        if (i == 0 || i == 3)
            json_out_open(out, i ? "block" : "grid", '[');
        if (!launch)
            json_out_text(out, key, export_launch_rule(spec, i)->text);
        else
            json_out_int(out, key,
                         alone   ? launch->smem
                         : i < 3 ? launch->grid[i]
                                 : launch->block[i - 3]);
        if (i == 2 || i == 5)
            json_out_close(out);
    }
}

static int put_shape(struct export *export, size_t s, struct json_out *out,
                     struct err *err)
{
    const struct report *report = export->report;
    const struct report_cell *cell = &export->winner.config->cells[s];
    const struct report_config *baseline = report_baseline(report);
    const struct stored_spec *stored = export->stored;
    const struct spec_shape *shapes;
    struct space_launch launch;
    size_t n_shapes;
    int rc;

    shapes = space_shapes(stored->space, &n_shapes);
    rc = space_launch(stored->space, stored->values, &shapes[s], &launch, err);
    if (rc < 0)
        return rc;
    json_out_open(out, NULL, '{');
    json_out_text(out, "name", report->shapes[s].name);
    json_out_raw(out, "vars", report->shapes[s].vars);
    if (export->has_kernel)
        put_launch(export, &launch, out);
    json_out_real(out, "median_s", cell->summary.median);
    json_out_real(out, "spread_s", cell->summary.spread);
    json_out_int(out, "n_samples", (int64_t)cell->n_samples);
    json_out_real(out, "speedup",
                  baseline ? baseline->cells[s].time_s / cell->time_s
                           : (double)NAN);
    json_out_real(out, "relative_l2", cell->relative_l2);
    json_out_real(out, "max_error", cell->max_error);
    json_out_close(out);
    return 0;
}

static void put_known(struct json_out *out, const char *key, const char *text)
{
    if (text && *text)
        json_out_text(out, key, text);
    else
        json_out_null(out, key);
}

static void put_origin(const struct export *export, struct json_out *out)
{
    const struct export_origin *origin = &export->origin;

    json_out_open(out, "origin", '{');
    json_out_text(out, "database", export->database);
    json_out_text(out, "device", export->report->device);
    json_out_bool(out, "emulated", report_is_emulated(export->report));
    put_known(out, "gpu", origin->gpu);
    put_known(out, "driver", origin->driver);
    put_known(out, "toolkit", origin->toolkit);
    if (origin->measured_utc || !export->report->sweep.recorded_on)
        json_out_utc(out, "measured", origin->measured_utc);
    else
        json_out_null(out, "measured");
    put_known(out, "source_key", origin->source_key);
    put_known(out, "artifact", origin->artifact);
    json_out_raw(out, "facts", export->report->sweep.facts);
    json_out_close(out);
}

static void put_call(const struct export *export, struct json_out *out)
{
    const struct spec *spec = export->stored->spec;

    if (!export->has_kernel) {
        json_out_null(out, "kernel");
        json_out_null(out, "arguments");
        json_out_null(out, "launch");
        return;
    }
    put_kernel(export, out);
    json_out_open(out, "arguments", '[');
    for (size_t i = 0; i < spec->n_arguments; i++)
        put_argument(&spec->arguments[i], out);
    json_out_close(out);
    json_out_open(out, "launch", '{');
    put_launch(export, NULL, out);
    json_out_close(out);
}

int export_json(struct export *export, FILE *to, struct err *err)
{
    struct json_out out;
    int rc = 0;

    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    put_winner(export, &out);
    put_derived(export, &out);
    put_call(export, &out);
    json_out_open(&out, "shapes", '[');
    for (size_t s = 0; s < export->report->n_shapes && rc == 0; s++)
        rc = put_shape(export, s, &out, err);
    json_out_close(&out);
    put_origin(export, &out);
    json_out_close(&out);
    return rc;
}
