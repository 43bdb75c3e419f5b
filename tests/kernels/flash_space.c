#include "tests/kernels/flash_space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/config/config.h"
#include "coordinator/space/space_config.h"

void flash_space_open(struct flash_space *out, const char *file)
{
    char path[400];
    struct err err;

    snprintf(path, sizeof(path), "%s/kernels/flash_attention/%s", FA_SOURCE_DIR,
             file);
    if (spec_load(path, &out->spec, &err) < 0 ||
        space_open(out->spec, gpu_arch_find("sm_89"), "cuda", NULL, &out->space,
                   &err) < 0)
        fail_msg("%s", err.text);
}

void flash_space_close(struct flash_space *space)
{
    space_close(space->space);
    spec_free(space->spec);
}

static void evaluate(const struct flash_space *space, int64_t point,
                     struct value *values, struct value *derived)
{
    struct err err;

    space_values(space->space, point, values);
    if (space_derive(space->space, values, derived, &err) < 0)
        fail_msg("%s", err.text);
}

static int find(const struct spec *spec, const struct value *values,
                const struct value *derived, const char *name)
{
    for (size_t i = 0; i < spec->space.n_axes; i++)
        if (strcmp(spec->space.axes[i].name, name) == 0)
            return (int)values[i].integer;
    for (size_t i = 0; i < spec->space.n_derived; i++)
        if (strcmp(spec->space.derived[i].name, name) == 0)
            return (int)derived[i].integer;
    fail_msg("%s has no %s", spec->file.name, name);
    return 0;
}

void flash_space_limits(const struct flash_space *space, int64_t point,
                        int limits[FLASH_LIMIT_MACROS])
{
    struct value values[SPEC_AXES_MAX], derived[SPEC_LIST_MAX];

    evaluate(space, point, values, derived);
    for (int i = 0; i < FLASH_LIMIT_MACROS; i++)
        limits[i] = find(space->spec, values, derived, flash_limit_macros[i]);
}

void flash_space_macros(const struct flash_space *space, int64_t point,
                        struct buf *out)
{
    struct value values[SPEC_AXES_MAX], derived[SPEC_LIST_MAX];

    evaluate(space, point, values, derived);
    config_header(space->spec, values, derived, out);
}

const char *flash_space_text(const struct flash_space *space, int64_t point)
{
    static char text[600];
    struct value values[SPEC_AXES_MAX];
    struct buf buf;

    buf_init(&buf, sizeof(text));
    space_values(space->space, point, values);
    config_text(space->spec, values, &buf);
    snprintf(text, sizeof(text), "%s", buf_text(&buf));
    buf_fini(&buf);
    return text;
}
