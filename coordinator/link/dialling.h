/* dialling.h - what workers that dial back leave behind a command
 *
 * Their keys, their invitations, and jobs of Slurm: of this command, and of an
 * earlier one on the database that was killed.
 */
#ifndef FA_COORDINATOR_LINK_DIALLING_H
#define FA_COORDINATOR_LINK_DIALLING_H

#include <stdbool.h>

struct hosts;

/* Cancel the jobs that an earlier command left and these hosts do not take
 * over. */
void dialling_begin(const char *db, const struct hosts *hosts);

/* The names of all jobs that may have been submitted: each is told. */
typedef void dialling_tell(void *arg, const char *job);
void dialling_jobs(const char *db, dialling_tell *tell, void *arg);

/* Cancel all jobs.  False: some may be left. */
bool dialling_cancel(const char *db);

/* If the command is 'done', the invitations are no longer valid, and the keys
 * are removed. */
void dialling_end(const char *db, const struct hosts *hosts, bool done);

#endif
