/* outfile.h - an output file that a command writes
 *
 * The text goes to a file beside it, which is synced and renamed.  So a command
 * that is killed leaves the old file or the new one, never half of one.  What
 * it leaves beside it, the next command for the same file uses again.
 */
#ifndef FA_COORDINATOR_TEXT_OUTFILE_H
#define FA_COORDINATOR_TEXT_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

struct err;

#define OUTFILE_PART                                        \
    ".fa-part" /* the end of the name of the file beside it \
                */

/* ERR_INPUT if the folder of 'path' is not there, or is no folder: what is
 * rented or measured first would have no place to be written to. */
int outfile_folder(const char *path, struct err *err);

/* Write all of 'text' to 'path'.  A file that is replaced keeps its mode; where
 * 'path' is a symbolic link, its target is replaced.  A pipe or a device is
 * written to directly, and needs 'force'.
 * ERR_INPUT if the file exists and 'force' is not set, if it is a folder or a
 * database, or as outfile_folder().  ERR_SYSTEM if it cannot be written: an old
 * file is as it was then. */
int outfile_save(const char *path, const char *text, size_t len, bool force,
                 struct err *err);

/* ERR_INPUT if 'path' is a database of SQLite, whose results were paid for:
 * nothing is written over one.  outfile_save() looks itself. */
int outfile_spare(const char *path, struct err *err);

#endif
