#include "coordinator/options/fail.h"

#include <stdio.h>

#include "common/err.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/terminal.h"

int fail_with(int code, const struct err *err)
{
    struct err clean = *err; /* it may name a file as the user wrote it */

    fprintf(stderr, "fa-coord: %s\n", terminal_clean(clean.text, true));
    return exit_code_of(code);
}
