#include "tests/coordinator/link/dial_stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <sodium.h>
#include <zmq.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/curve.h"
#include "common/log.h"

#define WAIT_MS 20000
#define BOOT_ID "0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f"

struct slurm_thread dial_stage_line;
int64_t dial_stage_now_ns;
int dial_stage_wiped, dial_stage_wiped_invites, dial_stage_wiped_texts;
static char secret_key[CURVE_KEY_BYTES];
static char *log_text;
static size_t log_len, log_from;
static FILE *log_file;

int clock_gettime(clockid_t id, struct timespec *out)
{
    long rc = syscall(SYS_clock_gettime, id, out);

    if (id == CLOCK_BOOTTIME)
        *out = (struct timespec){ dial_stage_now_ns / NS_PER_S,
                                  dial_stage_now_ns % NS_PER_S };
    return (int)rc;
}

/* The library's own does the same. */
void sodium_memzero(void *const bytes, const size_t len)
{
    if (secret_key[0] && memmem(bytes, len, secret_key, CURVE_KEY_BYTES - 1)) {
        dial_stage_wiped++;
        dial_stage_wiped_invites += len == sizeof(struct invite);
        dial_stage_wiped_texts += len == INVITE_BYTES_MAX;
    }
    memset(bytes, 0, len);
}

int slurm_thread_start(void *zctx, size_t first, const struct host *host,
                       const char *public_key, struct slurm_thread **out,
                       struct err *err)
{
    (void)zctx, (void)host, (void)public_key, (void)err;
    dial_stage_line.started++;
    dial_stage_line.first = first;
    *out = &dial_stage_line;
    return 0;
}

void *slurm_thread_socket(struct slurm_thread *thread)
{
    return &thread->first;
}

int slurm_thread_recv(struct slurm_thread *thread, struct slurm_news *out)
{
    if (thread->n_taken == thread->n_news)
        return 0;
    *out = thread->news[thread->n_taken++];
    return 1;
}

void slurm_thread_came(struct slurm_thread *thread, size_t host)
{
    thread->came[host]++;
}

void slurm_thread_dismiss(struct slurm_thread *thread, size_t host)
{
    thread->dismissed[host]++;
}

void slurm_thread_grows(struct slurm_thread *thread, bool grows)
{
    assert_ptr_equal(thread, &dial_stage_line);
    thread->n_grows++;
    thread->grows = grows;
}

void slurm_thread_stop(struct slurm_thread *thread)
{
    thread->stopped++;
}

static struct host host_of(const struct dial_stage *stage, const char *name,
                           int task, const char *partition)
{
    struct host host = {
        .dial = { .back = true,
                  .slurm = { .task = task, .least = 1, .most = 2 } }
    };

    snprintf(host.name, sizeof(host.name), "%s", name);
    snprintf(host.workdir, sizeof(host.workdir), "%s/work", stage->folder);
    snprintf(host.dial.slurm.partition, sizeof(host.dial.slurm.partition), "%s",
             partition);
    return host;
}

static void fill_hosts(struct dial_stage *stage)
{
    stage->list[0] = host_of(stage, "box", 0, "");
    stage->list[0].dial.back = false;
    stage->list[1] = host_of(stage, "desk", 0, "");
    stage->list[2] = host_of(stage, "slurm:gpu-1", 1, "gpu");
    stage->list[3] = host_of(stage, "slurm:gpu-2", 2, "gpu");
    stage->list[4] = host_of(stage, "late", 0, "");
    stage->list[5] = host_of(stage, "slurm:behind-1", 1, "behind");
    stage->hosts = (struct hosts){ .list = stage->list, .n = 5 };
}

int dial_stage_set_up(void **state)
{
    static struct dial_stage stage;
    static unsigned char program[] = "the worker";
    struct err err;

    stage = (struct dial_stage){
        .listen.address = "127.0.0.1",
        .program = { .bytes = program, .len = sizeof(program) - 1 },
        .owner = { .id = "0123456789abcdef0123456789abcdef",
                   .command = "fedcba9876543210fedcba9876543210",
                   .pid = 1,
                   .since_utc = 1,
                   .user = "ada",
                   .machine = "here",
                   .database = "/home/ada/sweep.db" }
    };
    dial_stage_line = (struct slurm_thread){ .started = 0 };
    dial_stage_now_ns = 1000 * NS_PER_S;
    dial_stage_wiped = dial_stage_wiped_invites = dial_stage_wiped_texts = 0;
    if (!log_file) {
        log_file = open_memstream(&log_text, &log_len);
        log_setup(log_file, LOG_I);
    }
    fflush(log_file);
    log_from = log_len;
    snprintf(stage.folder, sizeof(stage.folder), "/tmp/fa-dial-XXXXXX");
    assert_non_null(mkdtemp(stage.folder));
    snprintf(stage.db, sizeof(stage.db), "%s/s.db", stage.folder);
    snprintf(stage.router_path, sizeof(stage.router_path), "%s/router",
             stage.folder);
    fill_hosts(&stage);
    stage.zctx = zmq_ctx_new();
    if (dial_keys_open(stage.db, &stage.keys, &err) < 0)
        fail_msg("%s", err.text);
    memcpy(secret_key, dial_keys_host(stage.keys, "desk", &err)->secret_key,
           CURVE_KEY_BYTES);
    *state = &stage;
    return 0;
}

int dial_stage_tear_down(void **state)
{
    struct dial_stage *stage = *state;
    char command[64];

    for (size_t i = 0; i < stage->n_workers; i++)
        if (stage->workers[i])
            zmq_close(stage->workers[i]);
    dial_hosts_close(stage->dial);
    router_close(stage->router);
    dial_keys_close(stage->keys);
    zmq_ctx_term(stage->zctx);
    secret_key[0] = '\0';
    snprintf(command, sizeof(command), "rm -rf %s", stage->folder);
    return system(command);
}

int dial_stage_try(struct dial_stage *stage, struct err *err)
{
    const struct dial_pair *own = dial_keys_server(stage->keys);
    const struct router_keys keys = { own->public_key, own->secret_key };
    const struct dial_hosts_options options = { .db = stage->db,
                                                .listen = &stage->listen,
                                                .epoch = DIAL_STAGE_EPOCH,
                                                .linger_s = 30,
                                                .owner = &stage->owner,
                                                .zctx = stage->zctx,
                                                .program = &stage->program };

    if (router_open(stage->zctx, stage->router_path, stage->hosts.n, &keys,
                    &stage->router, err) < 0)
        fail_msg("%s", err->text);
    return dial_hosts_open(&stage->hosts, stage->router, stage->keys, &options,
                           &stage->dial, err);
}

void dial_stage_open(struct dial_stage *stage)
{
    struct err err;

    if (dial_stage_try(stage, &err) < 0)
        fail_msg("%s", err.text);
}

const char *dial_stage_log(void)
{
    fflush(log_file);
    return log_text + log_from;
}

struct invite dial_stage_invitation(const struct dial_stage *stage, size_t host)
{
    const struct host *one = &stage->list[host];
    char path[512], text[INVITE_BYTES_MAX], name[SLURM_NAME_BYTES];
    struct invite invite;
    struct err err;
    FILE *file;
    size_t n;

    slurm_files_name(one, dial_keys_server(stage->keys)->public_key, name);
    if (one->dial.slurm.task > 0)
        snprintf(path, sizeof(path), "%s/%s/%s", one->workdir, name, one->name);
    else
        snprintf(path, sizeof(path), "%s.invitations/%s", stage->db, one->name);
    file = fopen(path, "r");
    if (!file)
        fail_msg("%s is not there", path);
    n = fread(text, 1, sizeof(text), file);
    fclose(file);
    if (invite_parse(text, n, &invite, &err) < 0)
        fail_msg("%s", err.text);
    return invite;
}

void *dial_stage_worker(struct dial_stage *stage, size_t host, int64_t epoch,
                        int64_t pid)
{
    struct invite invite = dial_stage_invitation(stage, host);
    void *worker = zmq_socket(stage->zctx, ZMQ_DEALER);
    int no_linger = 0, wait_ms = WAIT_MS;

    assert_true(stage->n_workers < DIAL_STAGE_WORKERS);
    stage->workers[stage->n_workers++] = worker;
    zmq_setsockopt(worker, ZMQ_LINGER, &no_linger, sizeof(no_linger));
    zmq_setsockopt(worker, ZMQ_RCVTIMEO, &wait_ms, sizeof(wait_ms));
    assert_int_equal(curve_client(worker, invite.server_key, invite.public_key,
                                  invite.secret_key, NULL),
                     0);
    assert_int_equal(zmq_connect(worker, invite.endpoint), 0);
    dial_stage_hello(worker, epoch, pid);
    return worker;
}

void dial_stage_say(void *worker, const struct msg *msg)
{
    struct err err;
    struct buf buf;

    buf_init(&buf, MSG_BYTES_MAX);
    if (msg_encode(msg, &buf, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(zmq_send(worker, buf.bytes, buf.len, 0) > 0);
    buf_fini(&buf);
}

void dial_stage_hello(void *worker, int64_t epoch, int64_t pid)
{
    const struct msg hello = { .type = MSG_HELLO,
                               .epoch = epoch,
                               .hello = { .protocol = 1,
                                          .version = "0.1.0",
                                          .host = "node7",
                                          .boot_id = BOOT_ID,
                                          .pid = pid,
                                          .cpus = 1 } };

    dial_stage_say(worker, &hello);
}

bool dial_stage_takes(struct dial_stage *stage, size_t host)
{
    struct msg msg;
    struct err err;
    size_t from = 99;
    bool takes;
    int rc = 0;

    for (int turn = 0; rc == 0 && turn < WAIT_MS / 20; turn++) {
        zmq_pollitem_t items[] = {
            { .socket = router_socket(stage->router), .events = ZMQ_POLLIN },
            { .socket = router_zap(stage->router), .events = ZMQ_POLLIN }
        };

        zmq_poll(items, 2, 20);
        router_step(stage->router);
        rc = router_recv(stage->router, &from, &msg, &err);
    }
    if (rc != 1)
        fail_msg("no message came: %d", rc);
    assert_int_equal(from, host);
    takes = dial_hosts_hear(stage->dial, host, &msg,
                            router_connection(stage->router, host));
    msg_fini(&msg);
    return takes;
}

struct msg dial_stage_read(void *worker)
{
    char bytes[8192];
    int n = zmq_recv(worker, bytes, sizeof(bytes), 0);
    struct msg msg;
    struct err err;

    if (n < 0)
        fail_msg("nothing was sent to the worker");
    if (msg_decode(bytes, (size_t)n, &msg, &err) < 0)
        fail_msg("%s", err.text);
    return msg;
}

/* What is sent to one connection arrives in its order. */
void dial_stage_has_read_all(struct dial_stage *stage, size_t host,
                             void *worker)
{
    const struct msg ack = { .type = MSG_BEAT, .beat.journal = 4711 };
    struct msg msg;

    assert_int_equal(router_send(stage->router, host, &ack, NULL), 0);
    msg = dial_stage_read(worker);
    assert_int_equal(msg.type, MSG_BEAT);
    assert_int_equal(msg.beat.journal, 4711);
    msg_fini(&msg);
}

struct host_thread_news dial_stage_await(struct dial_stage *stage, size_t host,
                                         enum host_threads_event event)
{
    struct host_thread_news news;

    if (dial_hosts_news(stage->dial, host, &news) != 1)
        fail_msg("no news, and not %d", event);
    if (news.event != event)
        fail_msg("news %d instead of %d: %s", news.event, event, news.text);
    assert_int_equal(news.host, host);
    return news;
}

void dial_stage_no_news(struct dial_stage *stage, size_t host)
{
    struct host_thread_news news;

    if (dial_hosts_news(stage->dial, host, &news) != 0)
        fail_msg("news %d: %s", news.event, news.text);
}
