/* Whatever answers at the socket of an ssh-agent: its keys are within the
 * answer, and their comments fit for a terminal. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "coordinator/ssh_keys/rsa_key.h"
#include "coordinator/ssh_keys/ssh_agent.h"

#define WAIT_NS (5 * NS_PER_S)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];
static const uint8_t *answer; /* of the next connection; set before it */
static size_t answer_len;
static sem_t served; /* posted after each connection */

/* Says all of it at once, and reads until the end. */
static void *serve(void *arg)
{
    int listener = *(int *)arg;
    char dropped[4096];

    for (;;) {
        int fd = accept(listener, NULL, NULL);

        assert(fd >= 0);
        (void)!send(fd, answer, answer_len, MSG_NOSIGNAL); /* or it is gone */
        shutdown(fd, SHUT_WR);
        while (read(fd, dropped, sizeof(dropped)) > 0)
            continue;
        close(fd);
        sem_post(&served);
    }
    return NULL;
}

static void remove_socket(void)
{
    unlink(path);
}

static void listen_once(void)
{
    static int listener = -1;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    pthread_t thread;

    if (listener >= 0)
        return;
    snprintf(path, sizeof(path), "/tmp/fa-fuzz-agent-%d", (int)getpid());
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    unlink(path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert(listener >= 0);
    assert(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0);
    assert(listen(listener, 1) == 0);
    assert(sem_init(&served, 0, 0) == 0);
    assert(pthread_create(&thread, NULL, serve, &listener) == 0);
    atexit(remove_socket);
}

static void check_keys(struct ssh_agent *agent)
{
    struct ssh_agent_key key, first = { .blob = NULL };
    struct err err = { "" };
    struct buf out;

    for (size_t n = 0; ssh_agent_key(agent, n, &key) == 1; n++) {
        unsigned sum = 0;

        for (size_t i = 0; i < key.blob_len; i++)
            sum += key.blob[i]; /* all of it can be read */
        for (const char *c = key.comment; *c; c++)
            assert((unsigned char)*c >= ' ' && *c != 0x7f);
        buf_init(&out, SSH_AGENT_ANSWER_MAX);
        (void)rsa_key_login_blob_of(key.blob, key.blob_len, &out);
        buf_fini(&out);
        if (n == 0 || sum == 0)
            first = key;
    }
    if (!first.blob)
        return;
    buf_init(&out, SSH_AGENT_ANSWER_MAX);
    if (ssh_agent_sign(agent, &first, "x", 1, clock_boot_ns() + WAIT_NS, &out,
                       &err) < 0)
        assert(err.text[0]);
    buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ssh_agent *agent;
    struct err err = { "" };

    listen_once();
    answer = data;
    answer_len = size;
    if (ssh_agent_open(path, clock_boot_ns() + WAIT_NS, &agent, &err) < 0)
        assert(err.text[0] && !strchr(err.text, '\n'));
    else
        check_keys(agent);
    ssh_agent_close(agent);
    while (sem_wait(&served) < 0) /* 'data' is in use until then */
        assert(errno == EINTR);   /* libFuzzer has a timer */
    return 0;
}
