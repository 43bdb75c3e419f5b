#include "coordinator/plan/external_baseline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/msg_work.h"
#include "coordinator/spec/spec.h"
#include "coordinator/text/json.h"
#include "coordinator/text/value.h"

#define ARGUMENT_MAX (64 << 10)
#define SLACK 1.05 /* the clocks of the two machines may differ a little */
#define SLACK_S 0.01

/* Where a command is filled in. */
struct place {
    const struct spec *spec;
    const struct spec_external *external;
    const struct spec_shape *shape;
};

static int64_t value_of(const struct place *in, const char *name, size_t len)
{
    const struct spec_shapes *shapes = &in->spec->shapes;

    for (size_t i = 0; i < shapes->n_vars; i++)
        if (strlen(shapes->vars[i]) == len &&
            memcmp(shapes->vars[i], name, len) == 0)
            return in->shape->vars[i];
    return in->external->samples; /* the only other name that is allowed */
}

static char *put_values(const struct place *in, const char *text)
{
    struct buf out;
    size_t len;

    buf_init(&out, ARGUMENT_MAX);
    do {
        size_t plain = spec_placeholder(text, &len);

        buf_add(&out, text, plain);
        text += plain;
        if (len)
            buf_printf(&out, "%" PRId64, value_of(in, text + 1, len - 2));
        text += len;
    } while (len);
    buf_add(&out, "", 0);
    return out.bytes ? out.bytes : mem_strdup("");
}

char **external_baseline_command(const struct spec *spec,
                                 const struct spec_external *external,
                                 const struct spec_shape *shape)
{
    const struct place in = { spec, external, shape };
    char **command = mem_new(external->n_command, sizeof(*command));

    for (size_t i = 0; i < external->n_command; i++)
        command[i] = put_values(&in, external->command[i]);
    return command;
}

void external_baseline_command_free(const struct spec_external *external,
                                    char **command)
{
    for (size_t i = 0; command && i < external->n_command; i++)
        free(command[i]);
    free(command);
}

char *external_baseline_ask(const struct spec *spec,
                            const struct spec_external *external,
                            const struct spec_shape *shape)
{
    const struct place in = { spec, external, shape };
    struct buf out;

    if (external->n_ask == 0)
        return NULL;
    buf_init(&out, MSG_ASK_MAX);
    for (size_t i = 0; i < external->n_ask; i++) {
        char *text = put_values(&in, external->ask[i]);

        buf_str(&out, i ? ", " : "[");
        value_quote(text, &out);
        free(text);
    }
    buf_str(&out, "]");
    return out.bytes;
}

void external_baseline_key(const struct spec_external *external,
                           char *const *command, const char *ask,
                           const char *bundle, char out[HASH_HEX])
{
    struct hash hash;

    hash_init(&hash);
    hash_text(&hash, "external baseline 2");
    hash_text(&hash, external->name);
    for (size_t i = 0; i < external->n_command; i++)
        hash_text(&hash, command[i]);
    hash_text(&hash, bundle);
    hash_field(&hash, &external->samples, sizeof(external->samples));
    if (ask)
        hash_text(&hash, ask);
    hash_end(&hash, out);
}

/* ---- its output */

static int read_samples(const struct json *list, double seconds,
                        struct external_baseline_output *out, struct err *err)
{
    double sum = 0;

    if (!list || list->kind != JSON_ARRAY)
        return err_set(err, ERR_INPUT,
                       "its JSON has no list \"samples\" of seconds");
    if (list->n < 1 || list->n > SPEC_SAMPLES_MAX)
        return err_set(err, ERR_INPUT, "it printed %zu samples; print 1 to %d",
                       list->n, SPEC_SAMPLES_MAX);
    out->samples = mem_new(list->n, sizeof(*out->samples));
    for (size_t i = 0; i < list->n; i++) {
        const struct json *item = &list->items[i];

        if (item->kind != JSON_NUMBER || !(item->number > 0))
            return err_set(
                err, ERR_INPUT,
                "sample %zu is not a time: seconds are numbers above 0", i + 1);
        out->samples[out->n++] = item->number;
        sum += item->number;
    }
    if (sum > seconds * SLACK + SLACK_S)
        return err_set(err, ERR_INPUT,
                       "its samples add up to %g s and it ran for %g s: are "
                       "they in seconds?",
                       sum, seconds);
    return 0;
}

static int read_root(const struct json *root, double seconds,
                     struct external_baseline_output *out, struct err *err)
{
    const struct json *name;

    if (root->kind != JSON_OBJECT)
        return err_set(err, ERR_INPUT, "it printed %s, not an object",
                       json_kind_name(root->kind));
    name = json_find(root, "name");
    if (name && (name->kind != JSON_TEXT || strlen(name->text) > SPEC_NAME_MAX))
        return err_set(err, ERR_INPUT,
                       "its \"name\" is not a text of at most %d bytes",
                       SPEC_NAME_MAX);
    out->name = mem_strdup(name ? name->text : "");
    return read_samples(json_find(root, "samples"), seconds, out, err);
}

int external_baseline_read(const char *text, size_t len, double seconds,
                           struct external_baseline_output *out,
                           struct err *err)
{
    struct json_doc *doc;
    int rc;

    *out = (struct external_baseline_output){ .name = NULL };
    if (strspn(text, " \t\r\n") == len)
        return err_set(err, ERR_INPUT, "it printed nothing");
    rc = json_parse("stdout", text, len, &doc, err);
    if (rc < 0) {
        err->text[strcspn(err->text, "\n")] = '\0';
        return err_within(err, rc, "it printed no JSON object");
    }
    rc = read_root(json_root(doc), seconds, out, err);
    json_free(doc);
    if (rc < 0)
        external_baseline_output_fini(out);
    return rc;
}

void external_baseline_output_fini(struct external_baseline_output *output)
{
    free(output->name);
    free(output->samples);
    *output = (struct external_baseline_output){ .name = NULL };
}
