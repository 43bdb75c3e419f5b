#include "tests/coordinator/space/space_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct spec *spec;
struct space *space;
struct err err;

int open_parts(const struct spec_parts *parts)
{
    spec = spec_fixture(parts);
    return space_open(spec, gpu_arch_find("sm_89"), "cuda", NULL, &space, &err);
}

void open_fine(const struct spec_parts *parts)
{
    if (open_parts(parts) < 0)
        fail_msg("%s", err.text);
}

int teardown(void **state)
{
    (void)state;
    space_close(space);
    spec_free(spec);
    space = NULL;
    spec = NULL;
    return 0;
}
