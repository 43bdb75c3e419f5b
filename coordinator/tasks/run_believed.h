/* run_believed.h - which GPUs a hosts file is believed to have
 *
 * Before one is there: the model of model=, or of the host's or pool's name, or
 * --arch (docs/fleet.md).  Pure.
 */
#ifndef FA_COORDINATOR_TASKS_RUN_BELIEVED_H
#define FA_COORDINATOR_TASKS_RUN_BELIEVED_H

struct gpu_arch_facts;
struct hosts;

/* A row of the table; NULL if nothing says it, or if hosts differ.  'arch' was
 * given, or is NULL. */
const struct gpu_arch_facts *run_believed(const struct hosts *hosts,
                                          const char *arch);

#endif
