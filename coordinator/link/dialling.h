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

/* Cancel all jobs.  If the command is 'done', the invitations are no longer
 * valid, and the keys are removed. */
void dialling_end(const char *db, const struct hosts *hosts, bool done);

#endif
