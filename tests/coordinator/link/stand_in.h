/* stand_in.h - a shell script that replaces the worker, on 'localhost'
 *
 * It is uploaded and started like the worker, as `fa-worker-HASH --attach
 * --workdir DIR`, and prints what the test tells it to print.
 */
#ifndef FA_TESTS_COORDINATOR_LINK_STAND_IN_H
#define FA_TESTS_COORDINATOR_LINK_STAND_IN_H

#include "coordinator/hosts/hosts.h"

/* Pieces of a script. */
#define STAND_IN_MAGIC "echo fa-relay 1 0.1.0\n"
#define STAND_IN_OPEN "printf '\\001\\000\\001\\000\\000\\000\\000\\000'\n"
#define STAND_IN_STAYS "exec cat >\"$3/heard\"\n" /* until it is hung up on */

struct stand_in {
    char folder[32]; /* of the test; "work" in it is the work folder */
    char program[64];
};

void stand_in_open(struct stand_in *stand_in);
void stand_in_close(struct stand_in *stand_in); /* removes the folder */

/* The script to run from now on; it is written to a file at 'path'. */
void stand_in_write(const char *path, const char *script);

/* This machine, under a name. */
struct host stand_in_host(const struct stand_in *stand_in, const char *name);

#endif
