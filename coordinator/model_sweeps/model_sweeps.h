/* model_sweeps.h - one command over the sweeps of several GPU models
 *
 * A hosts file whose lines have several model= gives a sweep for each of them:
 * this program runs once more for each, with its hosts (FILE#MODEL), its
 * database (NAME.MODEL.db) and its share of the budget.  So a model has gates,
 * artifacts, canary, winner and verdict of its own, and one that fails leaves
 * the others alone.
 */
#ifndef FA_COORDINATOR_MODEL_SWEEPS_MODEL_SWEEPS_H
#define FA_COORDINATOR_MODEL_SWEEPS_MODEL_SWEEPS_H

#include <stdbool.h>
#include <stddef.h>

struct dbpath_models;
struct err;
struct run;
struct run_settings;

/* The command sweep, if --hosts has several models.  Returns whether it has;
 * '*code' is then the exit code of the program. */
bool model_sweeps(const struct run *run, int *code);

/* The command resume for these databases.  Returns the exit code. */
int model_sweeps_resume(const struct run_settings *set,
                        const struct dbpath_models *databases);

/* Another command for each of these databases, with the same arguments. */
int model_sweeps_each(char *const argv[], bool json,
                      const struct dbpath_models *databases);

/* What their sweeps found, on stdout.  ERR_STORE if one of them cannot be read;
 * what the others say is printed. */
int model_sweeps_report(const struct dbpath_models *databases, bool json,
                        struct err *err);

#endif
