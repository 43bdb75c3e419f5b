/* bench_crowd.c - a sweep over a thousand simulated workers: what it costs
 *
 *     bench_crowd FOLDER [WORKERS RESULTS]
 *
 * The coordinator is the real one, with its plan, schedule and database, which
 * is made in FOLDER.  Its clock and its hosts are simulated: a worker builds
 * for a second in each of two slots, and measures for 50 ms.  Each
 * configuration is a build and a measurement, so two durable results.  The
 * workers cost next to nothing.  Prints JSON: the CPU a result, the results in
 * a COMMIT, and the most memory.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/int64.h"
#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/link/host_threads.h"
#include "coordinator/link/sweep_io.h"
#include "coordinator/passes/passes.h"
#include "coordinator/reactor/sweep.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/spec/spec.h"
#include "coordinator/sql/sql.h"
#include "coordinator/state/sweep_options.h"
#include "coordinator/store/store.h"

#define WORKERS 1000
#define RESULTS 1000000
#define SLOTS 2
#define CREDIT 4
#define BUILD_NS NS_PER_S
#define MEASURE_NS (50 * NS_PER_MS)
#define BEAT_NS (5 * NS_PER_S)
#define SAMPLES 5
#define PATH_BYTES 512
#define START_NS (1000 * NS_PER_S)

/* What a worker will say, and when. */
struct answer {
    size_t host;
    enum msg_type type;
    int64_t due_ns, lease, attempt, round;
    char config[HASH_HEX], shape[32], purpose[16], key[HASH_HEX];
    char artifact[HASH_HEX];
};

/* Those of one length of time, so that the first in is the first due. */
struct answers {
    struct answer *list;
    size_t first, n, cap;
};

enum {
    SOON,
    BUILDS,
    MEASURES,
    BEATS,
    QUEUES
};

struct fleet_world {
    int64_t now_ns, epoch;
    size_t n_hosts, n_told; /* whose news ATTACHED has come */
    int64_t *free_ns;       /* [hosts] when its GPU is free */
    struct answers queues[QUEUES];
    int64_t results, commits;
    struct answer now; /* the message that was received borrows it */
    char nonce[HASH_HEX], uuid[32];
};

static void stop(const struct err *err)
{
    fprintf(stderr, "bench_crowd: %s\n", err->text);
    exit(1);
}

/* ---- queues ---- */

static void push(struct fleet_world *world, int queue, struct answer answer)
{
    struct answers *q = &world->queues[queue];

    if (q->n == q->cap) {
        struct answer *old = q->list;

        q->cap = q->cap ? 2 * q->cap : 1024;
        q->list = mem_new(q->cap, sizeof(*q->list));
        for (size_t i = 0; i < q->n; i++)
            q->list[i] = old[(q->first + i) % q->n];
        q->first = 0;
        free(old);
    }
    q->list[(q->first + q->n++) % q->cap] = answer;
}

static int64_t due_ns(const struct answers *q)
{
    return q->n ? q->list[q->first].due_ns : INT64_MAX;
}

static int first_due(const struct fleet_world *world)
{
    int best = 0;

    for (int i = 1; i < QUEUES; i++)
        if (due_ns(&world->queues[i]) < due_ns(&world->queues[best]))
            best = i;
    return best;
}

/* ---- messages of a worker ---- */

static struct msg hello_of(size_t host)
{
    return (struct msg){ .type = MSG_HELLO,
                         .hello = { .protocol = MSG_PROTOCOL,
                                    .pid = (int64_t)host + 1,
                                    .cpus = 4,
                                    .boot_id = "b007",
                                    .host = "machine",
                                    .version = "1" } };
}

static struct msg gpu_of(struct fleet_world *world, size_t host)
{
    static char text[GPU_ARCH_FACTS][64];
    static const char *lines[GPU_ARCH_FACTS];
    const struct gpu_arch_facts *facts = gpu_arch_find(GPU_ARCH_DEFAULT);

    for (size_t i = 0; i < GPU_ARCH_FACTS; i++) {
        snprintf(text[i], sizeof(text[i]), "%s %lld", gpu_arch_fact_name(i),
                 (long long)gpu_arch_fact(facts, i));
        lines[i] = text[i];
    }
    snprintf(world->uuid, sizeof(world->uuid), "CPU-%zu", host);
    return (struct msg){ .type = MSG_GPU,
                         .gpu = { .uuid = world->uuid,
                                  .name = "emulation",
                                  .driver = "",
                                  .facts = { lines, GPU_ARCH_FACTS } } };
}

static struct msg_built built_of(const struct answer *answer)
{
    return (struct msg_built){ .artifact = answer->artifact,
                               .artifact_bytes = 40000,
                               .log = "",
                               .usage = { -1, -1, -1 } };
}

static struct msg_measured measured_of(struct fleet_world *world)
{
    static const double samples[SAMPLES] = { 6e-4, 6.1e-4, 6.2e-4, 6e-4, 6e-4 };

    snprintf(world->uuid, sizeof(world->uuid), "CPU-%zu", world->now.host);
    return (struct msg_measured){ .gpu = world->uuid,
                                  .artifact = world->now.artifact,
                                  .argument = "",
                                  .max_at = -1,
                                  .samples = { samples, SAMPLES },
                                  .sampling = "fixed",
                                  .l2 = "none",
                                  .checked = { SAMPLES, 0 },
                                  .held_s = 0.04,
                                  .usage = { -1, -1, -1 } };
}

static struct msg result_of(struct fleet_world *world)
{
    const struct answer *answer = &world->now;
    bool built = answer->type == MSG_BUILT;
    struct msg msg = { .type = answer->type };

    world->results++;
    hash_of(&world->results, sizeof(world->results), world->nonce);
    if (built)
        msg.built = built_of(answer);
    else
        msg.measured = measured_of(world);
    *msg_work_of(&msg) =
        (struct msg_work){ .lease = answer->lease,
                           .id = { .sweep = "fleet",
                                   .config = answer->config,
                                   .shape = answer->shape,
                                   .purpose = answer->purpose,
                                   .stage = built ? "build" : "measure",
                                   .round = answer->round,
                                   .attempt = answer->attempt },
                           .key = answer->key };
    *msg_result_of(&msg) =
        (struct msg_result){ .nonce = world->nonce,
                             .outcome = built ? "built" : "correct",
                             .detail = "",
                             .seconds = built ? 1.0 : 0.05 };
    return msg;
}

static struct msg msg_of(struct fleet_world *world)
{
    const struct answer *answer = &world->now;

    switch (answer->type) {
    case MSG_HELLO:
        return hello_of(answer->host);
    case MSG_GPU:
        return gpu_of(world, answer->host);
    case MSG_READY:
        return (struct msg){ .type = MSG_READY,
                             .ready = { .slots = SLOTS,
                                        .n_gpus = 1,
                                        .measure_credit = CREDIT,
                                        .toolkit = "g++ 12.2.0" } };
    case MSG_STARTED:
        return (struct msg){ .type = MSG_STARTED,
                             .started.lease = answer->lease };
    case MSG_BEAT:
        push(world, BEATS,
             (struct answer){ .host = answer->host,
                              .type = MSG_BEAT,
                              .due_ns = world->now_ns + BEAT_NS });
        return (struct msg){ .type = MSG_BEAT };
    default:
        return result_of(world);
    }
}

/* ---- the tables of functions ---- */

static int64_t boot_ns(void *self)
{
    return ((struct fleet_world *)self)->now_ns;
}

static int64_t utc_ns(void *self)
{
    return INT64_C(1700000000000000000) + boot_ns(self);
}

static int64_t cpu_ns(void *self)
{
    struct timespec t;

    (void)self;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static int link_open(void *self, const struct hosts *hosts,
                     const struct sweep_link_options *options, struct err *err)
{
    static const enum msg_type first[] = { MSG_HELLO, MSG_GPU, MSG_READY };
    struct fleet_world *world = self;

    (void)err;
    world->epoch = options->epoch;
    for (size_t i = 0; i < hosts->n; i++) {
        for (int m = 0; m < 3; m++)
            push(world, SOON,
                 (struct answer){ .host = i,
                                  .type = first[m],
                                  .due_ns = world->now_ns + NS_PER_MS });
        push(world, BEATS,
             (struct answer){ .host = i,
                              .type = MSG_BEAT,
                              .due_ns = world->now_ns + BEAT_NS });
    }
    return 0;
}

static void link_close(void *self)
{
    (void)self;
}

static void link_wait(void *self, struct pollfd *fds, size_t n, long ms)
{
    struct fleet_world *world = self;
    int64_t until = world->now_ns + ms * NS_PER_MS;
    int64_t due = due_ns(&world->queues[first_due(world)]);

    (void)fds;
    (void)n;
    world->now_ns = int64_max(world->now_ns, int64_min(until, due));
}

static int link_recv(void *self, size_t *host, struct msg *msg, struct err *err)
{
    struct fleet_world *world = self;
    struct answers *q = &world->queues[first_due(world)];

    (void)err;
    if (due_ns(q) > world->now_ns)
        return 0;
    world->now = q->list[q->first];
    q->first = (q->first + 1) % q->cap;
    q->n--;
    *host = world->now.host;
    *msg = msg_of(world);
    msg->epoch = world->epoch;
    msg->bytes = 1000;
    return 1;
}

static void put_text(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text);
}

static int link_send(void *self, size_t host, const struct msg *msg,
                     struct err *err)
{
    struct fleet_world *world = self;
    const struct msg_work *work = msg_work(msg);
    struct answer answer = { .host = host, .due_ns = world->now_ns };

    (void)err;
    if (!work)
        return 0;
    answer.type = MSG_STARTED;
    answer.lease = work->lease;
    push(world, SOON, answer);
    answer.attempt = work->id.attempt;
    answer.round = work->id.round;
    put_text(answer.config, HASH_HEX, work->id.config);
    put_text(answer.shape, sizeof(answer.shape), work->id.shape);
    put_text(answer.purpose, sizeof(answer.purpose), work->id.purpose);
    put_text(answer.key, HASH_HEX, work->key);
    if (msg->type == MSG_BUILD) {
        answer.type = MSG_BUILT;
        answer.due_ns += BUILD_NS;
        hash_of(work->key, strlen(work->key), answer.artifact);
        push(world, BUILDS, answer);
        return 0;
    }
    answer.type = MSG_MEASURED;
    put_text(answer.artifact, HASH_HEX, msg->measure.launch.artifact);
    answer.due_ns += MEASURE_NS;
    push(world, MEASURES, answer);
    return 0;
}

static int link_news(void *self, size_t host, struct host_thread_news *out)
{
    struct fleet_world *world = self;

    if (host != world->n_told || host == world->n_hosts)
        return 0;
    *out = (struct host_thread_news){ .host = host,
                                      .event = HOST_THREADS_ATTACHED };
    world->n_told++;
    return 1;
}

static void link_reconnect(void *self, size_t host)
{
    (void)self;
    (void)host;
}

static int disk_commit(void *self, struct store *store, struct err *err)
{
    ((struct fleet_world *)self)->commits++;
    return store_commit(store, err);
}

/* ---- the sweep ---- */

static void copy_file(const char *folder, const char *name)
{
    char line[4096], path[PATH_BYTES];
    FILE *from, *to;
    size_t n;

    snprintf(path, sizeof(path), FA_SOURCE_DIR "/kernels/vector_add/%s", name);
    from = fopen(path, "re");
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    to = fopen(path, "we");
    if (!from || !to)
        stop(&(struct err){ "a file of vector_add cannot be copied" });
    while ((n = fread(line, 1, sizeof(line), from)) > 0)
        fwrite(line, 1, n, to);
    fclose(from);
    fclose(to);
}

static void write_axis(FILE *file, const char *name, int values)
{
    fprintf(file, "  \"%s\": [", name);
    for (int i = 0; i < values; i++)
        fprintf(file, "%s%d", i ? "," : "", i);
    fprintf(file, "],\n");
}

/* A cube of configurations of vector_add, for at least so many results. */
static struct spec *load_spec(const char *folder, double results,
                              struct err *err)
{
    int values = (int)ceil(cbrt(results / 2));
    char path[PATH_BYTES];
    struct spec *spec = NULL;
    FILE *file;

    copy_file(folder, "vector_add.cu");
    copy_file(folder, "reference.cu");
    snprintf(path, sizeof(path), "%s/sweep.json", folder);
    file = fopen(path, "we");
    if (!file)
        stop(&(struct err){ "the sweep file cannot be written" });
    fprintf(file, "{ \"name\": \"fleet\",\n\"kernel\": { \"source\": "
                  "\"vector_add.cu\", \"entry\": \"vector_add\" },\n"
                  "\"tunables\": {\n");
    write_axis(file, "X", values);
    write_axis(file, "Y", values);
    write_axis(file, "Z", values);
    fprintf(
        file,
        "  \"BLOCK_SIZE\": [256], \"ITEMS\": [1], \"VECTOR\": [false] },\n"
        "\"launch\": { \"grid\": [\"N / 256 + 1\"], \"block\": [\"256\"],"
        " \"smem\": \"0\" },\n"
        "\"shapes\": [ { \"name\": \"n5k\", \"N\": 5001 } ],\n"
        "\"emulation_shapes\": [ { \"name\": \"n5k\", \"N\": 5001 } ],\n"
        "\"arguments\": [\n"
        " { \"name\": \"a\", \"type\": \"fp32\", \"shape\": [\"N\"],"
        " \"fill\": \"normal\" },\n"
        " { \"name\": \"b\", \"type\": \"fp32\", \"shape\": [\"N\"],"
        " \"fill\": \"normal\" },\n"
        " { \"name\": \"out\", \"type\": \"fp32\", \"shape\": [\"N\"],"
        " \"output\": true },\n"
        " { \"name\": \"n\", \"type\": \"int32\", \"value\": \"N\" } ],\n"
        "\"reference\": { \"source\": \"reference.cu\","
        " \"entry\": \"vector_add_reference\", \"launch\": { \"grid\":"
        " [\"(N + 255) / 256\"], \"block\": [\"256\"], \"smem\": \"0\" } },\n"
        "\"tolerance\": { \"relative_l2\": 1e-6, \"max_error\": 1e-5 },\n"
        "\"baseline\": { \"X\": 0, \"Y\": 0, \"Z\": 0, \"BLOCK_SIZE\": 256,"
        " \"ITEMS\": 1, \"VECTOR\": false },\n"
        "\"measure\": { \"warmups\": 3, \"samples\": { \"least\": 5,"
        " \"most\": 5 }, \"timeout_s\": 10, \"seed\": 1, \"l2\": \"flush\","
        " \"canary_every\": 0 } }\n");
    fclose(file);
    if (spec_load(path, &spec, err) < 0)
        stop(err);
    return spec;
}

static struct sweep_io io_of(struct fleet_world *world)
{
    return (struct sweep_io){
        .clock = { world, boot_ns, utc_ns, utc_ns, cpu_ns },
        .link = { .self = world,
                  .open = link_open,
                  .close = link_close,
                  .wait = link_wait,
                  .recv = link_recv,
                  .send = link_send,
                  .news = link_news,
                  .reconnect = link_reconnect,
                  .dismiss = link_reconnect },
        .disk = { world, disk_commit },
    };
}

static void print(const struct fleet_world *world, int code)
{
    struct rusage usage;
    double cpu_s;

    getrusage(RUSAGE_SELF, &usage);
    cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
            (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    printf("{\"workers\": %zu, \"results\": %lld, \"cpu_s\": %.1f,"
           " \"us_a_result\": %.1f, \"results_a_commit\": %.1f,"
           " \"simulated_s\": %.1f, \"peak_mib\": %ld,"
           " \"exit\": %d}\n",
           world->n_hosts, (long long)world->results, cpu_s,
           cpu_s / (double)world->results * 1e6,
           (double)world->results / (double)world->commits,
           (double)(world->now_ns - START_NS) / 1e9, usage.ru_maxrss / 1024,
           code);
}

int main(int argc, char *argv[])
{
    const char *folder = argc > 1 ? argv[1] : "";
    struct fleet_world world = { .now_ns = START_NS };
    struct sweep_options options = { .device = "cpu",
                                     .arch = GPU_ARCH_DEFAULT,
                                     .command = "sweep",
                                     .hosts_file = "",
                                     .passes = sweep_passes,
                                     .stay.linger_s = SWEEP_LINGER_S,
                                     .attempts = SWEEP_ATTEMPTS,
                                     .watch.quiet = true };
    struct sweep_io io = io_of(&world);
    struct store *store = NULL;
    struct hosts hosts;
    struct spec *spec;
    struct err err = { "" };
    char path[PATH_BYTES];
    int code;

    if (argc != 2 && argc != 4)
        stop(&(struct err){ "usage: bench_crowd FOLDER [WORKERS RESULTS]" });
    world.n_hosts = (size_t)(argc > 2 ? atoll(argv[2]) : WORKERS);
    sql_setup();
    if (hash_setup(&err) < 0)
        stop(&err);
    spec = load_spec(folder, argc > 3 ? atof(argv[3]) : RESULTS, &err);
    snprintf(path, sizeof(path), "%s/fleet.db", folder);
    if (store_open(path, STORE_CREATE, &store, &err) < 0)
        stop(&err);
    hosts = (struct hosts){ mem_new(world.n_hosts, sizeof(struct host)),
                            world.n_hosts };
    for (size_t i = 0; i < world.n_hosts; i++)
        snprintf(hosts.list[i].name, sizeof(hosts.list[i].name), "host%zu", i);
    code = sweep_run_with(&io, spec, &hosts, store, &options, &err);
    print(&world, code);
    if (*err.text)
        fprintf(stderr, "%s\n", err.text);
    store_close(store);
    spec_free(spec);
    return code;
}
