/* sshd.h - a real sshd on loopback, with keys and a folder of its own
 *
 * DIR holds: id_ed25519, id_ecdsa, id_rsa, id_locked (passphrase "secret") and
 * their .pub, all in authorized_keys; id_stranger, which is not; the host keys
 * host_ed25519, host_ecdsa; sshd_config; sshd.log; and ssh_config, in which
 * "box" is this server with DIR/known_hosts and no key but id_ed25519.
 * DIR is also the HOME of what runs there.
 * tests/e2e/sshd.sh is the same for shell scripts.
 */
#ifndef FA_TESTS_E2E_SSHD_H
#define FA_TESTS_E2E_SSHD_H

#include <sys/types.h>

struct sshd {
    char dir[256];
    char config[300]; /* DIR/ssh_config */
    int port;
    pid_t pid;
    char fingerprint[64]; /* "SHA256:..." of host_ed25519 */
    char key_line[512];   /* "ssh-ed25519 AAAA..." of host_ed25519 */
};

/* Make the keys in 'dir' (which exists) unless they are there, and start an
 * sshd with 'options' (lines of sshd_config, with DIR in them; may be NULL) in
 * front of the default ones: what sshd reads first, it keeps.  Fails the test
 * if it does not listen within 10 s. */
void sshd_start(struct sshd *sshd, const char *dir, const char *options);
void sshd_stop(struct sshd *sshd);

/* Write DIR/ssh_config again, with these lines (may be NULL) in front: ssh
 * keeps the first value of each option.  "DIR" and "NUM" in them become the
 * folder and the port. */
void sshd_configure(const struct sshd *sshd, const char *lines);

/* Write DIR/known_hosts; NULL removes it. */
void sshd_know(const struct sshd *sshd, const char *text);

/* "[127.0.0.1]:PORT KEY" of host_ed25519, for sshd_know(). */
const char *sshd_known_line(const struct sshd *sshd);

#endif
