/* Frees a spec. */
#include <stdint.h>
#include <stdlib.h>

#include "coordinator/search/effort.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/spec/spec.h"

static void free_values(struct value *values, size_t n)
{
    for (size_t i = 0; i < n && values; i++)
        if (values[i].kind == VALUE_TEXT)
            free((char *)(uintptr_t)values[i].text);
    free(values);
}

static void free_named(struct spec_named *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(list[i].name);
        free(list[i].rule.text);
        free(list[i].unit);
    }
    free(list);
}

static void free_kernel(struct spec_kernel *kernel)
{
    free(kernel->source);
    free(kernel->entry);
    for (int i = 0; i < 3; i++) {
        free(kernel->launch.grid[i].text);
        free(kernel->launch.block[i].text);
    }
    free(kernel->launch.smem.text);
}

static void free_shapes(struct spec_shape *shapes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(shapes[i].name);
        free(shapes[i].vars);
    }
    free(shapes);
}

static void free_arguments(struct spec *spec)
{
    for (size_t i = 0; i < spec->n_arguments; i++) {
        struct spec_argument *argument = &spec->arguments[i];

        free(argument->name);
        free(argument->scale_rule.text);
        free(argument->value.text);
        free(argument->file);
        free(argument->bounds[0].text);
        free(argument->bounds[1].text);
        for (size_t j = 0; j < SPEC_DIMS_MAX; j++)
            free(argument->dims[j].text);
    }
    free(spec->arguments);
}

static void free_texts(char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

static void free_external(struct spec_external *external)
{
    free(external->name);
    free_texts(external->command, external->n_command);
    free_texts(external->ask, external->n_ask);
    free_texts(external->files, external->n_files);
    free(external->files_at);
}

static void free_externals(struct spec_externals *externals)
{
    for (size_t i = 0; i < externals->n; i++)
        free_external(&externals->list[i]);
    free(externals->list);
}

void spec_for_record(struct spec *spec)
{
    free_externals(&spec->externals);
    spec->externals = (struct spec_externals){ .list = NULL };
    spec->confirm.against = NULL;
    while (spec->shapes.n > 1) {
        spec->shapes.n--;
        free(spec->shapes.list[spec->shapes.n].name);
        free(spec->shapes.list[spec->shapes.n].vars);
    }
}

/* Nearly proportional to its elements, and to the reference's time; only
 * compared with others of the list. */
static double size_of(const struct spec_shape *shape, size_t n_vars)
{
    double size = 1;

    for (size_t i = 0; i < n_vars; i++)
        if (shape->vars[i] > 1)
            size *= (double)shape->vars[i];
    return size;
}

static void thin(struct spec_shape *list, size_t *n, size_t n_vars, size_t most)
{
    double sizes[SPEC_SHAPES_MAX];
    bool keep[SPEC_SHAPES_MAX];
    size_t kept = 0;

    for (size_t i = 0; i < *n; i++)
        sizes[i] = size_of(&list[i], n_vars);
    effort_thin(sizes, *n, most, keep);
    for (size_t i = 0; i < *n; i++) {
        if (keep[i]) {
            list[kept++] = list[i];
            continue;
        }
        free(list[i].name);
        free(list[i].vars);
    }
    *n = kept;
}

void spec_for_quick(struct spec *spec, size_t most)
{
    struct spec_externals *externals = &spec->externals;
    size_t kept = 0;

    for (size_t i = 0; i < externals->n; i++)
        if (externals->list[i].name == spec->confirm.against)
            externals->list[kept++] = externals->list[i];
        else
            free_external(&externals->list[i]);
    externals->n = kept;
    thin(spec->shapes.fuzz, &spec->shapes.n_fuzz, spec->shapes.n_vars, most);
    thin(spec->shapes.emulation_fuzz, &spec->shapes.n_emulation_fuzz,
         spec->shapes.n_vars, most);
}

void spec_free(struct spec *spec)
{
    if (!spec)
        return;
    free_externals(&spec->externals);
    for (size_t i = 0; i < spec->space.n_axes; i++) {
        free(spec->space.axes[i].name);
        free_values(spec->space.axes[i].values, spec->space.axes[i].n);
    }
    free(spec->space.axes);
    for (size_t i = 0; i < spec->space.n_gates; i++) {
        free(spec->space.gates[i].name);
        free(spec->space.gates[i].rule.text);
        free(spec->space.gates[i].why);
    }
    free(spec->space.gates);
    free_values(spec->baseline.values, spec->space.n_axes);
    free_named(spec->space.derived, spec->space.n_derived);
    free_named(spec->figures.metrics, spec->figures.n_metrics);
    free_named(spec->figures.floors, spec->figures.n_floors);
    free((char *)(uintptr_t)spec->search->strategy);
    free((char *)(uintptr_t)spec->search->objective);
    free(spec->search);
    free_kernel(&spec->kernel);
    free_kernel(&spec->reference);
    free_shapes(spec->shapes.list, spec->shapes.n);
    free_shapes(spec->shapes.emulation, spec->shapes.n_emulation);
    free_shapes(spec->shapes.fuzz, spec->shapes.n_fuzz);
    free_shapes(spec->shapes.emulation_fuzz, spec->shapes.n_emulation_fuzz);
    free_arguments(spec);
    spec_inputs_free(&spec->inputs);
    free_texts(spec->shapes.vars, spec->shapes.n_vars);
    free_texts(spec->compile.flags, spec->compile.n_flags);
    free(spec->name);
    free(spec->file.path);
    free(spec->file.folder);
    free(spec->file.name);
    free(spec->file.text);
    free(spec);
}
