/* outfile.h - a file that a command was told to write */
#ifndef FA_COORDINATOR_TEXT_OUTFILE_H
#define FA_COORDINATOR_TEXT_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

struct err;

/* Write all of 'text' to 'path'.  ERR_INPUT when it exists already and
 * 'force' is not set, ERR_SYSTEM when it cannot be written; then no half of it
 * is left in a new file. */
int outfile_save(const char *path, const char *text, size_t len, bool force,
                 struct err *err);

#endif
