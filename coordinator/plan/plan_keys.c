/* The keys of a configuration, of a build, and of a result. */
#include "coordinator/plan/plan_internal.h"

#include <inttypes.h>
#include <stdio.h>

#include "coordinator/config/config.h"
#include "coordinator/replay/replay.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_config.h"
#include "coordinator/spec/spec.h"
#include "coordinator/spec/spec_check.h"

/* Version of the values that the fills generate (worker/runner/wire/fill.h).
 * Change it when their bits change, so that results for other inputs do not
 * count. */
#define FILL_REVISION "fill 2"

/* More than the text of all rules. */
#define TOLERANCE_BYTES 256
#define TRIALS_BYTES 128

static void hash_launch(struct hash *hash, const struct spec_launch *launch)
{
    for (int i = 0; i < 3; i++) {
        hash_text(hash, launch->grid[i].text);
        hash_text(hash, launch->block[i].text);
    }
    hash_text(hash, launch->smem.text);
}

/* A reference is compiled plainly: no flags, no tunables. */
void plan_reference_key(struct plan *plan, char out[HASH_HEX])
{
    struct hash hash;

    hash_init(&hash);
    hash_text(&hash, "reference");
    hash_text(&hash, plan->reference.hash);
    hash_text(&hash, plan->spec->reference.entry);
    hash_text(&hash, plan->spec->compile.standard);
    hash_text(&hash, plan->arch);
    hash_launch(&hash, &plan->spec->reference.launch);
    hash_end(&hash, out);
}

/* Writes the header of the configuration in plan->values to plan->text.  In a
 * replay this is its record. */
int plan_header(struct plan *plan, struct err *err)
{
    int rc;

    if (plan->spec->replay)
        return replay_record(plan->spec->replay, plan->values,
                             &plan->message.text, err);
    rc = space_derive(plan->space, plan->values, plan->derived, err);

    buf_clear(&plan->message.text);
    if (rc == 0)
        config_header(plan->spec, plan->values, plan->derived,
                      &plan->message.text);
    return rc;
}

int plan_kernel_key(struct plan *plan, char out[HASH_HEX], struct err *err)
{
    const struct spec *spec = plan->spec;
    struct hash hash;
    int rc = plan_header(plan, err);

    if (rc < 0)
        return rc;
    hash_init(&hash);
    hash_text(&hash, "kernel");
    hash_text(&hash, plan->kernel.hash);
    hash_text(&hash, buf_text(&plan->message.text));
    hash_text(&hash, spec->kernel.entry);
    hash_text(&hash, spec->compile.standard);
    hash_text(&hash, plan->arch);
    for (size_t i = 0; i < spec->compile.n_flags; i++)
        hash_text(&hash, spec->compile.flags[i]);
    hash_launch(&hash, &spec->kernel.launch);
    hash_end(&hash, out);
    return 0;
}

static void hash_argument(struct hash *hash, const struct spec_argument *arg,
                          const struct spec_input *input)
{
    char text[64];
    struct buf tolerance;

    hash_text(hash, arg->name);
    hash_text(hash, arg->type);
    for (size_t i = 0; i < arg->n_dims; i++)
        hash_text(hash, arg->dims[i].text);
    snprintf(text, sizeof(text), "%d %d %d %.17g", arg->buffer, arg->output,
             arg->workspace, arg->scale);
    hash_text(hash, text);
    hash_text(hash, arg->buffer ? arg->fill : "");
    hash_text(hash, arg->value.text ? arg->value.text : "");
    if (arg->scale_rule.text) /* its variables are those of the shape */
        hash_text(hash, arg->scale_rule.text);
    if (arg->infinities)
        hash_text(hash, "infinities");
    for (size_t i = 0; i < 2; i++)
        if (arg->bounds[i].text)
            hash_text(hash, arg->bounds[i].text);
    if (input) /* its name does not matter */
        hash_text(hash, input->hash);
    if (!arg->output)
        return;
    buf_init(&tolerance, TOLERANCE_BYTES);
    spec_check_tolerance(&arg->tolerance, &tolerance);
    hash_text(hash, buf_text(&tolerance));
    buf_fini(&tolerance);
}

void plan_shape_key(struct plan *plan, const struct spec_shape *shape,
                    char out[HASH_HEX])
{
    const struct spec *spec = plan->spec;
    struct hash hash;
    struct buf trials;
    char text[160];

    hash_init(&hash);
    hash_text(&hash, FILL_REVISION);
    hash_text(&hash, shape->name);
    for (size_t i = 0; i < spec->shapes.n_vars; i++) {
        snprintf(text, sizeof(text), "%s=%" PRId64, spec->shapes.vars[i],
                 shape->vars[i]);
        hash_text(&hash, text);
    }
    for (size_t i = 0; i < spec->n_arguments; i++)
        hash_argument(&hash, &spec->arguments[i],
                      spec_inputs_at(spec, &spec->arguments[i], shape));
    hash_text(&hash, plan->units[plan->n].source_key);
    snprintf(text, sizeof(text), "%" PRId64 " %s", spec->measure.seed,
             spec->measure.l2);
    hash_text(&hash, text);
    buf_init(&trials, TRIALS_BYTES);
    spec_check_trials(spec, &trials);
    hash_text(&hash, buf_text(&trials));
    buf_fini(&trials);
    hash_end(&hash, out);
}

int plan_source_key(struct plan *plan, int64_t point, char out[HASH_HEX],
                    struct err *err)
{
    space_values(plan->space, point, plan->values);
    return plan_kernel_key(plan, out, err);
}

const char *plan_measure_key(const struct plan *plan, int shape)
{
    return plan->measure_keys[shape];
}

void plan_task_key(const struct plan *plan, int unit, int shape,
                   char out[HASH_HEX])
{
    struct hash hash;

    hash_init(&hash);
    hash_text(&hash, plan->units[unit].source_key);
    hash_text(&hash, plan->measure_keys[shape]);
    hash_end(&hash, out);
}

void plan_argument(const struct spec_argument *argument,
                   char out[PLAN_ARGUMENT_BYTES])
{
    snprintf(out, PLAN_ARGUMENT_BYTES, "%s %zu", argument->name,
             argument->buffer ? sizeof(int64_t) : argument->type_bytes);
}

void plan_build_key(const struct plan *plan, int unit, const char *toolkit,
                    char out[HASH_HEX])
{
    const struct spec *spec = plan->spec;
    char argument[PLAN_ARGUMENT_BYTES];
    struct hash hash;

    hash_init(&hash);
    hash_text(&hash, plan->units[unit].source_key);
    hash_text(&hash, toolkit);
    for (size_t i = 0; i < spec->n_arguments && !spec->replay; i++) {
        plan_argument(&spec->arguments[i], argument);
        hash_text(&hash, argument);
    }
    hash_end(&hash, out);
}
