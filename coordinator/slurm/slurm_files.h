/* slurm_files.h - the folder that nodes of Slurm start their workers from, and
 * the name of their jobs
 *
 *   WORKDIR/NAME/   0700, of the sweep: fa-worker, job.sh, an invitation for
 *                   each task (0600), what the jobs print
 *
 * No secret is in the script, because Slurm shows it to people ('scontrol write
 * batch_script').  NAME is that of the jobs as well: it comes from the key that
 * the sweep's database keeps, so the next command finds what a killed one left.
 */
#ifndef FA_COORDINATOR_SLURM_SLURM_FILES_H
#define FA_COORDINATOR_SLURM_SLURM_FILES_H

#include <stddef.h>

struct err;
struct host;
struct hosts;

#define SLURM_NAME_BYTES 96

/* The name of the jobs of a host's line, with the public key of the sweep. */
void slurm_files_name(const struct host *host, const char *public_key,
                      char out[SLURM_NAME_BYTES]);
/* The name of the host that is a task of that job. */
void slurm_files_host(const char *name, int task, char *out, size_t size);
/* Its folder, for the caller to free. */
char *slurm_files_folder(const struct host *host, const char *public_key);

/* Make the folder and put program and script there.  ERR_SYSTEM names the
 * file. */
int slurm_files_put(const struct host *host, const char *public_key,
                    const void *program, size_t len, struct err *err);

/* Cancel all jobs of this name.  ERR_SYSTEM: some may be left, and the text
 * names the command that cancels them. */
int slurm_files_cancel(const char *name, struct err *err);

/* Remove the folders of these hosts. */
void slurm_files_remove(const struct hosts *hosts, const char *public_key);

#endif
