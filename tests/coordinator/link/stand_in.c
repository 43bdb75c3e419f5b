#include "tests/coordinator/link/stand_in.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

void stand_in_open(struct stand_in *stand_in)
{
    snprintf(stand_in->folder, sizeof(stand_in->folder), "/tmp/fa-link-XXXXXX");
    assert_non_null(mkdtemp(stand_in->folder));
    snprintf(stand_in->program, sizeof(stand_in->program), "%s/program",
             stand_in->folder);
}

void stand_in_close(struct stand_in *stand_in)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -rf %s", stand_in->folder);
    assert_int_equal(system(command), 0);
}

void stand_in_write(const char *path, const char *script)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file, "#!/bin/sh\ntest \"$1\" = --version && exit 0\n%s", script);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
}

struct host stand_in_host(const struct stand_in *stand_in, const char *name)
{
    struct host host = { .local = true };

    snprintf(host.name, sizeof(host.name), "%s", name);
    snprintf(host.workdir, sizeof(host.workdir), "%s/work", stand_in->folder);
    return host;
}
