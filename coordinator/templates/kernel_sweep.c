#include "coordinator/templates/kernel_sweep.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/mem.h"
#include "coordinator/source/c_text.h"
#include "coordinator/source/kernel_scan.h"
#include "coordinator/source/type_name.h"

#define THREADS "256"   /* where no macro looks like the size of a block */
#define SIZE_LEAST 1024 /* of a macro N that is a size, and no factor */

static bool is_bool(const struct kernel_scan_macro *macro)
{
    return macro->value[0] == 't' || macro->value[0] == 'f';
}

/* The macro that is most likely the threads of a block; NULL if none is. */
static const struct kernel_scan_macro *
block_of(const struct kernel_scan_macro *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct kernel_scan_macro *macro = &list[i];
        bool named =
            strstr(macro->name, "BLOCK") || strstr(macro->name, "THREADS");

        if (named && !is_bool(macro) && atol(macro->value) >= 32)
            return macro;
    }
    return NULL;
}

/* How many threads a block has: the name of a tunable, or a number.  A sweep
 * needs a tunable: if the source has none, one that it does not know sets the
 * threads, and those that the source itself relies on are its only value. */
struct threads {
    const char *is;    /* in the launch */
    const char *added; /* the name of that tunable, or NULL */
    const char *fixed; /* what the source relies on, or NULL */
};

static struct threads threads_of(const struct kernel_scan *kernel,
                                 const char *code)
{
    static const char *const names[] = { "BLOCK", "BLOCK_SIZE", "THREADS",
                                         "THREADS_PER_BLOCK", "BLOCK_THREADS" };
    const struct kernel_scan_macro *block =
        block_of(kernel->macros, kernel->n_macros);
    const struct kernel_scan_macro *fixed =
        block_of(kernel->fixed, kernel->n_fixed);
    struct threads out = { .fixed = fixed ? fixed->value : NULL };
    size_t i = 0;

    if (block) {
        out.is = block->name;
        return out;
    }
    out.is = out.fixed ? out.fixed : THREADS;
    if (kernel->n_macros > 0)
        return out;
    while (i + 1 < sizeof(names) / sizeof(names[0]) &&
           c_text_find_word(code, names[i]))
        i++;
    out.is = out.added = names[i];
    return out;
}

/* ---- the size of the problem */

struct size {
    const char *name;  /* of the shape's variable */
    const char *value; /* the only one that the source computes, or NULL */
};

static const struct kernel_scan_macro *
find_macro(const struct kernel_scan_macro *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(list[i].name, name) == 0) /* as SQL compares names */
            return &list[i];
    return NULL;
}

/* Is this macro the size that a build computes?  It is no tunable then: the
 * reference, which knows no tunables, has the same size. */
static bool is_size(const struct kernel_scan_macro *macro)
{
    return macro && !is_bool(macro) && strcmp(macro->name, "N") == 0 &&
           atol(macro->value) >= SIZE_LEAST;
}

/* Its name is not that of a tunable. */
static struct size size_of(const struct kernel_scan *kernel)
{
    static const char *const names[] = { "N", "SIZE", "LENGTH", "ELEMENTS",
                                         "TOTAL" };
    const struct kernel_scan_macro *is =
        find_macro(kernel->macros, kernel->n_macros, "N");
    struct size out = { names[0], NULL };

    if (!is)
        is = find_macro(kernel->fixed, kernel->n_fixed, "N");
    if (is_size(is)) {
        out.value = is->value;
        return out;
    }
    for (size_t i = 1; i < sizeof(names) / sizeof(names[0]) &&
                       find_macro(kernel->macros, kernel->n_macros, out.name);
         i++)
        out.name = names[i];
    return out;
}

/* The macros but for the size; the caller frees the list. */
static struct kernel_scan without_size(const struct kernel_scan *kernel)
{
    struct kernel_scan out = *kernel;

    out.macros = mem_new(kernel->n_macros + 1, sizeof(*out.macros));
    out.n_macros = 0;
    for (size_t i = 0; i < kernel->n_macros; i++)
        if (!is_size(&kernel->macros[i]))
            out.macros[out.n_macros++] = kernel->macros[i];
    return out;
}

size_t kernel_sweep_tunables(const struct kernel_scan *scan)
{
    size_t n = 0;

    for (size_t i = 0; i < scan->n_macros; i++)
        n += !is_size(&scan->macros[i]);
    return n > 0 ? n : 1; /* the threads of a block */
}

static bool is_output(const struct kernel_scan_parameter *parameter)
{
    return parameter->pointer && !parameter->constant;
}

/* ---- the sweep file */

/* Half of the value, itself and twice that. */
static void put_values(const struct kernel_scan_macro *macro, FILE *to)
{
    long value = atol(macro->value);

    if (is_bool(macro))
        fputs("[false, true]", to);
    else if (macro->is_switch && (value == 0 || value == 1))
        fputs("[0, 1]", to);
    else if (value <= 0)
        fprintf(to, "[%ld, 1]", value);
    else if (value % 2 == 0)
        fprintf(to, "[%ld, %ld, %ld]", value / 2, value, 2 * value);
    else
        fprintf(to, "[%ld, %ld]", value, 2 * value);
}

static void put_tunables(const struct kernel_scan *kernel,
                         const struct threads *threads, FILE *to)
{
    fputs(
        "  // CHECK the values to try. A macro in an #ifndef of its name is a "
        "tunable.\n  \"tunables\": {",
        to);
    for (size_t i = 0; i < kernel->n_macros; i++) {
        fprintf(to, "%s\n    \"%s\": ", i ? "," : "", kernel->macros[i].name);
        put_values(&kernel->macros[i], to);
    }
    if (threads->added && threads->fixed)
        fprintf(to, "\n    \"%s\": [%s]", threads->added, threads->fixed);
    else if (threads->added)
        fprintf(to, "\n    \"%s\": [128, " THREADS ", 512]", threads->added);
    fputs("\n  },\n", to);
}

static bool is_real(const struct kernel_scan_parameter *is)
{
    return strncmp(is->type, "int", 3) != 0;
}

static void put_arguments(const struct kernel_scan *kernel, const char *size,
                          FILE *to)
{
    fputs("  // CHECK the shapes and the values, and that a pointer that is "
          "not const is written\n"
          "  // and not read (\"inout\": true if it is both).\n"
          "  \"arguments\": [",
          to);
    for (size_t i = 0; i < kernel->n; i++) {
        const struct kernel_scan_parameter *is = &kernel->parameters[i];

        fprintf(to, "%s\n    { \"name\": \"%s\", \"type\": \"%s\", ",
                i ? "," : "", is->name, is->type);
        if (!is->pointer) /* a factor that is neither 0 nor 1, or a size */
            fprintf(to, "\"value\": \"%s\" }", is_real(is) ? "1.5" : size);
        else if (is_output(is))
            fprintf(to, "\"shape\": [\"%s\"], \"output\": true }", size);
        else
            fprintf(to, "\"shape\": [\"%s\"], \"fill\": \"normal\" }", size);
    }
    fputs("\n  ],\n", to);
}

static void put_baseline(const struct kernel_scan *kernel,
                         const struct threads *threads, FILE *to)
{
    fputs("  \"baseline\": {", to);
    for (size_t i = 0; i < kernel->n_macros; i++)
        fprintf(to, "%s \"%s\": %s", i ? "," : "", kernel->macros[i].name,
                kernel->macros[i].value);
    if (threads->added)
        fprintf(to, " \"%s\": %s", threads->added,
                threads->fixed ? threads->fixed : THREADS);
    fputs(" }\n", to);
}

static void put_shapes(const struct size *size, FILE *to)
{
    if (size->value)
        fprintf(to,
                "  // CHECK the size: the source computes only that of its "
                "macro %s.\n"
                "  \"shapes\": [ { \"name\": \"n%s\", \"%s\": %s } ],\n\n",
                size->name, size->value, size->name, size->value);
    else
        fprintf(to,
                "  // CHECK the sizes: the first shape is ranked, "
                "emulation_shapes are for --device cpu.\n"
                "  \"shapes\": [ { \"name\": \"n16m\", \"%s\": 16777216 } ],\n"
                "  \"emulation_shapes\": [ { \"name\": \"n5k\", \"%s\": 5001 } "
                "],\n\n",
                size->name, size->name);
}

char *kernel_sweep_json(const struct kernel_scan *scan, const char *source,
                        const char *code)
{
    const struct kernel_scan kernel = without_size(scan);
    const struct threads threads = threads_of(&kernel, code);
    const struct size size = size_of(scan);
    char *text = NULL;
    size_t len = 0;
    FILE *to = mem_stream(&text, &len);

    fprintf(to,
            "// Made from %s. docs/sweep-file.md explains every member.\n"
            "{\n"
            "  \"name\": \"%s\",\n"
            "  \"kernel\": { \"source\": \"%s\", \"entry\": \"%s\" },\n\n",
            source, kernel.entry, source, kernel.entry);
    put_tunables(&kernel, &threads, to);
    fprintf(to,
            "\n  // CHECK the grid: one thread an element is a guess.\n"
            "  \"launch\": { \"grid\": [\"(%s + %s - 1) / %s\"], \"block\": "
            "[\"%s\"] },\n\n",
            size.name, threads.is, threads.is, threads.is);
    put_shapes(&size, to);
    put_arguments(&kernel, size.name, to);
    fprintf(to,
            "\n  \"reference\": { \"source\": \"reference.cu\", \"entry\": "
            "\"%s_reference\",\n"
            "                 \"launch\": { \"grid\": [\"(%s + 255) / 256\"], "
            "\"block\": [256] } },\n"
            "  \"tolerance\": { \"relative_l2\": 1e-5 },\n",
            kernel.entry, size.name);
    put_baseline(&kernel, &threads, to);
    fputs("}\n", to);
    mem_stream_close(to, &text);
    free(kernel.macros);
    return text;
}

/* ---- the reference */

static const char *type_in_c(const struct kernel_scan_parameter *parameter)
{
    return is_output(parameter) ? "double" : type_name_in_c(parameter->type);
}

static bool has_type(const struct kernel_scan *kernel, const char *type)
{
    for (size_t i = 0; i < kernel->n; i++)
        if (strcmp(kernel->parameters[i].type, type) == 0 &&
            !is_output(&kernel->parameters[i]))
            return true;
    return false;
}

char *kernel_sweep_reference(const struct kernel_scan *scan)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = mem_stream(&text, &len);

    fputs("/* What the kernel is compared with: easy to read, in double, one "
          "thread an\n * element. Each output is a double. */\n",
          to);
    if (has_type(scan, "fp16"))
        fputs("#include <cuda_fp16.h>\n", to);
    if (has_type(scan, "bf16"))
        fputs("#include <cuda_bf16.h>\n", to);
    if (has_type(scan, "int64") || has_type(scan, "int8"))
        fputs("#include <stdint.h>\n", to);
    fprintf(to, "extern \"C\" __global__ void %s_reference(", scan->entry);
    for (size_t i = 0; i < scan->n; i++) {
        const struct kernel_scan_parameter *is = &scan->parameters[i];

        fprintf(to, "%s%s%s %s%s", i ? ", " : "",
                is->pointer && is->constant ? "const " : "", type_in_c(is),
                is->pointer ? "*" : "", is->name);
    }
    fputs(")\n"
          "{\n"
          "    const long long i = (long long)blockIdx.x * blockDim.x + "
          "threadIdx.x;\n\n"
          "    // The last block reaches beyond the arrays: begin with a "
          "condition on i.\n"
          "#error write here what element i of each output is\n"
          "}\n",
          to);
    mem_stream_close(to, &text);
    return text;
}
