#include "coordinator/compare/compare_differ.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/compare/compare_side.h"

/* A clock difference of this share can move times by as much as a threshold. */
#define CLOCK_OFF 0.01

/* ---- texts about the GPUs of a side */

typedef const char *gpu_text(const struct compare_gpu *gpu);

static const char *uuid_of(const struct compare_gpu *gpu)
{
    return gpu->uuid;
}

static const char *name_of(const struct compare_gpu *gpu)
{
    return gpu->name;
}

static const char *driver_of(const struct compare_gpu *gpu)
{
    return gpu->driver;
}

static const char *toolkit_of(const struct compare_gpu *gpu)
{
    return gpu->toolkit;
}

static bool has(const struct compare_side *side, gpu_text *text, const char *of)
{
    for (size_t i = 0; i < side->n_gpus; i++)
        if (strcmp(text(&side->gpus[i]), of) == 0)
            return true;
    return false;
}

/* Do both sides have the same texts? */
static bool same_set(const struct compare_side *a, const struct compare_side *b,
                     gpu_text *text)
{
    for (size_t i = 0; i < a->n_gpus; i++)
        if (!has(b, text, text(&a->gpus[i])))
            return false;
    for (size_t i = 0; i < b->n_gpus; i++)
        if (!has(a, text, text(&b->gpus[i])))
            return false;
    return true;
}

/* "550.54, 560.35"; the caller frees it. */
static char *list_of(const struct compare_side *side, gpu_text *text)
{
    char *list = mem_strdup("");

    for (size_t i = 0; i < side->n_gpus; i++) {
        const char *one = text(&side->gpus[i]);
        bool repeated = false;
        char *longer;

        for (size_t k = 0; k < i; k++)
            repeated = repeated || strcmp(text(&side->gpus[k]), one) == 0;
        if (repeated)
            continue;
        longer = mem_printf("%s%s%s", list, *list ? ", " : "",
                            *one ? one : "unknown");
        free(list);
        list = longer;
    }
    return list;
}

/* ---- differences that forbid a comparison */

static const char *kind_of(const struct compare_side *side)
{
    if (device_kind_is(side->report->device, DEVICE_KIND_CPU))
        return "emulated times (device cpu), which are not GPU times";
    if (!device_kind_is(side->report->device, DEVICE_KIND_REPLAY))
        return "times of a GPU";
    return report_is_emulated(side->report)
               ? "recorded times of the cpu device, which are not GPU times"
               : "recorded times (device replay)";
}

static bool are_records(const struct report *a, const struct report *b)
{
    return device_kind_is(a->device, DEVICE_KIND_REPLAY) &&
           device_kind_is(b->device, DEVICE_KIND_REPLAY);
}

static int refuse_model(const struct compare_side *a,
                        const struct compare_side *b, struct err *err)
{
    char *in_a = list_of(a, name_of), *in_b = list_of(b, name_of);
    int rc =
        err_set(err, ERR_INPUT,
                "%s was measured on %s (%s), %s on %s (%s): times of different "
                "GPU models cannot be compared%s",
                a->file.path, in_a, a->report->arch, b->file.path, in_b,
                b->report->arch,
                are_records(a->report, b->report)
                    ? "; --across-gpus compares records all the same"
                    : "");

    free(in_a);
    free(in_b);
    return rc;
}

static bool share_a_tunable(const struct report *a, const struct report *b)
{
    const struct stored_params *in_a, *in_b;

    if (a->n_configs == 0 || b->n_configs == 0)
        return true; /* unknown: allow it */
    in_a = &a->configs[0].params;
    in_b = &b->configs[0].params;
    for (size_t i = 0; i < in_a->n; i++)
        if (stored_params_find(in_b, in_a->items[i].name))
            return true;
    return in_a->n == 0 || in_b->n == 0;
}

/* Of two records, the kernels that they name; the sweep is called as the file
 * of its record. */
static bool have_one_name(const struct report *a, const struct report *b)
{
    const char *in_a = a->sweep.kernel, *in_b = b->sweep.kernel;

    return in_a && in_b && *in_a && *in_b ? strcmp(in_a, in_b) == 0
                                          : strcmp(a->name, b->name) == 0;
}

static const char *kernel_of(const struct report *report)
{
    return report->sweep.kernel && *report->sweep.kernel ? report->sweep.kernel
                                                         : report->name;
}

/* A sweep may be renamed, and a kernel may get other tunables, but not both at
 * once.  The shape of a record does not describe the problem: there the name
 * of the kernel decides, unless the user says that the records differ in GPU:
 * their names often have it. */
static bool are_two_kernels(const struct report *a, const struct report *b,
                            bool across_gpus)
{
    return !have_one_name(a, b) &&
           ((device_kind_is(a->device, DEVICE_KIND_REPLAY) && !across_gpus) ||
            !share_a_tunable(a, b));
}

static bool are_two_models(const struct compare_side *a,
                           const struct compare_side *b)
{
    return strcmp(a->report->arch, b->report->arch) != 0 ||
           !gpu_arch_same_model(&a->facts, &b->facts) ||
           (a->n_gpus && b->n_gpus && !same_set(a, b, name_of));
}

int compare_refuse(const struct compare_side *a, const struct compare_side *b,
                   bool across_gpus, struct err *err)
{
    if (across_gpus && !are_records(a->report, b->report))
        return err_set(err, ERR_INPUT,
                       "compare: --across-gpus is for records; %s holds %s, %s "
                       "holds %s",
                       a->file.path, kind_of(a), b->file.path, kind_of(b));
    if (strcmp(a->report->device, b->report->device) != 0 ||
        report_is_emulated(a->report) != report_is_emulated(b->report))
        return err_set(err, ERR_INPUT,
                       "%s holds %s, %s holds %s: these cannot be compared",
                       a->file.path, kind_of(a), b->file.path, kind_of(b));
    if (are_two_kernels(a->report, b->report, across_gpus))
        return err_set(err, ERR_INPUT,
                       "%s is a sweep of '%s', %s of '%s': different kernels "
                       "cannot be compared%s",
                       a->file.path, kernel_of(a->report), b->file.path,
                       kernel_of(b->report),
                       !across_gpus && are_records(a->report, b->report)
                           ? "; --across-gpus compares records of one kernel "
                             "on two GPUs"
                           : "");
    if (!across_gpus && are_two_models(a, b))
        return refuse_model(a, b, err);
    if (strcmp(a->l2, b->l2) != 0)
        return err_set(err, ERR_INPUT,
                       "%s was measured with \"l2\": \"%s\", %s with \"%s\": "
                       "such times cannot be compared",
                       a->file.path, a->l2, b->file.path, b->l2);
    return 0;
}

/* ---- differences that the reader must know */

struct list {
    char **items;
    size_t n;
};

/* Takes ownership of 'text'. */
static void add(struct list *list, char *text)
{
    list->items = mem_grow(list->items, list->n + 1, sizeof(*list->items));
    list->items[list->n++] = text;
}

static void warn_set(struct list *list, const struct compare_side *a,
                     const struct compare_side *b, gpu_text *text,
                     const char *what)
{
    char *in_a = list_of(a, text), *in_b = list_of(b, text);

    if (a->n_gpus && b->n_gpus && !same_set(a, b, text))
        add(list, mem_printf("%s: %s in A, %s in B", what, in_a, in_b));
    free(in_a);
    free(in_b);
}

static void warn_clock(struct list *list, const struct compare_side *a,
                       const struct compare_side *b)
{
    if (fabs(a->clock_mhz / b->clock_mhz - 1) > CLOCK_OFF)
        add(list, mem_printf("different clocks: %.0f MHz around the samples of "
                             "A, %.0f MHz around those of B",
                             a->clock_mhz, b->clock_mhz));
}

static void warn_ways(struct list *list, const struct compare_side *a,
                      const struct compare_side *b)
{
    for (size_t i = 0; i < a->n_ways; i++)
        for (size_t j = 0; j < b->n_ways; j++)
            if (strcmp(a->ways[i].shape, b->ways[j].shape) == 0 &&
                strcmp(a->ways[i].key, b->ways[j].key) != 0)
                add(list,
                    mem_printf("'%s' was measured differently: variables, "
                               "arguments, reference, tolerance or seed differ",
                               a->ways[i].shape));
}

static void warn_ending(struct list *list, const struct compare_side *side,
                        const char *which)
{
    if (strcmp(side->report->sweep.ending, "done") != 0)
        add(list, mem_printf("%s is incomplete: its last run %s%s", which,
                             side->report->sweep.ending[0] ? "ended: "
                                                           : "did not end",
                             side->report->sweep.ending));
}

void compare_warn(const struct compare_side *a, const struct compare_side *b,
                  char ***out, size_t *n)
{
    struct list list = { NULL, 0 };

    if (report_is_emulated(a->report))
        add(&list, mem_strdup("both sides have emulated times, which say "
                              "nothing about a GPU"));
    if (a->file.volume == b->file.volume && a->file.inode == b->file.inode)
        add(&list,
            mem_strdup(
                "A and B are the same file: every difference is chance"));
    if (strcmp(a->report->name, b->report->name) != 0)
        add(&list, mem_printf("different sweeps: '%s' in A, '%s' in B",
                              a->report->name, b->report->name));
    if (are_two_models(a, b))
        warn_set(&list, a, b, name_of,
                 "two models of GPU, so every ratio is one of GPUs, too");
    else
        warn_set(&list, a, b, uuid_of,
                 "different GPUs of the same model, which often differ by more "
                 "than 1 %");
    warn_set(&list, a, b, driver_of, "another driver");
    warn_set(&list, a, b, toolkit_of, "another toolkit");
    warn_clock(&list, a, b);
    warn_ways(&list, a, b);
    warn_ending(&list, a, "A");
    warn_ending(&list, b, "B");
    *out = list.items;
    *n = list.n;
}
