#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/process/subprocess.h"
#include "coordinator/process/poll_until.h"
#include "coordinator/remote/remote.h"
#include "coordinator/remote/ssh.h"
#include "coordinator/remote/stream.h"
#include "tests/e2e/login.h"

static struct sshd sshd;
static char dir[] = "/tmp/fa-test-ssh-XXXXXX";

static int64_t in_s(int seconds)
{
    return login_in_s(seconds);
}

static struct host host_of(const char *line)
{
    return login_host(&sshd, line);
}

static struct remote_options options_of(enum remote_ssh ssh)
{
    return login_options(&sshd, ssh);
}

static struct remote *open_or_fail(const struct host *host, enum remote_ssh ssh)
{
    struct remote_options options = options_of(ssh);

    return login_open(host, &options);
}

static void refused(const char *line, enum remote_ssh ssh, int code,
                    const char *part)
{
    struct remote_options options = options_of(ssh);

    login_refused(&sshd, line, &options, code, part);
}

static void logs_in(const char *line, enum remote_ssh ssh)
{
    struct host host = host_of(line);
    struct remote *remote = open_or_fail(&host, ssh);

    login_says(remote, "echo hello; exit 3", "hello\n", 3);
    login_says(remote, "kill -TERM $$", "", 128 + 15);
    remote_close(remote);
}

static void an_ed25519_key_logs_in(void **state)
{
    (void)state;
    logs_in("box", REMOTE_SSH_LIBSSH2);
}

/* The user's own shell may start many programs before the command. */
static void a_session_has_the_home_of_its_test(void **state)
{
    struct host host = host_of("box");
    struct remote *remote = open_or_fail(&host, REMOTE_SSH_LIBSSH2);
    char wanted[300];

    (void)state;
    snprintf(wanted, sizeof(wanted), "%s\n", dir);
    login_says(remote, "echo \"$HOME\"", wanted, 0);
    remote_close(remote);
}

static void an_ecdsa_key_logs_in(void **state)
{
    (void)state;
    logs_in("box key=DIR/id_ecdsa", REMOTE_SSH_LIBSSH2);
}

static void the_system_ssh_logs_in(void **state)
{
    struct host host = host_of("box");
    struct remote *remote = open_or_fail(&host, REMOTE_SSH_OPENSSH);

    (void)state;
    login_says(remote, "echo hello; exit 3", "hello\n", 3);
    remote_close(remote);
}

static void the_system_ssh_takes_rsa(void **state)
{
    struct host host = host_of("box key=DIR/id_rsa");
    struct remote *remote = open_or_fail(&host, REMOTE_SSH_OPENSSH);

    (void)state;
    remote_close(remote);
}

static void this_machine_needs_no_ssh(void **state)
{
    (void)state;
    logs_in("localhost", REMOTE_SSH_LIBSSH2);
}

static void a_stranger_is_refused(void **state)
{
    (void)state;
    refused("box key=DIR/id_stranger", REMOTE_SSH_LIBSSH2, ERR_AUTH,
            "not accepted");
    refused("root@127.0.0.1:NUM key=DIR/id_stranger", REMOTE_SSH_OPENSSH,
            ERR_AUTH, "authorized_keys");
}

static void an_encrypted_key_names_the_agent(void **state)
{
    (void)state;
    refused("box key=DIR/id_locked", REMOTE_SSH_LIBSSH2, ERR_AUTH,
            "id_locked: encrypted; load it into ssh-agent");
}

/* Each kind of key alone. */
static void an_agent_stands_in_for_key_files(void **state)
{
    static const char *const keys[] = { "id_ecdsa", "id_ed25519", "id_rsa" };
    char socket[300], command[700];
    const char *const agent[] = { "ssh-agent", "-D", "-a", socket, NULL };
    const char *const add[] = { "/bin/sh", "-c", command, NULL };
    struct remote_options options = options_of(REMOTE_SSH_LIBSSH2);
    struct subprocess child;
    struct err err;
    int status;

    (void)state;
    snprintf(socket, sizeof(socket), "%s/agent", dir);
    assert_int_equal(subprocess_start(agent, &child, &err), 0);
    for (int i = 0; i < 500 && access(socket, F_OK) != 0; i++)
        poll(NULL, 0, 10);
    options.agent = socket;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        snprintf(command, sizeof(command),
                 "export SSH_AUTH_SOCK=%s; ssh-add -q -D; ssh-add -q %s/%s",
                 socket, dir, keys[i]);
        assert_int_equal(
            subprocess_output(add, in_s(10), NULL, NULL, &status, &err), 0);
        assert_int_equal(status, 0);
        login_works(&sshd, "127.0.0.1:NUM", &options);
    }
    subprocess_stop(&child);
}

static void an_rsa_key_signs_with_sha_512(void **state)
{
    static const char pem[] = "cp id_rsa id_pem && cp id_rsa id_pkcs8 && "
                              "ssh-keygen -q -p -N '' -m PEM -f id_pem && "
                              "ssh-keygen -q -p -N '' -m PKCS8 -f id_pkcs8";
    struct host here = { .name = "localhost", .local = true };
    struct remote_options options = options_of(REMOTE_SSH_LIBSSH2);
    struct remote *remote = login_open(&here, &options);
    char command[600];

    (void)state;
    snprintf(command, sizeof(command), "cd %s && { %s; } >/dev/null 2>&1", dir,
             pem);
    login_says(remote, command, "", 0);
    remote_close(remote);
    logs_in("box key=DIR/id_rsa", REMOTE_SSH_LIBSSH2);
    logs_in("box key=DIR/id_pem", REMOTE_SSH_LIBSSH2);
    logs_in("box key=DIR/id_pkcs8", REMOTE_SSH_LIBSSH2);
}

static void a_file_without_a_key_is_refused(void **state)
{
    (void)state;
    refused("box key=DIR/nowhere", REMOTE_SSH_LIBSSH2, ERR_AUTH,
            "does not exist");
    refused("box key=DIR/sshd.log", REMOTE_SSH_LIBSSH2, ERR_AUTH,
            "holds no private key");
    refused("box key=DIR/authorized_keys", REMOTE_SSH_LIBSSH2, ERR_AUTH,
            "is a public key; name the private one");
}

static void an_unknown_host_key_is_refused(void **state)
{
    (void)state;
    sshd_know(&sshd, NULL);
    refused("box", REMOTE_SSH_LIBSSH2, ERR_HOST_KEY, sshd.fingerprint);
    refused("box", REMOTE_SSH_LIBSSH2, ERR_HOST_KEY, "--accept-new-host-keys");
    refused("box", REMOTE_SSH_OPENSSH, ERR_HOST_KEY, "--accept-new-host-keys");
    sshd_know(&sshd, sshd_known_line(&sshd));
}

static void a_new_host_key_is_accepted_on_demand(void **state)
{
    struct host host = host_of("box");
    struct remote_options options = options_of(REMOTE_SSH_LIBSSH2);
    struct remote *remote;
    struct err err;

    (void)state;
    sshd_know(&sshd, "# no line end here");
    options.accept_new_host_keys = true;
    assert_int_equal(remote_open(&host, &options, &remote, &err), 0);
    remote_close(remote);
    logs_in("box", REMOTE_SSH_LIBSSH2);
    sshd_know(&sshd, sshd_known_line(&sshd));
}

/* The key of id_stranger stands for another machine's. */
static void other_key(const char *format)
{
    char path[300], key[256], text[600];
    FILE *file;

    snprintf(path, sizeof(path), "%s/id_stranger.pub", dir);
    file = fopen(path, "r");
    assert_non_null(fgets(key, sizeof(key), file));
    fclose(file);
    snprintf(text, sizeof(text), "%s[127.0.0.1]:%d %s", format, sshd.port, key);
    sshd_know(&sshd, text);
}

static void a_changed_host_key_is_refused(void **state)
{
    struct host host = host_of("box");
    struct remote_options options = options_of(REMOTE_SSH_LIBSSH2);
    struct remote *remote;
    struct err err;

    (void)state;
    other_key("");
    refused("box", REMOTE_SSH_LIBSSH2, ERR_HOST_KEY, "CHANGED");
    refused("box", REMOTE_SSH_OPENSSH, ERR_HOST_KEY, "host key");
    options.accept_new_host_keys = true;
    assert_int_equal(remote_open(&host, &options, &remote, &err), ERR_HOST_KEY);
    sshd_know(&sshd, sshd_known_line(&sshd));
}

static void a_revoked_host_key_is_refused(void **state)
{
    char text[1400];

    (void)state;
    snprintf(text, sizeof(text), "%s@revoked * %s\n", sshd_known_line(&sshd),
             sshd.key_line);
    sshd_know(&sshd, text);
    refused("box", REMOTE_SSH_LIBSSH2, ERR_HOST_KEY, "REVOKED");
    refused("box hostkey=PIN", REMOTE_SSH_LIBSSH2, ERR_HOST_KEY, "REVOKED");
    refused("box", REMOTE_SSH_OPENSSH, ERR_HOST_KEY, "host key");
    sshd_know(&sshd, sshd_known_line(&sshd));
}

static void a_pinned_host_key_is_enough(void **state)
{
    (void)state;
    sshd_know(&sshd, NULL);
    logs_in("box hostkey=PIN", REMOTE_SSH_LIBSSH2);
    refused("box hostkey=SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            REMOTE_SSH_LIBSSH2, ERR_HOST_KEY, "pins SHA256:AAAA");
    struct host host = host_of("box hostkey=PIN");
    struct remote *remote = open_or_fail(&host, REMOTE_SSH_OPENSSH);
    login_says(remote, "echo pinned", "pinned\n", 0);
    remote_close(remote);
    refused("box hostkey=SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            REMOTE_SSH_OPENSSH, ERR_HOST_KEY,
            "the server does not have the pinned key");
    sshd_know(&sshd, sshd_known_line(&sshd));
}

static void an_unreachable_host_is_a_network_error(void **state)
{
    (void)state;
    refused("root@127.0.0.1:1", REMOTE_SSH_LIBSSH2, ERR_NETWORK,
            "Connection refused");
    refused("root@127.0.0.1:1", REMOTE_SSH_OPENSSH, ERR_NETWORK,
            "Connection refused");
    refused("nowhere.invalid", REMOTE_SSH_LIBSSH2, ERR_NETWORK,
            "cannot resolve");
}

static void a_jump_host_carries_the_session(void **state)
{
    (void)state;
    logs_in("box jump=box", REMOTE_SSH_LIBSSH2);
}

static void stderr_is_kept_for_the_message(void **state)
{
    struct host host = host_of("box");
    struct remote *remote = open_or_fail(&host, REMOTE_SSH_LIBSSH2);
    char said[128];
    struct remote_io io = { .said = said,
                            .said_size = sizeof(said),
                            .deadline_ns = in_s(20) };
    struct err err;
    int status;

    (void)state;
    assert_int_equal(remote_exec(remote,
                                 "head -c 3000000 /dev/zero | tr '\\0' x >&2; "
                                 "echo; echo no space >&2; exit 1",
                                 &io, &status, &err),
                     0);
    assert_int_equal(status, 1);
    assert_non_null(strstr(said, "no space"));
    remote_close(remote);
}

static void a_command_has_a_deadline(void **state)
{
    struct host host = host_of("box");
    struct remote *remote = open_or_fail(&host, REMOTE_SSH_LIBSSH2);
    struct remote_io io = { .deadline_ns = clock_boot_ns() + NS_PER_S / 5 };
    struct err err;
    int status;

    (void)state;
    assert_int_equal(remote_exec(remote, "sleep 30", &io, &status, &err),
                     ERR_NETWORK);
    assert_non_null(strstr(err.text, "did not end in time"));
    remote_close(remote);
}

#define ECHO_BYTES (8 << 20)

/* Write and read 8 MiB through cat at the same time. */
static void echo(struct stream *stream)
{
    unsigned char *sent = mem_new(ECHO_BYTES, 1),
                  *back = mem_new(ECHO_BYTES, 1);
    size_t out = 0, in = 0, n;
    int64_t deadline = in_s(60);
    bool shut = false;
    struct err err;

    for (size_t i = 0; i < ECHO_BYTES; i++)
        sent[i] = (unsigned char)(i * 2654435761u >> 13);
    while (in < ECHO_BYTES) {
        struct pollfd fds[STREAM_FDS];

        assert_true(stream_read(stream, back + in, ECHO_BYTES - in, &n, &err) ==
                    0);
        in += n;
        assert_true(
            stream_write(stream, sent + out, ECHO_BYTES - out, &n, &err) == 0);
        out += n;
        if (out == ECHO_BYTES && !shut)
            shut = stream_shut(stream, &err) == 1;
        if (!stream_poll(stream, true, !shut, fds))
            assert_true(poll_until(fds, STREAM_FDS, deadline) >= 0);
    }
    assert_memory_equal(sent, back, ECHO_BYTES);
    free(sent);
    free(back);
}

static void a_stream_echoes(const char *line, enum remote_ssh ssh)
{
    struct host host = host_of(line);
    struct remote *remote = open_or_fail(&host, ssh);
    struct stream *stream;
    struct err err;
    int status;

    assert_int_equal(remote_stream(remote, "cat", &stream, &err), 0);
    echo(stream);
    assert_int_equal(stream_wait(stream, in_s(10), &status, &err), 0);
    assert_int_equal(status, 0);
    stream_close(stream);
    remote_close(remote);
}

/* The first line of the stream, as a number. */
static pid_t read_pid(struct stream *stream)
{
    char text[32] = "";
    size_t len = 0, n;
    int64_t deadline = in_s(10);
    struct err err;

    while (!strchr(text, '\n')) {
        struct pollfd fds[STREAM_FDS];

        assert_true(len < sizeof(text) - 1);
        assert_true(stream_read(stream, text + len, sizeof(text) - 1 - len, &n,
                                &err) == 0);
        len += n;
        if (n == 0 && !stream_poll(stream, true, false, fds))
            assert_true(poll_until(fds, STREAM_FDS, deadline) >= 0);
    }
    return (pid_t)atol(text);
}

/* The socket takes only part of a packet, and nothing is read or written after
 * it: the server is stopped until the socket is full. */
static void a_stuck_packet_does_not_break_the_end(void **state)
{
    static unsigned char bytes[65536];
    struct host host = host_of("box");
    struct remote *remote = open_or_fail(&host, REMOTE_SSH_LIBSSH2);
    const int small = 4096; /* so that it is full before the window is */
    struct pollfd fds[STREAM_FDS];
    struct stream *stream;
    struct err err;
    size_t n;
    pid_t server;
    int status;

    (void)state;
    assert_int_equal(
        remote_stream(remote, "echo $PPID; exec cat >/dev/null", &stream, &err),
        0);
    server = read_pid(stream);
    assert_true(server > 1);
    assert_false(stream_poll(stream, false, true, fds));
    assert_int_equal(
        setsockopt(fds[0].fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
    assert_int_equal(kill(server, SIGSTOP), 0);
    for (int i = 0; i < 1000 && !(fds[0].events & POLLOUT); i++) {
        assert_int_equal(stream_write(stream, bytes, sizeof(bytes), &n, &err),
                         0);
        (void)stream_poll(stream, false, true, fds);
    }
    assert_int_equal(kill(server, SIGCONT), 0);
    assert_true(fds[0].events & POLLOUT); /* it is stuck */
    if (stream_wait(stream, in_s(10), &status, &err) != 0)
        fail_msg("%s", err.text);
    stream_close(stream);
    remote_close(remote);
}

static void a_cut_connection_is_no_refusal(void **state)
{
    struct host host = host_of("box");
    struct remote *remote = open_or_fail(&host, REMOTE_SSH_LIBSSH2);
    struct stream *stream;
    struct err err = { "" };
    pid_t server;

    (void)state;
    assert_int_equal(
        remote_stream(remote, "echo $PPID; exec cat >/dev/null", &stream, &err),
        0);
    server = read_pid(stream);
    assert_true(server > 1);
    stream_close(stream);
    assert_int_equal(kill(server, SIGKILL), 0);
    assert_int_equal(remote_stream(remote, "true", &stream, &err), ERR_NETWORK);
    assert_non_null(strstr(err.text, "the connection broke ("));
    remote_close(remote);
}

static void a_stream_carries_8_mib_both_ways(void **state)
{
    (void)state;
    a_stream_echoes("box", REMOTE_SSH_LIBSSH2);
    a_stream_echoes("box", REMOTE_SSH_OPENSSH);
    a_stream_echoes("localhost", REMOTE_SSH_LIBSSH2);
}

static void an_etm_only_server_names_the_other_backend(void **state)
{
    struct sshd strict;

    (void)state;
    sshd_stop(&sshd);
    sshd_start(&strict, dir,
               "MACs hmac-sha2-256-etm@openssh.com\nCiphers aes128-ctr");
    sshd = strict;
    refused("box", REMOTE_SSH_LIBSSH2, ERR_NETWORK, "use --ssh=openssh");
    struct host host = host_of("box");
    remote_close(open_or_fail(&host, REMOTE_SSH_OPENSSH));
    sshd_stop(&sshd);
    sshd_start(&sshd, dir, NULL);
}

/* The server may not have noticed the end of the last one when the next one
 * begins. */
static void one_session_at_a_time_is_enough(void **state)
{
    struct host host = host_of("box");
    struct remote *remote;

    (void)state;
    sshd_stop(&sshd);
    sshd_start(&sshd, dir, "MaxSessions 1");
    remote = open_or_fail(&host, REMOTE_SSH_LIBSSH2);
    for (int i = 0; i < 20; i++)
        login_says(remote, "echo again", "again\n", 0);
    remote_close(remote);
    sshd_stop(&sshd);
    sshd_start(&sshd, dir, "MaxSessions 0");
    remote = open_or_fail(&host, REMOTE_SSH_LIBSSH2);
    struct remote_io io = { .deadline_ns = in_s(20) };
    struct err err;
    int status;
    assert_int_equal(remote_exec(remote, "true", &io, &status, &err),
                     ERR_NETWORK);
    assert_non_null(strstr(err.text, "MaxSessions"));
    remote_close(remote);
    sshd_stop(&sshd);
    sshd_start(&sshd, dir, NULL);
}

static int setup(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(hash_setup(&err), 0);
    assert_int_equal(ssh_setup(&err), 0);
    assert_non_null(mkdtemp(dir));
    sshd_start(&sshd, dir, NULL);
    return 0;
}

static int teardown(void **state)
{
    struct host host = { .name = "localhost", .local = true };
    struct remote_options options = { .home = "/" };
    struct remote *remote;
    char command[300];

    (void)state;
    sshd_stop(&sshd);
    assert_int_equal(remote_open(&host, &options, &remote, NULL), 0);
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    login_says(remote, command, "", 0);
    remote_close(remote);
    ssh_cleanup();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ed25519_key_logs_in),
        cmocka_unit_test(a_session_has_the_home_of_its_test),
        cmocka_unit_test(an_ecdsa_key_logs_in),
        cmocka_unit_test(the_system_ssh_logs_in),
        cmocka_unit_test(the_system_ssh_takes_rsa),
        cmocka_unit_test(this_machine_needs_no_ssh),
        cmocka_unit_test(a_stranger_is_refused),
        cmocka_unit_test(an_encrypted_key_names_the_agent),
        cmocka_unit_test(an_agent_stands_in_for_key_files),
        cmocka_unit_test(an_rsa_key_signs_with_sha_512),
        cmocka_unit_test(a_file_without_a_key_is_refused),
        cmocka_unit_test(an_unknown_host_key_is_refused),
        cmocka_unit_test(a_new_host_key_is_accepted_on_demand),
        cmocka_unit_test(a_changed_host_key_is_refused),
        cmocka_unit_test(a_revoked_host_key_is_refused),
        cmocka_unit_test(a_pinned_host_key_is_enough),
        cmocka_unit_test(an_unreachable_host_is_a_network_error),
        cmocka_unit_test(a_jump_host_carries_the_session),
        cmocka_unit_test(stderr_is_kept_for_the_message),
        cmocka_unit_test(a_command_has_a_deadline),
        cmocka_unit_test(a_stuck_packet_does_not_break_the_end),
        cmocka_unit_test(a_cut_connection_is_no_refusal),
        cmocka_unit_test(a_stream_carries_8_mib_both_ways),
        cmocka_unit_test(one_session_at_a_time_is_enough),
        cmocka_unit_test(an_etm_only_server_names_the_other_backend),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
