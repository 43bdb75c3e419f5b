/* The winner as a header of C, C++ and CUDA, and as options of a compiler. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/device_kind.h"
#include "common/mem.h"
#include "coordinator/config/config.h"
#include "coordinator/export/export.h"
#include "coordinator/result/report.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/gpu_arch.h"

#define TEXT_MAX (1 << 16)

/* Text inside a comment must not end the comment or begin another. */
static void comment(FILE *to, const char *text)
{
    for (; *text; text++) {
        fputc(*text, to);
        if ((text[0] == '*' && text[1] == '/') ||
            (text[0] == '/' && text[1] == '*'))
            fputc(' ', to);
    }
}

static void fact(FILE *to, const char *name, const char *text)
{
    fprintf(to, " *   %-15s", name);
    comment(to, text && *text ? text : "unknown");
    fputc('\n', to);
}

/* ---- the comment: parameters and origin */

static void put_shape(struct export *export, size_t s, FILE *to)
{
    const struct report *report = export->report;
    const struct report_cell *cell = &export->winner.config->cells[s];
    const struct report_config *baseline = report_baseline(report);
    const struct spec *spec = export->stored->spec;
    const struct spec_shape *shapes;
    size_t n_shapes;
    double ratio = NAN;

    shapes = space_shapes(export->stored->space, &n_shapes);
    if (baseline)
        ratio = baseline->cells[s].time_s / cell->time_s;
    fprintf(to, " *   %-15s", s ? "" : "median");
    fprintf(to, "%.3f us for %s (", cell->summary.median * 1e6,
            report->shapes[s].name);
    for (size_t i = 0; i < spec->shapes.n_vars && s < n_shapes; i++)
        fprintf(to, "%s%s=%" PRId64, i ? " " : "", spec->shapes.vars[i],
                shapes[s].vars[i]);
    fprintf(to, "), spread %.3f us, %zu samples", cell->summary.spread * 1e6,
            cell->n_samples);
    if (!isnan(ratio))
        fprintf(to, ", %.3f x baseline", ratio);
    fputc('\n', to);
}

static void put_interval(const struct winner *winner, FILE *to)
{
    char text[80] = "none";

    if (!isnan(winner->low_s))
        snprintf(text, sizeof(text), "%.3f to %.3f us", winner->low_s * 1e6,
                 winner->high_s * 1e6);
    fact(to, "interval", text);
}

static void put_build(const struct export *export, FILE *to)
{
    const struct spec *spec = export->stored->spec;
    struct buf text;

    buf_init(&text, TEXT_MAX);
    buf_printf(&text, "%s -std=%s", spec->kernel.source,
               spec->compile.standard);
    if (device_kind_is(export->report->device, DEVICE_KIND_CUDA))
        buf_printf(&text, " -arch=%s", export->report->arch);
    for (size_t i = 0; i < spec->compile.n_flags; i++)
        buf_printf(&text, " %s", spec->compile.flags[i]);
    fact(to, "build", buf_text(&text));
    buf_fini(&text);
}

static void put_arguments(const struct spec *spec, FILE *to)
{
    for (size_t i = 0; i < spec->n_arguments; i++) {
        const struct spec_argument *argument = &spec->arguments[i];
        struct buf text;

        buf_init(&text, TEXT_MAX);
        buf_printf(&text, "%s %s%s", argument->type,
                   argument->buffer ? "*" : "", argument->name);
        for (size_t d = 0; d < argument->n_dims; d++)
            buf_printf(&text, "%s%s", d ? ", " : " [", argument->dims[d].text);
        if (argument->buffer)
            buf_printf(&text, argument->output ? "], output" : "]");
        else
            buf_printf(&text, " = %s", argument->value.text);
        fact(to, i ? "" : "arguments", buf_text(&text));
        buf_fini(&text);
    }
}

/* What made the figures.  A record has the GPU only. */
static void put_origin(struct export *export, FILE *to)
{
    const struct export_origin *origin = &export->origin;
    const struct report *report = export->report;
    bool emulated = report_is_emulated(report);
    char measured[CLOCK_ISO_BYTES] = "";

    if (origin->measured_utc)
        clock_iso(origin->measured_utc, measured);
    if (emulated)
        fact(to, "device", "cpu: emulated, these are not GPU times");
    else
        fact(to, "gpu", origin->gpu);
    if (report->sweep.recorded_on) {
        fact(to, "database", export->database);
        return;
    }
    fact(to, "driver", emulated ? "none" : origin->driver);
    fact(to, "toolkit", origin->toolkit);
    fact(to, "measured", measured);
    fact(to, "database", export->database);
    fact(to, "kernel sources", origin->source_key);
    fact(to, "artifact", origin->artifact);
}

static void put_head(struct export *export, FILE *to)
{
    const struct report *report = export->report;
    struct buf text;

    buf_init(&text, TEXT_MAX);
    config_text(export->stored->spec, export->stored->values, &text);
    fprintf(to, "/* clang-format off */\n"
                "/* A tuned configuration, written by fa-coord export.\n *\n");
    fact(to, "sweep", report->name);
    fact(to, "configuration", buf_text(&text));
    fact(to, "state", export->winner.state);
    if (export->winner.shape)
        fact(to, "best at", export->winner.shape);
    if (export->winner.config->rank == 0)
        fact(to, "median", "none");
    for (size_t s = 0; s < report->n_shapes && export->winner.config->rank; s++)
        put_shape(export, s, to);
    put_interval(&export->winner, to);
    put_origin(export, to);
    if (export->has_kernel) {
        put_build(export, to);
        put_arguments(export->stored->spec, to);
    }
    fprintf(to, " */\n");
    buf_fini(&text);
}

/* ---- the code */

static void put_macros(const struct export *export, bool derived,
                       const char *title, FILE *to)
{
    bool any = false;

    for (size_t i = 0; i < export->n_macros; i++) {
        const struct export_macro *macro = &export->macros[i];
        bool negative = macro->value[0] == '-';

        if (macro->derived != derived)
            continue;
        if (!any)
            fprintf(to, "/* %s */\n", title);
        any = true;
        fprintf(to, "#define %s %s%s%s\n", macro->exported, negative ? "(" : "",
                macro->value, negative ? ")" : "");
    }
    if (any)
        fputc('\n', to);
}

static void put_facts(const struct export *export, FILE *to)
{
    if (!export->facts_used)
        return;
    fprintf(to, "/* Of the GPU it was tuned on; before this header, define "
                "those of yours. */\n");
    for (size_t i = 0; i < GPU_ARCH_FACTS; i++) {
        char *name;

        if (!(export->facts_used >> i & 1))
            continue;
        name = export_name(export, gpu_arch_fact_name(i));
        fprintf(
            to, "#ifndef %s\n#define %s %s\n#endif\n", name, name,
            stored_params_find(&export->facts, gpu_arch_fact_name(i))->text);
        free(name);
    }
    fputc('\n', to);
}

static void put_kernel(const struct export *export, FILE *to)
{
    const char *prefix = export->prefix;

    fprintf(to,
            "/* the kernel, and what it was compiled for */\n"
            "#define %s_KERNEL_ENTRY \"%s\"\n"
            "#define %s_KERNEL_STANDARD \"%s\"\n"
            "#define %s_KERNEL_ARCH \"%s\"\n\n",
            prefix, export->stored->spec->kernel.entry, prefix,
            export->stored->spec->compile.standard, prefix,
            export->report->arch);
}

static void put_launch(const struct export *export, FILE *to)
{
    const struct spec *spec = export->stored->spec;

    fprintf(to, "/* The launch for a shape; each is a long long, and constant "
                "where the shape is.\n");
    for (size_t i = 0; i < EXPORT_LAUNCHES; i++) {
        fprintf(to, " *   %-9s", export_launch_names[i]);
        comment(to, export_launch_rule(spec, i)->text);
        fputc('\n', to);
    }
    fprintf(to, " */\n");
    for (size_t i = 0; i < EXPORT_LAUNCHES; i++) {
        fprintf(to, "#define %s_LAUNCH_%s(", export->prefix,
                export_launch_names[i]);
        for (size_t v = 0; v < spec->shapes.n_vars; v++)
            fprintf(to, "%s%s", v ? ", " : "", spec->shapes.vars[v]);
        fprintf(to, ") %s\n", export->launch[i]);
    }
    fputc('\n', to);
}

/* It has a guard of its own, because a program may have included the rest
 * before. */
static void put_plain(const struct export *export, FILE *to)
{
    fprintf(to,
            "/* What the source of the kernel reads: nvcc -DFA_EXPORT_KERNEL "
            "-include THIS ... */\n"
            "#if defined(FA_EXPORT_KERNEL) && !defined(%s_KERNEL_MACROS)\n"
            "#define %s_KERNEL_MACROS\n",
            export->prefix, export->prefix);
    for (size_t i = 0; i < export->n_macros; i++)
        fprintf(to, "#define %s %s\n", export->macros[i].name,
                export->macros[i].value);
    fprintf(to, "#endif\n");
}

void export_header(struct export *export, FILE *to)
{
    put_head(export, to);
    fprintf(to, "#ifndef %s_TUNED_H\n#define %s_TUNED_H\n\n", export->prefix,
            export->prefix);
    put_macros(export, false, "tunables", to);
    put_macros(export, true, "derived values", to);
    if (export->has_kernel) {
        put_kernel(export, to);
        put_facts(export, to);
        put_launch(export, to);
    }
    fprintf(to, "#endif\n\n");
    put_plain(export, to);
}

/* Values consist of letters, digits and _ . : + - (identifier.h), texts are
 * quoted. */
void export_flags(const struct export *export, FILE *to)
{
    for (size_t i = 0; i < export->n_macros; i++) {
        const struct export_macro *macro = &export->macros[i];
        const char *quote = macro->value[0] == '"' ? "'" : "";

        fprintf(to, "%s%s-D%s=%s%s", i ? " " : "", quote, macro->name,
                macro->value, quote);
    }
    fputc('\n', to);
}
