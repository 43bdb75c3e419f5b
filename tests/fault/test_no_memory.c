/* What an allocation that fails must not do: lose a message, or a part of one,
 * and let the program go on.  Who waits for that message would wait until the
 * deadline of its lease.  So the program ends with a line (common/mem.h). */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <zmq.h>

#include "common/buf.h"
#include "common/curve.h"
#include "common/mem.h"
#include "common/msg.h"
#include "worker/agent/link.h"
#include "worker/process/sockets.h"

#define ALLOCATIONS_MAX 1000 /* of what is tried here; it takes some 30 */
#define REQUEST_BYTES 8192   /* more than a stream's first buffer has */

enum ending {
    WHOLE,     /* the allocation failed, and nothing is missing */
    EXHAUSTED, /* mem_exhausted() */
    IN_PARTS,  /* it went on, and something is missing */
    UNTOUCHED, /* it has fewer allocations */
};

/* ---- allocations of this thread that fail ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static _Thread_local int calls_left; /* until one fails; 0: none does */

static bool fails(void)
{
    if (calls_left == 0 || --calls_left > 0)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}

/* ---- what is tried ---- */

static char request[REQUEST_BYTES + 1];
static struct buf encoded;
static struct link *link_here;

static struct msg measure(void)
{
    return (struct msg){
        .type = MSG_MEASURE,
        .measure = { .work = { .lease = 7,
                               .id = { "s", "c", "n", "screen", "measure", 0,
                                       1 },
                               .key = "00000000000000000000000000000001" },
                     .launch = { .gpu = "GPU-1",
                                 .artifact = "",
                                 .reference = "",
                                 .request = request,
                                 .limit_ms = 1000 } }
    };
}

static void encode(void)
{
    struct msg msg = measure();
    struct err err;

    buf_init(&encoded, MSG_BYTES_MAX);
    assert_int_equal(msg_encode(&msg, &encoded, &err), 0);
}

static bool decoding(void)
{
    struct msg msg;
    struct err err;

    return msg_decode(encoded.bytes, encoded.len, &msg, &err) == 0 &&
           strcmp(msg.measure.launch.request, request) == 0;
}

/* Nothing answers there; what is sent waits in a queue. */
static void open_link(void)
{
    struct invite invite = { .epoch = 1 };
    struct err err;

    assert_int_equal(curve_keypair(invite.server_key, invite.secret_key, &err),
                     0);
    assert_int_equal(curve_keypair(invite.public_key, invite.secret_key, &err),
                     0);
    snprintf(invite.endpoint, sizeof(invite.endpoint),
             "ipc:///tmp/fa-no-memory-%d", (int)getpid());
    assert_int_equal(link_open(zmq_ctx_new(), &invite, &link_here, &err), 0);
}

static bool sending(void)
{
    struct msg msg = measure();
    struct err err;

    return link_send(link_here, &msg, &err) == 0;
}

static char folder[] = "/tmp/fa-no-memory-XXXXXX"; /* with a socket in it */

static void count_found(void *n, const char *name)
{
    (void)name;
    ++*(int *)n;
}

/* A socket that is not found is not hidden from kernels. */
static bool finding(void)
{
    int n = 0;

    (void)sockets_find(folder, 0, count_found, &n);
    return n == 1;
}

static void nothing(void)
{
}

static bool writing(void)
{
    char *text = NULL;
    size_t len;
    FILE *stream = mem_stream(&text, &len);

    fputs(request, stream);
    mem_stream_close(stream, &text);
    return len == REQUEST_BYTES && strcmp(text, request) == 0;
}

/* ---- in a process of its own ---- */

static _Noreturn void run(void (*prepare)(void), bool (*work)(void), int call)
{
    bool whole, touched;

    prepare();
    calls_left = call;
    whole = work();
    touched = calls_left == 0;
    calls_left = 0;
    _exit(!whole ? IN_PARTS : touched ? WHOLE : UNTOUCHED);
}

/* Allocations inside ZeroMQ and the C++ library abort, with their line. */
static enum ending ending_of(int status, const char *said)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXHAUSTED)
        return strstr(said, "out of memory") ? EXHAUSTED : IN_PARTS;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT)
        return strstr(said, "OUT OF MEMORY") || strstr(said, "bad_alloc")
                   ? EXHAUSTED
                   : IN_PARTS;
    return WIFEXITED(status) ? (enum ending)WEXITSTATUS(status) : IN_PARTS;
}

static enum ending with_failing(void (*prepare)(void), bool (*work)(void),
                                int call)
{
    char said[512];
    int stream[2], status;
    ssize_t n;
    pid_t pid;

    assert_int_equal(pipe(stream), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(stream[1], STDERR_FILENO);
        run(prepare, work, call);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(stream[1]);
    n = read(stream[0], said, sizeof(said) - 1);
    close(stream[0]);
    said[n > 0 ? n : 0] = '\0';
    return ending_of(status, said);
}

/* Fail each of its allocations in turn. */
static void try_all(void (*prepare)(void), bool (*work)(void))
{
    enum ending ending = WHOLE;
    int exhausted = 0;

    memset(request, 'x', REQUEST_BYTES);
    for (int call = 1; ending != UNTOUCHED; call++) {
        assert_int_not_equal(call, ALLOCATIONS_MAX);
        ending = with_failing(prepare, work, call);
        if (ending == IN_PARTS)
            fail_msg("call %d fails: something is missing", call);
        exhausted += ending == EXHAUSTED;
    }
    assert_int_not_equal(exhausted, 0);
}

static void a_message_is_decoded_or_the_program_ends(void **state)
{
    (void)state;
    try_all(encode, decoding);
}

static void a_message_is_sent_or_the_program_ends(void **state)
{
    (void)state;
    try_all(open_link, sending);
}

static void a_socket_is_found_or_the_program_ends(void **state)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", folder);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    try_all(nothing, finding);
    close(fd);
    unlink(address.sun_path);
    rmdir(folder);
}

static void a_text_is_whole_or_the_program_ends(void **state)
{
    (void)state;
    try_all(nothing, writing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_decoded_or_the_program_ends),
        cmocka_unit_test(a_message_is_sent_or_the_program_ends),
        cmocka_unit_test(a_socket_is_found_or_the_program_ends),
        cmocka_unit_test(a_text_is_whole_or_the_program_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
