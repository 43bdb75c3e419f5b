/* program.h - is there such a program?  As execvp() looks for it. */
#ifndef FA_COORDINATOR_PROCESS_PROGRAM_H
#define FA_COORDINATOR_PROCESS_PROGRAM_H

#include <stdbool.h>

/* 'name' is looked for in PATH, or is a path if it has a slash. */
bool program_is_here(const char *name);

#endif
