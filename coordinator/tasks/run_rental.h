/* run_rental.h - the hosts that start= acquires, over all runs of a command
 */
#ifndef FA_COORDINATOR_TASKS_RUN_RENTAL_H
#define FA_COORDINATOR_TASKS_RUN_RENTAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct hosts;
struct rental_work;
struct run;
struct store;
struct sweep_rental;

/* Can the key= of those that are rented be read?  A machine that cannot be
 * logged in to would be paid for.  'home' is for "~/"; NULL is fine.  ERR_INPUT
 */
int run_rental_check_keys(const struct hosts *hosts, const char *home,
                          struct err *err);
/* Prepare them, for all runs of the command over run->db. */
void run_rental_new(struct run *run);
/* Before a run over 'store': stop what an earlier command left running, and set
 * 'out'.  ERR_STORE */
int run_rental_open(struct run *run, struct store *store,
                    struct sweep_rental *out, struct err *err);
void run_rental_close(struct run *run); /* after that run */
/* Release all machines, at the end of the command.  Returns its exit code,
 * which was 'code'. */
int run_rental_end(struct run *run, int code);
/* One line for --dry-run: what is acquired for so much work, and when.  "" if
 * no host is rented.  A time that is not above 0 is not known. */
void run_rental_plan(const struct run *run, const struct rental_work *work,
                     char *out, size_t size);
/* Set wanted[i] for each host: which of them that work would use. */
void run_rental_wanted(const struct run *run, const struct rental_work *work,
                       bool *wanted);
/* Print the machines that cost money although no coordinator uses 'store'.
 * ERR_STORE */
int run_rental_print(struct store *store, FILE *to, struct err *err);
/* The same on stderr after a command that could not begin; NULL is fine. */
void run_rental_remind(const char *path);
/* Release what 'store' has, and print what happens; how many machines still
 * run, or ERR_STORE. */
int run_rental_release(struct store *store, int64_t patience_s,
                       struct err *err);
/* The same for a database that can be read and not be written, if no
 * coordinator works on it.  'why' says why; then also that it was not noted. */
void run_rental_release_unwritten(const char *path, int64_t patience_s,
                                  struct err *why);

#endif
