/* The end of a spec, piece by piece. */
#include <stdint.h>
#include <stdlib.h>

#include "coordinator/spec.h"

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
    free_texts(external->files, external->n_files);
    free(external->files_at);
}

void spec_for_record(struct spec *spec)
{
    free_external(&spec->external);
    spec->external = (struct spec_external){ .name = NULL };
    while (spec->n_shapes > 1) {
        spec->n_shapes--;
        free(spec->shapes[spec->n_shapes].name);
        free(spec->shapes[spec->n_shapes].vars);
    }
}

void spec_free(struct spec *spec)
{
    if (!spec)
        return;
    free_external(&spec->external);
    for (size_t i = 0; i < spec->n_axes; i++) {
        free(spec->axes[i].name);
        free_values(spec->axes[i].values, spec->axes[i].n);
    }
    free(spec->axes);
    for (size_t i = 0; i < spec->n_gates; i++) {
        free(spec->gates[i].name);
        free(spec->gates[i].rule.text);
        free(spec->gates[i].why);
    }
    free(spec->gates);
    free_values(spec->baseline, spec->n_axes);
    free_named(spec->derived, spec->n_derived);
    free_named(spec->metrics, spec->n_metrics);
    free_named(spec->floors, spec->n_floors);
    free((char *)(uintptr_t)spec->search.strategy);
    free((char *)(uintptr_t)spec->search.objective);
    free_kernel(&spec->kernel);
    free_kernel(&spec->reference);
    free_shapes(spec->shapes, spec->n_shapes);
    free_shapes(spec->emulation_shapes, spec->n_emulation_shapes);
    free_shapes(spec->fuzz_shapes, spec->n_fuzz_shapes);
    free_shapes(spec->emulation_fuzz_shapes, spec->n_emulation_fuzz_shapes);
    free_arguments(spec);
    free_texts(spec->vars, spec->n_vars);
    free_texts(spec->flags, spec->n_flags);
    free(spec->name);
    free(spec->path);
    free(spec->folder);
    free(spec->file);
    free(spec->text);
    free(spec);
}
