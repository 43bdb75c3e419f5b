#include "tests/e2e/login.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"

/* libssh2 1.10 forgets the exponent of an ECDSA key in OpenSSH's format at
 * every login; libcrypto made it.  It also forgets the first list of methods if
 * a login asks for a second one.  LeakSanitizer asks for this by its name. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libcrypto.so\nleak:libssh2.so\n";
}

int64_t login_in_s(int seconds)
{
    return clock_boot_ns() + seconds * NS_PER_S;
}

struct host login_host(const struct sshd *sshd, const char *line)
{
    struct hosts hosts;
    struct host host;
    struct err err;
    char text[1024] = "", port[8];

    snprintf(port, sizeof(port), "%d", sshd->port);
    for (const char *p = line; *p;) {
        size_t n = strlen(text);
        const char *put = strncmp(p, "DIR", 3) == 0   ? sshd->dir
                          : strncmp(p, "PIN", 3) == 0 ? sshd->fingerprint
                          : strncmp(p, "NUM", 3) == 0 ? port
                                                      : NULL;

        snprintf(text + n, sizeof(text) - n, "%.*s", put ? 256 : 1,
                 put ? put : p);
        p += put ? 3 : 1;
    }
    if (hosts_parse("hosts.txt", text, strlen(text), &hosts, &err) < 0)
        fail_msg("%s", err.text);
    host = hosts.list[0];
    hosts_fini(&hosts);
    return host;
}

struct remote_options login_options(const struct sshd *sshd,
                                    enum remote_ssh ssh)
{
    return (struct remote_options){ .ssh = ssh,
                                    .config = sshd->config,
                                    .home = sshd->dir };
}

struct remote *login_open(const struct host *host,
                          const struct remote_options *options)
{
    struct remote *remote;
    struct err err;

    if (remote_open(host, options, &remote, &err) < 0)
        fail_msg("%s", err.text);
    return remote;
}

void login_works(const struct sshd *sshd, const char *line,
                 const struct remote_options *options)
{
    struct host host = login_host(sshd, line);

    remote_close(login_open(&host, options));
}

void login_refused(const struct sshd *sshd, const char *line,
                   const struct remote_options *options, int code,
                   const char *part)
{
    struct host host = login_host(sshd, line);
    struct remote *remote;
    struct err err = { "" };
    int rc = remote_open(&host, options, &remote, &err);

    if (rc != code || !strstr(err.text, part) ||
        strncmp(err.text, host.name, strlen(host.name)) != 0)
        fail_msg("%d, wanted %d and '%s' in: %s", rc, code, part, err.text);
    assert_null(remote);
}

void login_says(struct remote *remote, const char *command, const char *want,
                int want_status)
{
    struct buf out;
    struct remote_io io = { .out = &out, .deadline_ns = login_in_s(20) };
    struct err err;
    int status = -1;

    buf_init(&out, 1 << 16);
    if (remote_exec(remote, command, &io, &status, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(buf_text(&out), want);
    assert_int_equal(status, want_status);
    buf_fini(&out);
}
