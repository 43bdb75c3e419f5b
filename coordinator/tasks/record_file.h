/* record_file.h - the record that a replay or an import is of
 *
 * A cache file of Kernel Tuner or a database of a sweep; which of the two is
 * seen in the file.
 */
#ifndef FA_COORDINATOR_TASKS_RECORD_FILE_H
#define FA_COORDINATOR_TASKS_RECORD_FILE_H

struct err;
struct landscape;

/* ERR_INPUT when it is not there or no record; for the caller to
 * landscape_free(). */
int record_file_load(const char *path, struct landscape **out, struct err *err);

#endif
