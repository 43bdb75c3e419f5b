/* stand_in_worker.c - a fa-worker that misbehaves as a file tells it to
 *
 * boxes.py installs it as fa-worker, next to a copy of fa-coord.  If the work
 * folder has a file "stand-in", it behaves as that file says; otherwise it
 * executes the real fa-worker.  So one sweep can have honest and hostile hosts.
 *
 *   WORKDIR/stand-in   lines "KEY VALUE"
 *     behaviour NAME   a row of 'behaviours', or of hostile.c; a sweep for
 *                      cuda finds a GPU
 *     seconds N        it ends itself after this time
 *     slots N          READY.slots
 *     credit N         READY.measure_credit
 *     protocol N       HELLO.protocol
 *     measure_us N     how long a measurement takes, for 'succeeds'
 *     claim IDENTITY   one more entry of HELLO.running
 *   WORKDIR/heard      what it received: "TYPE LEASE", one message a line
 *   WORKDIR/TOOL.out   what compute-sanitizer's TOOL prints
 *
 * Relay, control socket, link, keys and encoding are the real ones.  It sends
 * at most STAND_IN_MESSAGES_MAX messages.
 */
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <zmq.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/nonce.h"
#include "worker/agent/control.h"
#include "worker/agent/link.h"
#include "worker/main/relay.h"
#include "tests/e2e/stand_in.h"
#include "worker/store/instance.h"
#include "worker/store/workdir.h"

#define REAL_WORKER FA_BINARY_DIR "/bin/fa-worker"
#define SECONDS 120 /* longer than any test that uses it */
#define HELLO_NS NS_PER_S
#define TURN_MS 50
#define READY_FD 3 /* worker/main/start.c */
#define LINE_BYTES 512
#define OUTPUT_BYTES 16384
#define SAMPLES 10 /* the most that a sweep takes by default */

void stand_in_say(struct stand_in *s, struct msg *msg)
{
    struct err err;

    if (++s->said > STAND_IN_MESSAGES_MAX)
        s->over = true;
    else if (link_send(s->link, msg, &err) < 0)
        fprintf(s->heard, "NOT SENT: %s\n", err.text);
}

/* ---- leases ---- */

void stand_in_start(struct stand_in *s, const struct msg *msg)
{
    stand_in_say(s, &(struct msg){ .type = MSG_STARTED,
                                   .started.lease = msg_work(msg)->lease });
}

static void refuse(struct stand_in *s, const struct msg *msg)
{
    stand_in_say(s,
                 &(struct msg){ .type = MSG_REFUSE,
                                .refuse = { .lease = msg_work(msg)->lease,
                                            .text = "the stand-in refuses" } });
}

void stand_in_nonce(char out[HASH_HEX])
{
    nonce_draw(clock_utc_ns(), out);
}

/* The result of a build that did not happen: no artifact has this hash. */
void stand_in_build(struct stand_in *s, const struct msg *msg)
{
    char nonce[HASH_HEX], artifact[HASH_HEX];

    if (msg->type != MSG_BUILD) {
        refuse(s, msg);
        return;
    }
    stand_in_nonce(nonce);
    hash_of(msg->build.work.key, strlen(msg->build.work.key), artifact);
    stand_in_start(s, msg);
    stand_in_say(s, &(struct msg){ .type = MSG_BUILT,
                                   .built = { .work = msg->build.work,
                                              .result = { .nonce = nonce,
                                                          .outcome = "built",
                                                          .detail = "",
                                                          .seconds = 0.01 },
                                              .artifact = artifact,
                                              .artifact_bytes = 40000,
                                              .log = "",
                                              .usage = { -1, -1, -1 } } });
}

/* The result of a measurement whose kernel faults. */
static void measure(struct stand_in *s, const struct msg *msg)
{
    char nonce[HASH_HEX];

    stand_in_nonce(nonce);
    stand_in_start(s, msg);
    stand_in_say(
        s, &(struct msg){
               .type = MSG_MEASURED,
               .measured = { .work = msg->measure.work,
                             .result = { .nonce = nonce,
                                         .outcome = "runtime",
                                         .detail = "an illegal memory access",
                                         .seconds = 0.001 },
                             .gpu = msg->measure.launch.gpu,
                             .artifact = msg->measure.launch.artifact,
                             .argument = "",
                             .relative_l2 = NAN,
                             .max_error = NAN,
                             .max_at = -1,
                             .sampling = "none",
                             .l2 = "none",
                             .checked = { -1, -1 },
                             .held_s = 0.001,
                             .usage = { -1, -1, -1 } } });
}

/* The result of a measurement that is right, after 'measure_us'. */
static void measure_right(struct stand_in *s, const struct msg *msg)
{
    const struct timespec takes = { .tv_sec = s->measure_us / 1000000,
                                    .tv_nsec = s->measure_us % 1000000 * 1000 };
    static const double around[2] = { 0 };
    const struct reals pair = { around, 2 };
    double samples[SAMPLES];
    char nonce[HASH_HEX];

    for (int i = 0; i < SAMPLES; i++) /* a float of ms, as CUDA events */
        samples[i] = (double)(0.6f + 0.0001f * (float)i) / 1e3;
    stand_in_nonce(nonce);
    stand_in_start(s, msg);
    nanosleep(&takes, NULL);
    stand_in_say(s, &(struct msg){
                        .type = MSG_MEASURED,
                        .measured = { .work = msg->measure.work,
                                      .result = { .nonce = nonce,
                                                  .outcome = "correct",
                                                  .detail = "",
                                                  .seconds = 0.02 },
                                      .gpu = msg->measure.launch.gpu,
                                      .artifact = msg->measure.launch.artifact,
                                      .argument = "",
                                      .relative_l2 = 0,
                                      .max_error = 0,
                                      .max_at = -1,
                                      .samples = { samples, SAMPLES },
                                      .sampling = "fixed",
                                      .l2 = "none",
                                      .clock_mhz = pair,
                                      .temp_c = pair,
                                      .power_w = pair,
                                      .throttle = pair,
                                      .checked = { -1, -1 },
                                      .held_s = 0.02,
                                      .usage = { -1, -1, -1 } } });
}

/* What the tool prints; "" if there is no such file. */
static void read_output(const struct stand_in *s, const char *tool,
                        char out[OUTPUT_BYTES])
{
    char path[LINE_BYTES];
    FILE *file;
    size_t n;

    snprintf(path, sizeof(path), "%s/%s.out", s->dir, tool);
    file = fopen(path, "re");
    n = file ? fread(out, 1, OUTPUT_BYTES - 1, file) : 0;
    out[n] = '\0';
    if (file)
        fclose(file);
}

/* The result of "compute-sanitizer --tool TOOL ...". */
static void check(struct stand_in *s, const struct msg *msg)
{
    const struct texts *command = &msg->tool.command;
    char nonce[HASH_HEX], output[OUTPUT_BYTES];

    stand_in_nonce(nonce);
    read_output(s, command->n > 2 ? command->items[2] : "", output);
    stand_in_start(s, msg);
    stand_in_say(s, &(struct msg){ .type = MSG_RAN,
                                   .ran = { .work = msg->tool.work,
                                            .result = { .nonce = nonce,
                                                        .outcome = "ran",
                                                        .detail = "",
                                                        .seconds = 0.001 },
                                            .gpu = msg->tool.launch.gpu,
                                            .output = output,
                                            .log = "" } });
}

static void pretend(struct stand_in *s, const struct msg *msg)
{
    if (msg->type == MSG_BUILD)
        stand_in_build(s, msg);
    else if (msg->type == MSG_MEASURE)
        measure(s, msg);
    else
        check(s, msg);
}

static void succeed(struct stand_in *s, const struct msg *msg)
{
    if (msg->type == MSG_BUILD)
        stand_in_build(s, msg);
    else if (msg->type == MSG_MEASURE)
        measure_right(s, msg);
    else
        refuse(s, msg);
}

/* ---- FETCH ---- */

static void miss(struct stand_in *s, const struct msg *msg)
{
    stand_in_say(s, &(struct msg){ .type = MSG_MISSING,
                                   .missing.hash = msg->fetch.hash });
}

static const struct behaviour behaviours[] = {
    { "beats", stand_in_start, miss,
      NULL },                       /* takes leases and never answers */
    { "claims", NULL, miss, NULL }, /* ignores leases; see 'claim' */
    { "vanish", stand_in_build, miss, NULL },
    { "mute-fetch", stand_in_build, NULL, NULL },
    { "refuses", refuse, miss, NULL },
    { "faults", pretend, miss, NULL }, /* every kernel does */
    { "succeeds", succeed, miss, NULL },
};

/* ---- its file ---- */

/* False if the line is unknown. */
static bool take_line(struct stand_in *s, const char *key, const char *value)
{
    const size_t n = sizeof(behaviours) / sizeof(behaviours[0]);

    if (strcmp(key, "behaviour") == 0) {
        s->does = hostile_behaviour(value);
        for (size_t i = 0; i < n && !s->does; i++)
            if (strcmp(behaviours[i].name, value) == 0)
                s->does = &behaviours[i];
        return s->does;
    }
    if (strcmp(key, "claim") == 0 && s->n_claims < STAND_IN_CLAIMS_MAX)
        s->claims[s->n_claims++] = mem_strdup(value);
    else if (strcmp(key, "seconds") == 0)
        s->seconds = strtoll(value, NULL, 10);
    else if (strcmp(key, "slots") == 0)
        s->slots = strtoll(value, NULL, 10);
    else if (strcmp(key, "protocol") == 0)
        s->protocol = strtoll(value, NULL, 10);
    else if (strcmp(key, "credit") == 0)
        s->credit = strtoll(value, NULL, 10);
    else if (strcmp(key, "measure_us") == 0)
        s->measure_us = strtoll(value, NULL, 10);
    else
        return false;
    return true;
}

/* False if the folder has no such file. */
static bool read_file(struct stand_in *s, const char *dir)
{
    char line[LINE_BYTES];
    FILE *file;

    snprintf(line, sizeof(line), "%s/stand-in", dir);
    file = fopen(line, "re");
    if (!file)
        return false;
    *s = (struct stand_in){ .dir = dir,
                            .seconds = SECONDS,
                            .slots = 1,
                            .credit = 4,
                            .protocol = MSG_PROTOCOL };
    while (fgets(line, sizeof(line), file)) {
        char *value = strchr(line, ' ');

        line[strcspn(line, "\n")] = '\0';
        if (value)
            *value++ = '\0';
        if (!value || !take_line(s, line, value)) {
            fprintf(stderr, "stand-in: line '%s' is unknown\n", line);
            exit(1);
        }
    }
    fclose(file);
    return s->does;
}

/* ---- the rest of the protocol, like a real worker ---- */

void stand_in_hello(struct stand_in *s, int64_t now_ns)
{
    char boot_id[CLOCK_BOOT_ID_BYTES];

    clock_boot_id(boot_id);
    stand_in_say(
        s, &(struct msg){ .type = MSG_HELLO,
                          .hello = { .protocol = s->protocol,
                                     .version = FA_VERSION,
                                     .host = "stand-in",
                                     .boot_id = boot_id,
                                     .pid = getpid(),
                                     .cpus = 1,
                                     .running = { s->claims, s->n_claims } } });
    s->hello_ns = now_ns + HELLO_NS;
}

/* The facts of worker/runner/device/device_cpu.c, so that the sweep may take
 * its facts from here. */
static void say_gpu(struct stand_in *s)
{
    static const char *const facts[] = {
        "arch 89",
        "sm_count 58",
        "smem_per_block 101376",
        "smem_per_sm 102400",
        "regs_per_block 65536",
        "regs_per_sm 65536",
        "threads_per_sm 1536",
        "blocks_per_sm 24",
        "max_threads_per_block 1024",
        "l2_bytes 50331648",
        "mem_bytes 24152899584",
        "dram_bytes_per_s 300000000000",
        "sm_clock_hz 2040000000",
        "mma_flops_per_clock_sm 1024",
    };
    char uuid[32];

    snprintf(uuid, sizeof(uuid), "%s-%d", s->is_cuda ? "GPU" : "CPU",
             (int)getpid());
    stand_in_say(s, &(struct msg){
                        .type = MSG_GPU,
                        .gpu = { .uuid = uuid,
                                 .name = s->is_cuda ? "NVIDIA L4" : "emulation",
                                 .driver = s->is_cuda ? "550.54.15" : "",
                                 .facts = { facts, sizeof(facts) /
                                                       sizeof(facts[0]) } } });
}

static void on_welcome(struct stand_in *s, const struct msg_welcome *welcome)
{
    bool gpu = strcmp(welcome->gpus, "none") != 0;

    if (s->welcomed)
        return;
    s->welcomed = true;
    s->beat_every_ns = welcome->beat_ms * NS_PER_MS;
    s->is_cuda = strcmp(welcome->device, "cuda") == 0;
    if (gpu)
        say_gpu(s);
    stand_in_say(
        s, &(struct msg){ .type = MSG_READY,
                          .ready = { .toolkit = s->is_cuda ? "nvcc 12.4.131"
                                                           : "g++ 12.2.0",
                                     .slots = s->slots,
                                     .n_gpus = gpu,
                                     .measure_credit = s->credit } });
}

/* The lease of the message, or 0. */
static int64_t lease_of(const struct msg *msg)
{
    const struct msg_work *work = msg_work(msg);

    if (msg->type == MSG_CANCEL)
        return msg->cancel.lease;
    return work ? work->lease : 0;
}

static void on_message(struct stand_in *s, const struct msg *msg)
{
    fprintf(s->heard, "%s %lld\n", msg_type_name(msg->type),
            (long long)lease_of(msg));
    switch (msg->type) {
    case MSG_WELCOME:
        on_welcome(s, &msg->welcome);
        return;
    case MSG_BUILD:
    case MSG_MEASURE:
    case MSG_TOOL:
        if (s->does->lease)
            s->does->lease(s, msg);
        return;
    case MSG_FETCH:
        if (s->does->fetch)
            s->does->fetch(s, msg);
        return;
    case MSG_STOP:
        stand_in_say(
            s, &(struct msg){ .type = MSG_BYE,
                              .bye.text = "the coordinator asked it to stop" });
        s->over = true;
        return;
    default:
        return;
    }
}

static void receive(struct stand_in *s)
{
    struct msg msg;
    struct err err;
    int rc;

    while (!s->over && (rc = link_recv(s->link, &msg, &err)) != 0) {
        if (rc < 0) {
            fprintf(s->heard, "NOT READ: %s\n", err.text);
            continue;
        }
        on_message(s, &msg);
        msg_fini(&msg);
    }
}

static void take_invitation(struct stand_in *s, int64_t now_ns)
{
    struct invite invite;
    struct err err;

    if (control_step(s->control, now_ns, &invite) != 1)
        return;
    link_close(s->link, 0);
    s->link = NULL;
    s->welcomed = false;
    s->hello_ns = 0;
    if (link_open(s->zctx, &invite, &s->link, &err) < 0)
        control_refuse(s->control, CONTROL_NO, err.text);
    else
        control_accept(s->control);
    invite_wipe(&invite);
}

static void turn(struct stand_in *s)
{
    zmq_pollitem_t items[1 + CONTROL_FDS_MAX];
    struct pollfd fds[CONTROL_FDS_MAX];
    size_t n = control_fds(s->control, fds), used = 0;
    int64_t now_ns = clock_boot_ns();

    for (size_t i = 0; i < n; i++)
        items[used++] =
            (zmq_pollitem_t){ .fd = fds[i].fd, .events = ZMQ_POLLIN };
    if (s->link)
        items[used++] = (zmq_pollitem_t){ .socket = link_socket(s->link),
                                          .events = ZMQ_POLLIN };
    zmq_poll(items, (int)used, TURN_MS);
    take_invitation(s, now_ns);
    if (!s->link)
        return;
    if (!s->welcomed && now_ns >= s->hello_ns)
        stand_in_hello(s, now_ns);
    if (s->welcomed && now_ns >= s->beat_ns) {
        stand_in_say(s, &(struct msg){ .type = MSG_BEAT });
        s->beat_ns = now_ns + s->beat_every_ns;
    }
    if (s->welcomed && s->does->turn)
        s->does->turn(s);
    receive(s);
}

/* The worker that a relay starts (worker/main/start.h). */
static int serve(struct stand_in *s, const char *dir)
{
    int64_t until_ns = clock_boot_ns() + s->seconds * NS_PER_S;
    char path[LINE_BYTES], *locked = mem_printf("%s/lock", dir);
    char *socket = mem_printf("%s/control.sock", dir);
    struct err err;
    int lock;

    signal(SIGPIPE, SIG_IGN);
    snprintf(path, sizeof(path), "%s/heard", dir);
    s->heard = fopen(path, "ae");
    lock = workdir_lock(locked, LOCK_EX, &err);
    if (!s->heard || lock < 0 || control_open(socket, &s->control, &err) < 0)
        return 1;
    free(locked);
    free(socket);
    setvbuf(s->heard, NULL, _IOLBF, 0);
    s->zctx = zmq_ctx_new();
    if (write(READY_FD, "ok", 2) != 2)
        return 1;
    close(READY_FD);
    while (!s->over && clock_boot_ns() < until_ns)
        turn(s);
    link_close(s->link, 1000);
    zmq_ctx_term(s->zctx);
    control_close(s->control);
    fclose(s->heard);
    close(lock);
    return 0;
}

int main(int argc, char *argv[])
{
    static struct stand_in s;
    struct instance instance;
    const char *dir = "";
    bool started = false;
    struct err err;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--workdir") == 0 && i + 1 < argc)
            dir = argv[i + 1];
        started = started || strcmp(argv[i], "--started") == 0;
    }
    if (!read_file(&s, dir)) {
        execv(REAL_WORKER, argv);
        return 127;
    }
    if (hash_setup(&err) < 0 || instance_open(dir, "all", &instance, &err) < 0)
        return 1;
    return started ? serve(&s, dir) : relay_run(&instance);
}
