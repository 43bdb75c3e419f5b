/* outfile.h - an output file that a command writes */
#ifndef FA_COORDINATOR_TEXT_OUTFILE_H
#define FA_COORDINATOR_TEXT_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

struct err;

/* Write all of 'text' to 'path'. ERR_INPUT if the file exists and 'force' is
 * not set.  ERR_SYSTEM if it cannot be written; a new file is removed then. */
int outfile_save(const char *path, const char *text, size_t len, bool force,
                 struct err *err);

#endif
