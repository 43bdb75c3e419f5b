/* --effort, applied to the search settings and the sweep file. */
#include "coordinator/tasks/run.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/buf.h"
#include "common/device_kind.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/search/effort.h"
#include "coordinator/spec/spec.h"

#define LEAVES_OUT_MAX 2048

static void put(struct buf *out, const char *unit, const char *most, int64_t is,
                int64_t was)
{
    if (is < was)
        buf_printf(out, "%s%" PRId64 " of %s%" PRId64 " %s",
                   out->len ? "; " : "", is, most, was, unit);
}

/* Before they are left out. */
static void put_externals(const struct run *run, struct buf *out)
{
    const struct spec_externals *externals = &run->spec->externals;
    const char *before = out->len ? "; no " : "no ";

    for (size_t i = 0; !run->replay && i < externals->n; i++)
        if (externals->list[i].name != run->spec->confirm.against) {
            buf_printf(out, "%s%s", before, externals->list[i].name);
            before = ", ";
        }
}

static void put_fuzz_shapes(const struct run *run, int64_t most,
                            struct buf *out)
{
    size_t n;

    (void)spec_fuzz_shapes(run->spec, run->set.device, &n);
    if (!run->spec->confirm.unproved && !run->replay)
        put(out, "fuzz shapes", "", most, (int64_t)n);
}

/* A confirmation on the cpu device is shorter than any effort makes it. */
static void be_quick(struct run *run, const struct effort_limits *was,
                     const struct effort_limits *is)
{
    bool chosen = run->set.strategy || run->set.search.evaluations > 0 ||
                  search_settings_command(&run->search_settings);
    bool emulated = device_kind_is(run->set.device, DEVICE_KIND_CPU);
    struct buf text;

    buf_init(&text, LEAVES_OUT_MAX);
    if (!chosen)
        buf_printf(&text,
                   "the search ends after %g s with at least %d "
                   "configurations, or after %d",
                   EFFORT_QUICK_SEARCH_S, EFFORT_QUICK_LEAST,
                   EFFORT_QUICK_EVALUATIONS);
    if (!run->spec->confirm.off && !emulated) {
        put(&text, "finalists", "at most ", is->finalists, was->finalists);
        put(&text, "blocks", "at most ", is->blocks, was->blocks);
    }
    if (!run->spec->confirm.off) {
        put_fuzz_shapes(run, is->fuzz_shapes, &text);
        put_externals(run, &text);
    }
    run->leaves_out = mem_printf("effort quick: %s", buf_text(&text));
    buf_fini(&text);
    spec_for_quick(run->spec, (size_t)is->fuzz_shapes);
}

static void be_thorough(struct run *run, const struct effort_limits *is)
{
    run->leaves_out =
        mem_printf("effort full: all configurations that pass; at most %" PRId64
                   " finalists and %" PRId64 " blocks",
                   is->finalists, is->blocks);
}

int run_effort(struct run *run, struct err *err)
{
    struct search_settings *settings = &run->search_settings;
    struct spec_confirm *confirm = &run->spec->confirm;
    struct effort_limits was = { confirm->finalists_max, confirm->blocks_max,
                                 INT32_MAX },
                         is;
    bool program = search_settings_command(settings) != NULL;

    if (run->set.effort &&
        effort_read(run->set.effort, &settings->effort, err) < 0)
        return ERR_INPUT;
    if (settings->effort == EFFORT_NORMAL)
        return 0;
    is = was;
    effort_limit(settings->effort, &is);
    if (settings->effort == EFFORT_QUICK)
        be_quick(run, &was, &is);
    else
        be_thorough(run, &is);
    confirm->finalists_max = is.finalists;
    confirm->blocks_max = is.blocks;
    if (settings->effort == EFFORT_FULL || !program) {
        settings->strategy = SEARCH_SETTINGS_AUTO;
        settings->evaluations = 0;
    }
    return 0;
}

void run_say_effort(const struct run *run)
{
    if (run->leaves_out && !run->set.quiet)
        fprintf(stderr, "%s\n", run->leaves_out);
}
