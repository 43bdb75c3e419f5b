/* login.h - logins at the sshd of a test, and what they must end with
 *
 * A host is given as a line of a hosts file, in which DIR is the folder of the
 * sshd, PIN the fingerprint of its key, and NUM its port.  All of these fail
 * the test if something else happens than they say.
 */
#ifndef FA_TESTS_E2E_LOGIN_H
#define FA_TESTS_E2E_LOGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/hosts/hosts.h"
#include "coordinator/remote/remote.h"
#include "tests/e2e/sshd.h"

int64_t login_in_s(int seconds); /* a deadline */

struct host login_host(const struct sshd *sshd, const char *line);

/* With the configuration file of the sshd, and its folder as home folder. */
struct remote_options login_options(const struct sshd *sshd,
                                    enum remote_ssh ssh);

struct remote *login_open(const struct host *host,
                          const struct remote_options *options);

/* It logs in, and out again. */
void login_works(const struct sshd *sshd, const char *line,
                 const struct remote_options *options);

/* The login ends with this code and a text that contains 'part', after the
 * name of the host. */
void login_refused(const struct sshd *sshd, const char *line,
                   const struct remote_options *options, int code,
                   const char *part);

/* The command prints 'want' and ends with this status. */
void login_says(struct remote *remote, const char *command, const char *want,
                int want_status);

#endif
