/* ssh_case.h - servers and configurations of ssh, and whether a login works
 *
 * "DIR" and "NUM" stand for the folder and the port of the server (sshd.h).
 */
#ifndef FA_TESTS_E2E_SSH_CASE_H
#define FA_TESTS_E2E_SSH_CASE_H

#include <stdbool.h>
#include <stddef.h>

#define SSH_CASE_BOX "Host box\n" /* in ssh_config */

struct ssh_case {
    const char *name;
    const char *server; /* lines of sshd_config, or NULL */
    const char *client; /* lines of ssh_config, or NULL */
    bool works;
    const char *remark; /* part of what the user is told; NULL: nothing */
};

/* Tried each time, and only with --all and --table.  Those with the same server
 * stand together. */
extern const struct ssh_case ssh_case_quick[], ssh_case_slow[];
extern const size_t ssh_case_n_quick, ssh_case_n_slow;

#endif
