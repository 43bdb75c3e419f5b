/* record_file.h - reads the record for a replay or an import
 *
 * A record is a cache file of Kernel Tuner, a T4 file, or the database of a
 * sweep.  The contents of the file show which of them it is.
 */
#ifndef FA_COORDINATOR_TASKS_RECORD_FILE_H
#define FA_COORDINATOR_TASKS_RECORD_FILE_H

struct err;
struct landscape;

/* ERR_INPUT if the file is missing or not a record.  Call landscape_free(). */
int record_file_load(const char *path, struct landscape **out, struct err *err);

#endif
