#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "coordinator/ssh_keys/ssh_agent.h"
#include "coordinator/ssh_keys/ssh_wire.h"

static char dir[] = "/tmp/fa-test-agent-XXXXXX";
static char path[64];

/* An agent that reads a message and sends the next of these, then reads until
 * the end: one with no answer left is silent. */
struct script {
    const char *answers[3]; /* after the length */
    size_t lens[3];
    int listener;
    struct buf heard; /* messages, with their lengths */
};

static void *serve(void *arg)
{
    struct script *script = arg;
    int fd = accept(script->listener, NULL, NULL);
    char bytes[4096];
    ssize_t n;

    for (int i = 0; (n = read(fd, bytes, sizeof(bytes))) > 0; i++) {
        struct buf packet;

        buf_add(&script->heard, bytes, (size_t)n);
        buf_init(&packet, sizeof(bytes));
        if (i < 3 && script->answers[i]) {
            ssh_wire_add_string(&packet, script->answers[i], script->lens[i]);
            assert_int_equal(write(fd, packet.bytes, packet.len), packet.len);
        }
        buf_fini(&packet);
    }
    close(fd);
    return NULL;
}

static pthread_t start(struct script *script)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    pthread_t thread;

    unlink(path);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    script->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(
        bind(script->listener, (struct sockaddr *)&address, sizeof(address)),
        0);
    assert_int_equal(listen(script->listener, 1), 0);
    buf_init(&script->heard, 4096);
    assert_int_equal(pthread_create(&thread, NULL, serve, script), 0);
    return thread;
}

static void stop(struct script *script, pthread_t thread)
{
    pthread_join(thread, NULL);
    close(script->listener);
    buf_fini(&script->heard);
}

static int64_t soon(void)
{
    return clock_boot_ns() + 60 * NS_PER_S;
}

#define RSA "\0\0\0\7ssh-rsa\0\0\0\1\3\0\0\0\1\5"
#define LIST "\14\0\0\0\2\0\0\0\4\0\0\0\0\0\0\0\3me\n\0\0\0\25" RSA "\0\0\0\0"
#define SIGNED "\16\0\0\0\21\0\0\0\6a-name\0\0\0\3sig"

static void its_keys_are_listed_and_sign(void **state)
{
    struct script script = { { LIST, SIGNED, "\5" },
                             { sizeof(LIST) - 1, sizeof(SIGNED) - 1, 1 },
                             0,
                             { 0 } };
    pthread_t thread = start(&script);
    struct ssh_agent_key key;
    struct ssh_agent *agent;
    struct buf signature;
    struct err err;

    (void)state;
    if (ssh_agent_open(path, soon(), &agent, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(ssh_agent_key(agent, 0, &key), 1);
    assert_int_equal(key.blob_len, 4);
    assert_string_equal(key.comment, "me ");
    assert_int_equal(ssh_agent_key(agent, 2, &key), 0);
    assert_int_equal(ssh_agent_key(agent, 1, &key), 1);
    assert_int_equal(key.blob_len, sizeof(RSA) - 1);
    buf_init(&signature, 64);
    assert_int_equal(
        ssh_agent_sign(agent, &key, "x", 1, soon(), &signature, &err), 0);
    assert_string_equal(buf_text(&signature), "sig");
    assert_int_equal(
        ssh_agent_sign(agent, &key, "x", 1, soon(), &signature, &err),
        ERR_AUTH);
    /* the last word of a request: an RSA key signs with SHA-512 */
    assert_int_equal(script.heard.bytes[script.heard.len - 1], 4);
    buf_fini(&signature);
    ssh_agent_close(agent);
    stop(&script, thread);
}

static void one_that_does_not_answer_is_named(void **state)
{
    struct script script = { .answers = { NULL } };
    pthread_t thread = start(&script);
    struct ssh_agent *agent;
    struct err err;

    (void)state;
    assert_int_equal(
        ssh_agent_open(path, clock_boot_ns() + NS_PER_S / 20, &agent, &err),
        ERR_NETWORK);
    assert_null(agent);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, "gave no answer"));
    stop(&script, thread);
    unlink(path);
    assert_int_equal(ssh_agent_open(path, soon(), &agent, &err), ERR_NETWORK);
    assert_non_null(strstr(err.text, "there is no agent at"));
}

static void rubbish_is_refused(void **state)
{
    static const struct {
        const char *text;
        size_t len;
    } rows[] = {
        { "", 0 },                        /* no kind */
        { "\5", 1 },                      /* a failure */
        { "\14\0\0", 3 },                 /* cut off */
        { "\14\0\0\0\7\377\377\377", 8 }, /* keys that are not there */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct script script = { { rows[i].text }, { rows[i].len }, 0, { 0 } };
        pthread_t thread = start(&script);
        struct ssh_agent *agent;
        struct ssh_agent_key key;
        struct err err;
        int rc = ssh_agent_open(path, soon(), &agent, &err);

        if (rc != ERR_PROTO && (rc != 0 || ssh_agent_key(agent, 0, &key) != 0))
            fail_msg("row %zu: %d", i, rc);
        ssh_agent_close(agent);
        stop(&script, thread);
    }
}

static int setup(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/agent", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_keys_are_listed_and_sign),
        cmocka_unit_test(one_that_does_not_answer_is_named),
        cmocka_unit_test(rubbish_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
