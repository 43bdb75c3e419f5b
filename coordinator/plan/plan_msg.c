/* The fields of messages that depend on a unit: sources, a build, a
 * measurement. */
#include "coordinator/plan/plan_internal.h"
#include "coordinator/plan/plan_msg.h"

#include <inttypes.h>
#include <string.h>

#include "common/msg_file.h"
#include "common/msg_work.h"
#include "coordinator/replay/replay.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_config.h"
#include "coordinator/spec/spec.h"
#include "coordinator/spec/spec_check.h"

static const struct bundle *bundle_of(const struct plan *plan, int unit)
{
    return plan_is_reference(plan, unit) ? &plan->reference : &plan->kernel;
}

void plan_bundle(struct plan *plan, int unit, struct msg_bundle *out)
{
    const struct bundle *bundle = bundle_of(plan, unit);

    for (size_t i = 0; i < bundle->n; i++) {
        plan->message.names[i] = bundle->files[i].name;
        plan->message.contents[i] =
            (struct bytes){ bundle->files[i].bytes, bundle->files[i].len };
    }
    out->hash = bundle->hash;
    out->names = (struct texts){ plan->message.names, bundle->n };
    out->contents = (struct blobs){ plan->message.contents, bundle->n };
}

static int recorded_build(struct plan *plan, int unit, struct msg_build *out,
                          struct err *err)
{
    struct replay *replay = plan->spec->replay;
    bool reference = plan_is_reference(plan, unit);
    int rc;

    if (!reference)
        plan_look_at(plan, unit);
    rc = replay_record(replay, reference ? NULL : plan->values,
                       &plan->message.text, err);
    plan->message.flag = replay_flag(replay);
    out->bundle = bundle_of(plan, unit)->hash;
    out->source = REPLAY_FILE;
    out->header = buf_text(&plan->message.text);
    out->entry = REPLAY_ENTRY;
    out->standard = plan->spec->compile.standard;
    out->arch = plan->arch;
    out->flags = (struct texts){ &plan->message.flag, 1 };
    return rc;
}

/* The reference takes the same: only what its outputs point to differs. */
static struct texts arguments_of(struct plan *plan)
{
    struct plan_message *message = &plan->message;
    size_t n = plan->spec->n_arguments;

    for (size_t i = 0; i < n; i++) {
        plan_argument(&plan->spec->arguments[i], message->argument_texts[i]);
        message->arguments[i] = message->argument_texts[i];
    }
    return (struct texts){ message->arguments, n };
}

int plan_build(struct plan *plan, int unit, struct msg_build *out,
               struct err *err)
{
    const struct spec *spec = plan->spec;
    bool reference = plan_is_reference(plan, unit);
    const struct spec_kernel *kernel =
        reference ? &spec->reference : &spec->kernel;
    int rc = 0;

    if (spec->replay)
        return recorded_build(plan, unit, out, err);
    buf_clear(&plan->message.text);
    if (!reference) {
        plan_look_at(plan, unit);
        rc = plan_header(plan, err);
    }
    out->bundle = bundle_of(plan, unit)->hash;
    out->source = kernel->source;
    out->header = buf_text(&plan->message.text);
    out->entry = kernel->entry;
    out->standard = spec->compile.standard;
    out->arch = plan->arch;
    out->arguments = arguments_of(plan);
    if (!reference)
        out->flags = (struct texts){ (const char *const *)spec->compile.flags,
                                     spec->compile.n_flags };
    return rc;
}

/* In a proof the values differ from shape to shape, beside their number. */
static int64_t seed_of(const struct spec *spec, const char *shape)
{
    uint64_t seed = (uint64_t)spec->measure.seed;

    if (!spec->measure.proof)
        return spec->measure.seed;
    for (; *shape; shape++) /* FNV-1a */
        seed = (seed ^ (unsigned char)*shape) * UINT64_C(0x100000001b3);
    return (int64_t)(seed >> 1);
}

static void put_argument(struct buf *to, const struct spec_argument *arg,
                         const struct space_argument *is,
                         const struct spec_input *input)
{
    buf_printf(to, "arg %s %s ", arg->name, arg->type);
    if (arg->buffer) {
        buf_printf(to, "buffer %" PRId64 " %s", is->count, arg->fill);
        if (strcmp(arg->fill, "ramp") == 0)
            buf_printf(to, " %" PRId64 " %" PRId64, is->rows, is->columns);
        else if (arg->bounds[1].text)
            buf_printf(to, " %" PRId64 " %" PRId64, is->low, is->high);
        else if (arg->bounds[0].text)
            buf_printf(to, " %" PRId64, is->high);
        else if (input)
            buf_printf(to, " %s", input->hash);
        buf_printf(to, " %.17g %s", is->scale,
                   arg->output      ? "out"
                   : arg->workspace ? "workspace"
                                    : "in");
        if (arg->infinities)
            buf_printf(to, " infinities");
        if (arg->output)
            spec_check_tolerance(&arg->tolerance, to);
        buf_printf(to, "\n");
    } else if (is->value.kind == VALUE_REAL)
        buf_printf(to, "scalar %.17g\n", is->value.real);
    else
        buf_printf(to, "scalar %" PRId64 "\n", is->value.integer);
}

static void put_triple(struct buf *to, const int64_t v[3])
{
    buf_printf(to, "%" PRId64 " %" PRId64 " %" PRId64, v[0], v[1], v[2]);
}

struct plan_sampling plan_sampling(const struct plan *plan, double incumbent_s)
{
    return (struct plan_sampling){ .least = plan->spec->measure.least,
                                   .most = plan->spec->measure.most,
                                   .incumbent_s = incumbent_s };
}

/* The launch and its arguments. */
static int put_work(struct plan *plan, const struct spec_shape *at,
                    struct buf *to, struct err *err)
{
    const struct spec *spec = plan->spec;
    struct space_launch launch = { { 0 }, { 0 }, 0 }, reference = launch;
    struct space_argument args[SPEC_LIST_MAX] = { { .count = 0 } };
    int rc = space_launch(plan->space, plan->values, at, &launch, err);

    if (rc == 0)
        rc = space_reference_launch(plan->space, at, &reference, err);
    if (rc == 0)
        rc = space_arguments(plan->space, plan->values, at, args, err);
    if (rc < 0)
        return rc;
    buf_printf(to, "measure\nentry %s\ngrid ", spec->kernel.entry);
    put_triple(to, launch.grid);
    buf_printf(to, "\nblock ");
    put_triple(to, launch.block);
    buf_printf(to, "\nsmem %" PRId64 "\n", launch.smem);
    for (size_t i = 0; i < spec->n_arguments; i++)
        put_argument(to, &spec->arguments[i], &args[i],
                     spec_inputs_at(spec, &spec->arguments[i], at));
    buf_printf(to, "reference %s ", spec->reference.entry);
    put_triple(to, reference.grid);
    buf_printf(to, " ");
    put_triple(to, reference.block);
    buf_printf(to, " %" PRId64 "\n", reference.smem);
    return 0;
}

struct texts plan_inputs(struct plan *plan, int shape)
{
    const struct spec *spec = plan->spec;
    size_t n = 0;

    for (size_t i = 0; i < spec->n_arguments; i++) {
        const struct spec_input *input =
            spec_inputs_at(spec, &spec->arguments[i], &plan->shapes[shape]);

        if (input)
            plan->message.inputs[n++] = input->hash;
    }
    return (struct texts){ plan->message.inputs, n };
}

int plan_measure(struct plan *plan, int unit, int shape,
                 const struct plan_sampling *sampling, const char **request,
                 struct err *err)
{
    const struct spec *spec = plan->spec;
    struct buf *to = &plan->message.text;
    int rc = 0;

    plan_look_at(plan, unit);
    buf_clear(to);
    if (spec->replay)
        replay_put_launch(to);
    else
        rc = put_work(plan, &plan->shapes[shape], to, err);
    if (rc < 0)
        return rc;
    buf_printf(to, "seed %" PRId64 "\ntrials ",
               seed_of(spec, plan_shape_name(plan, shape)));
    spec_check_trials(spec, to);
    buf_printf(to,
               "\nwarmups %d\nsamples %d %d\nnoise %.17g\nmargin %.17g\n"
               "incumbent_s %.17g\nl2 %s\ntimeout_s %.17g\n",
               spec->measure.warmups, sampling->least, sampling->most,
               spec->measure.noise, spec->measure.margin, sampling->incumbent_s,
               spec->measure.l2, spec->measure.timeout_s);
    if (sampling->repeats > 0)
        buf_printf(to, "repeats %d\n", sampling->repeats);
    *request = buf_text(to);
    return 0;
}
