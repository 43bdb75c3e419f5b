/* completion.h - scripts that complete fa-coord's commands and flags
 *
 * A value of the form a|b|c is completed by its words; FILE, DB, SWEEP and the
 * like by files. */
#ifndef FA_COORDINATOR_USAGE_COMPLETION_H
#define FA_COORDINATOR_USAGE_COMPLETION_H

#include <stdio.h>

struct err;

/* shell  bash, zsh or fish; ERR_INPUT for any other */
int completion_print(const char *shell, FILE *to, struct err *err);

#endif
