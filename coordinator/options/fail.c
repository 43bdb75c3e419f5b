#include "coordinator/options/fail.h"

#include <stdio.h>

#include "common/err.h"
#include "coordinator/text/exit_code.h"

int fail_with(int code, const struct err *err)
{
    fprintf(stderr, "fa-coord: %s\n", err->text);
    return exit_code_of(code);
}
