#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/sources.h"
#include "common/mem.h"
#include "tests/e2e/coord.h"

#define FA_HEADERS FA_SOURCE_DIR "/kernels/include/fa"
#define WORKER FA_BINARY_DIR "/bin/fa-worker"

#define ADD                                                                 \
    "extern \"C\" __global__ void add(const float *a, float *out, int n)\n" \
    "{\n"                                                                   \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                  \
    "    if (i < n)\n"                                                      \
    "        out[i] = a[i] + VALUE;\n"                                      \
    "}\n"
#define REFERENCE                                                            \
    "extern \"C\" __global__ void ref(const float *a, double *out, int n)\n" \
    "{\n"                                                                    \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                   \
    "    if (i < n)\n"                                                       \
    "        out[i] = double(a[i]) + 1.0;\n"                                 \
    "}\n"
#define REQUEST                                                                \
    "entry add\ngrid 4 1 1\nblock 64 1 1\nsmem 0\n"                            \
    "arg a fp32 buffer 200 normal 1 in\n"                                      \
    "arg out fp32 buffer 200 zeros 1 out\n"                                    \
    "arg n int32 scalar 200\n"                                                 \
    "reference ref 4 1 1 64 1 1 0\n"                                           \
    "tolerance 1e-6 1e-5\nseed 1\nwarmups 1\nsamples 3 3\nnoise 0.01\nmargin " \
    "1.1\nincumbent_s 0\n"                                                     \
    "l2 warm\ntimeout_s 10\n"

#define FILES_MAX 64

static struct coord coord;
static struct msg bundle = { .type = MSG_BUNDLE };
static char bundle_name[HASH_HEX];
static const char *names[FILES_MAX];
static struct bytes contents[FILES_MAX];

static void add_file(const char *name, const char *text, size_t len)
{
    size_t n = bundle.names.n;

    assert_true(n < FILES_MAX);
    names[n] = mem_strdup(name);
    contents[n] = (struct bytes){ mem_dup(text, len), len };
    bundle.names = (struct texts){ names, n + 1 };
    bundle.contents = (struct blobs){ contents, n + 1 };
}

static void add_header(const char *name)
{
    char *path = mem_printf(FA_HEADERS "/%s", name);
    char *as = mem_printf("fa/%s", name);
    FILE *file = fopen(path, "r");
    struct buf text;
    char bytes[4096];
    size_t n;

    assert_non_null(file);
    buf_init(&text, MSG_BYTES_MAX);
    while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0)
        buf_add(&text, bytes, n);
    fclose(file);
    add_file(as, buf_text(&text), text.len);
    buf_fini(&text);
    free(as);
    free(path);
}

static int make_bundle(void **state)
{
    DIR *folder = opendir(FA_HEADERS);
    struct dirent *entry;
    struct err err;

    (void)state;
    assert_int_equal(hash_setup(&err), 0);
    assert_non_null(folder);
    add_file("add.cu", ADD, strlen(ADD));
    add_file("ref.cu", REFERENCE, strlen(REFERENCE));
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            add_header(entry->d_name);
    closedir(folder);
    sources_hash(&bundle.names, &bundle.contents, bundle_name);
    bundle.hash = bundle_name;
    return 0;
}

static int free_bundle(void **state)
{
    (void)state;
    for (size_t i = 0; i < bundle.names.n; i++) {
        free((char *)names[i]);
        free((void *)contents[i].data);
    }
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    coord_open(&coord);
    coord.bundle = &bundle;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    coord_close(&coord);
    return 0;
}

static struct msg build_of(int64_t lease, const char *source, const char *entry)
{
    static char key[HASH_HEX];
    struct msg msg = { .type = MSG_BUILD,
                       .lease = lease,
                       .key = key,
                       .bundle = bundle_name,
                       .source = source,
                       .header = "#define VALUE 1.0f\n",
                       .entry = entry,
                       .standard = "c++17",
                       .arch = "cpu",
                       .limit_ms = 60000 };

    hash_of(source, strlen(source), key);
    msg.id =
        (struct msg_identity){ "test", source, "", "kernel", "build", 0, 1 };
    return msg;
}

static void build(int64_t lease, const char *source, const char *entry)
{
    struct msg msg = build_of(lease, source, entry);

    coord_send(&coord, &msg);
}

/* Build and acknowledge; the artifact's hash. */
static void artifact(int64_t lease, const char *source, const char *entry,
                     char out[HASH_HEX])
{
    struct msg built;

    build(lease, source, entry);
    coord_await(&coord, MSG_BUILT, &built);
    assert_string_equal(built.log, "");
    assert_string_equal(built.outcome, "built");
    assert_int_equal(built.lease, lease);
    snprintf(out, HASH_HEX, "%s", built.artifact);
    coord_ack(&coord, built.nonce);
    msg_fini(&built);
}

static void a_kernel_is_built_and_measured(void **state)
{
    char add[HASH_HEX], ref[HASH_HEX];
    struct msg gpu, ready, measured, chunk;
    struct msg fetch = { .type = MSG_FETCH, .hash = add };
    struct msg measure = { .type = MSG_MEASURE,
                           .lease = 3,
                           .key = "00000000000000000000000000000001",
                           .artifact = add,
                           .reference = ref,
                           .request = REQUEST,
                           .limit_ms = 60000 };

    (void)state;
    coord_attach(&coord);
    coord_welcome(&coord, "all", 1);
    coord_await(&coord, MSG_GPU, &gpu);
    coord_await(&coord, MSG_READY, &ready);
    assert_int_equal(ready.slots, 1);
    assert_int_equal(ready.n_gpus, 1);
    artifact(1, "ref.cu", "ref", ref);
    artifact(2, "add.cu", "add", add);
    measure.gpu = gpu.gpu;
    measure.id = (struct msg_identity){ "test",    "add", "n200", "screen",
                                        "measure", 0,     1 };
    coord_send(&coord, &measure);
    coord_await(&coord, MSG_MEASURED, &measured);
    assert_string_equal(measured.detail, "");
    assert_string_equal(measured.outcome, "correct");
    assert_string_equal(measured.key, measure.key);
    assert_int_equal(measured.lease, 3);
    assert_int_equal(measured.samples.n, 3);
    assert_true(coord.seen[MSG_STARTED] >= 2);
    coord_ack(&coord, measured.nonce);
    coord_send(&coord, &fetch);
    coord_await(&coord, MSG_ARTIFACT, &chunk);
    assert_string_equal(chunk.hash, add);
    assert_int_equal(chunk.offset, 0);
    assert_true(chunk.chunk.len > 1000);
    msg_fini(&chunk);
    msg_fini(&measured);
    msg_fini(&ready);
    msg_fini(&gpu);
    coord_stop(&coord, "drain");
    coord_expect(&coord, MSG_BYE);
    assert_int_equal(coord_reap_worker(&coord), 0);
    assert_int_equal(coord_await_end(&coord), 0);
}

static void up(int64_t slots)
{
    coord_attach(&coord);
    coord_welcome(&coord, "none", slots);
    coord_expect(&coord, MSG_READY);
}

static void an_unacknowledged_result_is_offered_to_the_next_one(void **state)
{
    struct msg first, hello, again;
    pid_t worker;

    (void)state;
    up(1);
    worker = coord.worker;
    build(1, "ref.cu", "ref");
    coord_await(&coord, MSG_BUILT, &first);
    coord_cut(&coord);
    coord.epoch++;
    coord_attach(&coord);
    coord_await(&coord, MSG_HELLO, &hello);
    assert_int_equal(hello.pid, worker);
    assert_int_equal(hello.epoch, coord.epoch);
    assert_int_equal(hello.journal, 1);
    coord_welcome(&coord, "none", 1);
    coord_await(&coord, MSG_BUILT, &again);
    assert_string_equal(again.nonce, first.nonce);
    assert_int_equal(again.epoch, coord.epoch - 1);
    coord_ack(&coord, again.nonce);
    msg_fini(&hello);
    msg_fini(&first);
    msg_fini(&again);
    coord_stop(&coord, "drain");
    coord_await(&coord, MSG_BYE, &again);
    assert_int_equal(again.journal, 0);
    msg_fini(&again);
    assert_int_equal(coord_reap_worker(&coord), 0);
}

static void a_result_survives_the_worker(void **state)
{
    struct msg first, again;

    (void)state;
    up(1);
    build(1, "ref.cu", "ref");
    coord_await(&coord, MSG_BUILT, &first);
    kill(coord.worker, SIGKILL);
    assert_int_equal(coord_reap_worker(&coord), -1);
    assert_int_equal(coord_await_end(&coord), 0);
    coord.epoch++;
    up(1);
    coord_await(&coord, MSG_BUILT, &again);
    assert_string_equal(again.nonce, first.nonce);
    msg_fini(&first);
    msg_fini(&again);
}

static void what_runs_goes_on_under_a_new_coordinator(void **state)
{
    struct msg hello, built;

    (void)state;
    up(1);
    build(1, "ref.cu", "ref");
    build(2, "add.cu", "add");
    coord_expect(&coord, MSG_STARTED);
    coord_cut(&coord);
    coord.epoch++;
    coord_attach(&coord);
    coord_await(&coord, MSG_HELLO, &hello);
    assert_int_equal(hello.running.n + (size_t)hello.journal, 1);
    if (hello.running.n == 1)
        assert_string_equal(hello.running.items[0],
                            "test/ref.cu//kernel/0/build/1");
    msg_fini(&hello);
    coord_welcome(&coord, "none", 1);
    coord_await(&coord, MSG_BUILT, &built);
    assert_string_equal(built.id.config, "ref.cu");
    coord_ack(&coord, built.nonce);
    msg_fini(&built);
    build(1, "add.cu", "add"); /* the number counts anew */
    coord_await(&coord, MSG_BUILT, &built);
    assert_string_equal(built.id.config, "add.cu");
    msg_fini(&built);
}

static void an_older_epoch_is_refused(void **state)
{
    (void)state;
    up(1);
    coord_cut(&coord);
    coord.epoch--;
    coord_attach(&coord);
    assert_int_equal(coord_await_end(&coord), 1);
    assert_string_equal(buf_text(&coord.said),
                        "fa-worker: the worker refuses: older epoch\n");
}

static void without_a_coordinator_it_ends(void **state)
{
    (void)state;
    coord.linger_ms = 1000;
    coord.beats = true;
    up(1);
    coord_cut(&coord);
    assert_int_equal(coord_reap_worker(&coord), 0);
}

/* Between two heartbeats there is nothing to hear. */
static void one_that_beats_is_not_left_however_short_the_linger(void **state)
{
    (void)state;
    coord.linger_ms = 0;
    coord.beats = true;
    up(1);
    coord_idle(&coord, 4 * COORD_BEAT_MS);
    assert_int_equal(coord.seen[MSG_BYE], 0);
    assert_false(coord.ended);
    coord_cut(&coord);
    assert_int_equal(coord_reap_worker(&coord), 0);
}

static pid_t pid_of_lock(void)
{
    char *path = mem_printf("%s/lock", coord.work);
    FILE *file = fopen(path, "r");
    int pid = -1;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &pid), 1);
    fclose(file);
    free(path);
    return pid;
}

static void a_wrong_server_key_is_not_talked_to_for_ever(void **state)
{
    (void)state;
    coord.linger_ms = 0;
    coord.wrong_server_key = true;
    coord_attach(&coord);
    coord_idle(&coord, 500);
    assert_int_equal(coord.seen[MSG_HELLO], 0);
    coord.worker = pid_of_lock();
    assert_int_equal(coord_reap_worker(&coord), 0);
    assert_int_equal(coord.seen[MSG_HELLO], 0);
    assert_int_equal(coord_await_end(&coord), 0);
}

/* All of a file, as far as 64 KiB. */
static size_t slurp(const char *path, char out[64 << 10])
{
    FILE *file = fopen(path, "r");
    size_t n;

    if (!file)
        fail_msg("%s is not there", path);
    n = fread(out, 1, 64 << 10, file);
    fclose(file);
    return n;
}

static void the_secret_key_is_in_no_argument_environment_or_file(void **state)
{
    static const char *const proc[] = { "cmdline", "environ" };
    static const char *const kept[] = { "lock", "journal", "worker.log" };
    static char text[64 << 10];

    (void)state;
    up(1);
    for (int i = 0; i < 5; i++) {
        char *path = i < 2
                         ? mem_printf("/proc/%d/%s", (int)coord.worker, proc[i])
                         : mem_printf("%s/%s", coord.work, kept[i - 2]);
        size_t len = slurp(path, text);

        assert_null(
            memmem(text, len, coord.secret_key, strlen(coord.secret_key)));
        free(path);
    }
}

static void a_second_relay_of_one_coordinator_takes_over(void **state)
{
    pid_t first, worker;
    int status;

    (void)state;
    up(1);
    first = coord.relay;
    worker = coord.worker;
    coord.relay = -1;
    up(1);
    assert_int_equal(coord.worker, worker);
    assert_int_equal(waitpid(first, &status, 0), first);
    assert_true(WIFEXITED(status));
}

static void more_than_the_credit_is_refused(void **state)
{
    struct msg refuse;

    (void)state;
    coord.bundle = NULL; /* nothing can start */
    up(1);
    build(1, "ref.cu", "ref");
    build(2, "add.cu", "add");
    build(3, "ref.cu", "ref");
    coord_await(&coord, MSG_REFUSE, &refuse);
    assert_int_equal(refuse.lease, 3);
    assert_string_equal(refuse.text, "2 leases are here already, the most");
    msg_fini(&refuse);
}

static void files_that_are_nowhere_give_the_lease_back(void **state)
{
    struct msg missing = { .type = MSG_MISSING, .hash = bundle_name }, refuse;

    (void)state;
    coord.bundle = NULL;
    up(1);
    build(1, "ref.cu", "ref");
    coord_expect(&coord, MSG_WANT);
    coord_send(&coord, &missing);
    coord_await(&coord, MSG_REFUSE, &refuse);
    assert_int_equal(refuse.lease, 1);
    msg_fini(&refuse);
}

static void a_bundle_that_is_not_its_hash_is_not_used(void **state)
{
    struct msg forged = bundle, want, built;
    struct blobs cut = bundle.contents;

    (void)state;
    coord.bundle = NULL;
    up(1);
    build(1, "ref.cu", "ref");
    coord_await(&coord, MSG_WANT, &want);
    assert_string_equal(want.what, "bundle");
    assert_string_equal(want.hash, bundle_name);
    msg_fini(&want);
    forged.names.n = forged.contents.n = cut.n - 1;
    coord_send(&coord, &forged);
    coord_idle(&coord, 300);
    assert_int_equal(coord.seen[MSG_STARTED], 0);
    coord.bundle = &bundle; /* it asks again */
    coord_await(&coord, MSG_BUILT, &built);
    assert_string_equal(built.outcome, "built");
    msg_fini(&built);
}

static void a_cancelled_lease_leaves_no_result(void **state)
{
    struct msg cancel = { .type = MSG_CANCEL, .lease = 1 }, built;

    (void)state;
    up(1);
    build(1, "ref.cu", "ref");
    coord_expect(&coord, MSG_STARTED);
    coord_send(&coord, &cancel);
    build(2, "add.cu", "add");
    coord_await(&coord, MSG_BUILT, &built);
    assert_int_equal(built.lease, 2);
    msg_fini(&built);
}

static void a_signal_ends_it_with_a_word(void **state)
{
    (void)state;
    up(1);
    kill(coord.worker, SIGTERM);
    coord_expect(&coord, MSG_BYE);
    assert_int_equal(coord_reap_worker(&coord), 1);
}

/* It is told to end, and has not yet when the next coordinator comes. */
static void a_relay_that_meets_a_worker_at_its_end_starts_another(void **state)
{
    struct msg hello;
    pid_t first;

    (void)state;
    up(1);
    first = coord.worker;
    kill(first, SIGSTOP);
    kill(first, SIGTERM);
    coord_cut(&coord);
    coord.epoch++;
    coord_attach(&coord);
    coord_idle(&coord, 300); /* the invitation reaches it */
    kill(first, SIGCONT);
    coord_await(&coord, MSG_HELLO, &hello);
    assert_int_not_equal(hello.pid, first);
    assert_int_equal(hello.epoch, coord.epoch);
    msg_fini(&hello);
}

static int run(const char *const *args, const char *expected)
{
    char text[512] = "";
    int out[2], status;
    pid_t pid;
    ssize_t n;

    assert_int_equal(pipe(out), 0);
    pid = fork();
    if (pid == 0) {
        close(0);
        dup2(out[1], 1);
        dup2(out[1], 2);
        close(out[0]);
        close(out[1]);
        execv(WORKER, (char *const *)args);
        _exit(127);
    }
    close(out[1]);
    for (size_t len = 0;
         (n = read(out[0], text + len, sizeof(text) - 1 - len)) > 0;)
        len += (size_t)n;
    close(out[0]);
    waitpid(pid, &status, 0);
    if (!strstr(text, expected))
        fail_msg("'%s' lacks '%s'", text, expected);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void the_command_line_is_checked(void **state)
{
    char deep[160];
    const char *const hash[] = { "fa-worker", "--hash", "/nowhere", NULL };
    const char *const unknown[] = { "fa-worker", "--atach", NULL };
    const char *const half[] = { "fa-worker", "--workdir", NULL };
    const char *const version[] = { "fa-worker", "--version", NULL };
    const char *const help[] = { "fa-worker", "--help", NULL };
    const char *const far[] = { "fa-worker", "--attach", "--workdir", deep,
                                NULL };

    (void)state;
    snprintf(deep, sizeof(deep), "%s/%0100d", coord.folder, 1);
    assert_int_equal(run(unknown, "no option '--atach'"), 2);
    assert_int_equal(run(half, "--workdir needs a value"), 2);
    assert_int_equal(run(version, "fa-worker " FA_VERSION "\n"), 0);
    assert_int_equal(run(help, "usage: fa-worker"), 0);
    assert_int_equal(run(hash, "/nowhere"), 1);
    assert_int_equal(run(far, "choose another with workdir="), 1);
}

#define attached(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        attached(a_kernel_is_built_and_measured),
        attached(an_unacknowledged_result_is_offered_to_the_next_one),
        attached(a_result_survives_the_worker),
        attached(what_runs_goes_on_under_a_new_coordinator),
        attached(an_older_epoch_is_refused),
        attached(without_a_coordinator_it_ends),
        attached(one_that_beats_is_not_left_however_short_the_linger),
        attached(a_wrong_server_key_is_not_talked_to_for_ever),
        attached(the_secret_key_is_in_no_argument_environment_or_file),
        attached(a_second_relay_of_one_coordinator_takes_over),
        attached(more_than_the_credit_is_refused),
        attached(files_that_are_nowhere_give_the_lease_back),
        attached(a_bundle_that_is_not_its_hash_is_not_used),
        attached(a_cancelled_lease_leaves_no_result),
        attached(a_signal_ends_it_with_a_word),
        attached(a_relay_that_meets_a_worker_at_its_end_starts_another),
        attached(the_command_line_is_checked),
    };
    return cmocka_run_group_tests(tests, make_bundle, free_bundle);
}
