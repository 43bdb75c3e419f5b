#include "coordinator/spec/spec_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/msg_file.h"
#include "coordinator/spec/bundle.h"
#include "coordinator/spec/spec.h"

/* The name of the file at a shape; for the caller to free. */
static char *name_at(const struct spec_argument *argument, const char *shape)
{
    const char *hole = strstr(argument->file, SPEC_INPUTS_SHAPE);

    return hole ? mem_printf("%.*s%s%s", (int)(hole - argument->file),
                             argument->file, shape,
                             hole + strlen(SPEC_INPUTS_SHAPE))
                : mem_strdup(argument->file);
}

static const struct spec_input *find(const struct spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->inputs.n; i++)
        if (strcmp(spec->inputs.list[i].name, name) == 0)
            return &spec->inputs.list[i];
    return NULL;
}

static int flaw(const struct spec *spec, const struct spec_argument *argument,
                const char *name, const char *why, struct err *err)
{
    return spec_err(spec, argument->file_at, err, why,
                    "'%s' cannot fill the %s '%s'", name, argument->type,
                    argument->name);
}

static int read_file(const struct spec *spec,
                     const struct spec_argument *argument,
                     struct spec_input *input, struct err *err)
{
    char why[NPY_WHY_BYTES];
    const void *bytes;
    size_t len, total = 0;

    for (size_t i = 0; i < spec->inputs.n; i++)
        total += spec->inputs.list[i].file.len;
    if (bundle_bytes(spec, input->name, argument->file_at, &input->file, err) <
        0)
        return ERR_INPUT;
    if (input->file.truncated)
        return flaw(spec, argument, input->name,
                    "a file of an argument has at most 64 MiB", err);
    if (total + input->file.len > SPEC_INPUTS_BYTES_MAX)
        return flaw(spec, argument, input->name,
                    "all files of arguments together have at most 256 MiB",
                    err);
    if (npy_read(buf_text(&input->file), input->file.len, &input->npy, why) < 0)
        return flaw(spec, argument, input->name, why, err);
    bytes = spec_inputs_bytes(input, &len);
    hash_of(bytes, len, input->hash);
    return 0;
}

static void input_free(struct spec_input *input)
{
    free(input->name);
    buf_fini(&input->file);
}

static int load_at(struct spec *spec, const struct spec_argument *argument,
                   const char *shape, struct err *err)
{
    struct spec_inputs *inputs = &spec->inputs;
    struct spec_input input = { .name = name_at(argument, shape) };
    const struct spec_input *loaded = find(spec, input.name);
    char why[NPY_WHY_BYTES];
    int rc = 0;

    buf_init(&input.file, SPEC_INPUT_BYTES_MAX);
    if (!loaded)
        rc = read_file(spec, argument, &input, err);
    if (rc == 0 && npy_check_type(loaded ? &loaded->npy : &input.npy,
                                  argument->type, why) < 0)
        rc = flaw(spec, argument, input.name, why, err);
    if (rc < 0 || loaded) {
        input_free(&input);
        return rc;
    }
    inputs->list = mem_grow(inputs->list, inputs->n + 1, sizeof(*inputs->list));
    inputs->list[inputs->n++] = input;
    return 0;
}

int spec_inputs_load(struct spec *spec, struct err *err)
{
    const struct spec_shapes *shapes = &spec->shapes;
    const struct {
        const struct spec_shape *list;
        size_t n;
    } lists[] = { { shapes->list, shapes->n },
                  { shapes->emulation, shapes->n_emulation },
                  { shapes->fuzz, shapes->n_fuzz },
                  { shapes->emulation_fuzz, shapes->n_emulation_fuzz } };

    for (size_t i = 0; i < spec->n_arguments; i++) {
        if (!spec->arguments[i].file)
            continue;
        for (size_t k = 0; k < sizeof(lists) / sizeof(*lists); k++)
            for (size_t s = 0; s < lists[k].n; s++)
                if (load_at(spec, &spec->arguments[i], lists[k].list[s].name,
                            err) < 0)
                    return ERR_INPUT;
    }
    return 0;
}

void spec_inputs_free(struct spec_inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++)
        input_free(&inputs->list[i]);
    free(inputs->list);
    *inputs = (struct spec_inputs){ .list = NULL };
}

const void *spec_inputs_bytes(const struct spec_input *input, size_t *len)
{
    *len = input->file.len - input->npy.at;
    return buf_text(&input->file) + input->npy.at;
}

const struct spec_input *spec_inputs_at(const struct spec *spec,
                                        const struct spec_argument *argument,
                                        const struct spec_shape *shape)
{
    const struct spec_input *input;
    char *name;

    if (!argument->file)
        return NULL;
    name = name_at(argument, shape->name);
    input = find(spec, name);
    free(name);
    return input;
}

const struct spec_input *spec_inputs_find(const struct spec *spec,
                                          const char *hash)
{
    for (size_t i = 0; i < spec->inputs.n; i++)
        if (strcmp(spec->inputs.list[i].hash, hash) == 0)
            return &spec->inputs.list[i];
    return NULL;
}

size_t spec_inputs_windows(const struct spec *spec)
{
    size_t n = 0;

    for (size_t i = 0; i < spec->inputs.n; i++) {
        size_t len;

        spec_inputs_bytes(&spec->inputs.list[i], &len);
        n += len / MSG_WINDOW_MAX + 1;
    }
    return n;
}
