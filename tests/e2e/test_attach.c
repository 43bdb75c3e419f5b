/* Coordinators come, go and come back; how a worker reacts. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <zmq.h>

#include "common/clock.h"
#include "common/mem.h"
#include "tests/e2e/coord.h"
#include "tests/e2e/kernel.h"
#include "worker/agent/control.h"

static struct coord coord;

static int set_up(void **state)
{
    (void)state;
    coord_open(&coord);
    coord.bundle = &kernel_bundle;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    coord_close(&coord);
    return 0;
}

static void an_unacknowledged_result_is_offered_to_the_next_one(void **state)
{
    struct msg first, hello, again;
    pid_t worker;

    (void)state;
    coord_up(&coord, 1);
    worker = coord.worker;
    kernel_build(&coord, 1, "ref.cu", "ref");
    coord_await(&coord, MSG_BUILT, &first);
    coord_cut(&coord);
    coord.epoch++;
    coord_attach(&coord);
    coord_await(&coord, MSG_HELLO, &hello);
    assert_int_equal(hello.hello.pid, worker);
    assert_int_equal(hello.epoch, coord.epoch);
    assert_int_equal(hello.hello.journal, 1);
    coord_welcome(&coord, "none", 1);
    coord_await(&coord, MSG_BUILT, &again);
    assert_string_equal(again.built.result.nonce, first.built.result.nonce);
    assert_int_equal(again.epoch, coord.epoch - 1);
    coord_ack(&coord, again.built.result.nonce);
    msg_fini(&hello);
    msg_fini(&first);
    msg_fini(&again);
    coord_stop(&coord, "drain");
    coord_await(&coord, MSG_BYE, &again);
    assert_int_equal(again.bye.journal, 0);
    msg_fini(&again);
    assert_int_equal(coord_reap_worker(&coord), 0);
}

static void a_result_survives_the_worker(void **state)
{
    struct msg first, again;

    (void)state;
    coord_up(&coord, 1);
    kernel_build(&coord, 1, "ref.cu", "ref");
    coord_await(&coord, MSG_BUILT, &first);
    kill(coord.worker, SIGKILL);
    assert_int_equal(coord_reap_worker(&coord), -1);
    assert_int_equal(coord_await_end(&coord), 0);
    coord.epoch++;
    coord_up(&coord, 1);
    coord_await(&coord, MSG_BUILT, &again);
    assert_string_equal(again.built.result.nonce, first.built.result.nonce);
    msg_fini(&first);
    msg_fini(&again);
}

static void running_work_continues_under_a_new_coordinator(void **state)
{
    struct msg hello, built;

    (void)state;
    coord_up(&coord, 1);
    kernel_build(&coord, 1, "ref.cu", "ref");
    kernel_build(&coord, 2, "add.cu", "add");
    coord_expect(&coord, MSG_STARTED);
    coord_cut(&coord);
    coord.epoch++;
    coord_attach(&coord);
    coord_await(&coord, MSG_HELLO, &hello);
    assert_int_equal(hello.hello.running.n + (size_t)hello.hello.journal, 1);
    if (hello.hello.running.n == 1)
        assert_string_equal(hello.hello.running.items[0],
                            "test/ref.cu//kernel/0/build/1");
    msg_fini(&hello);
    coord_welcome(&coord, "none", 1);
    coord_await(&coord, MSG_BUILT, &built);
    assert_string_equal(built.built.work.id.config, "ref.cu");
    coord_ack(&coord, built.built.result.nonce);
    msg_fini(&built);
    kernel_build(&coord, 1, "add.cu", "add"); /* numbering starts again */
    coord_await(&coord, MSG_BUILT, &built);
    assert_string_equal(built.built.work.id.config, "add.cu");
    msg_fini(&built);
}

/* A header whose reader waits: it includes a FIFO, until gate_open(). */
static char *gate_path(void)
{
    return mem_printf("%s/gate.h", coord.folder);
}

static char *gate_shut(void)
{
    char *path = gate_path(), *header;

    assert_int_equal(mkfifo(path, 0600), 0);
    header = mem_printf("#include \"%s\"\n#define VALUE 1.0f\n", path);
    free(path);
    return header;
}

/* A later reader finds a file; a reader that waits in open() gets no bytes. */
static void gate_open(void)
{
    char *path = gate_path(), *empty = mem_printf("%s.empty", path);
    int fifo = open(path, O_RDWR | O_CLOEXEC);
    int file = open(empty, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fifo >= 0 && file >= 0);
    assert_int_equal(rename(empty, path), 0);
    close(file);
    close(fifo);
    free(empty);
    free(path);
}

static void one_that_drains_goes_on_for_the_next_coordinator(void **state)
{
    struct msg hello, built;
    char *header = gate_shut();
    pid_t worker;

    (void)state;
    coord_up(&coord, 1);
    worker = coord.worker;
    kernel_build_with(&coord, 1, "ref.cu", "ref", header);
    free(header);
    coord_expect(&coord, MSG_STARTED);
    coord_stop(&coord, "drain");
    coord_cut(&coord);
    coord.epoch++;
    coord_attach(&coord);
    coord_await(&coord, MSG_HELLO, &hello);
    assert_int_equal(hello.hello.pid, worker);
    assert_int_equal(hello.hello.running.n, 1);
    msg_fini(&hello);
    coord_welcome(&coord, "none", 1);
    gate_open();
    coord_await(&coord, MSG_BUILT, &built);
    coord_ack(&coord, built.built.result.nonce);
    msg_fini(&built);
    kernel_build(&coord, 1, "add.cu", "add");
    coord_await(&coord, MSG_BUILT, &built);
    assert_string_equal(built.built.work.id.config, "add.cu");
    msg_fini(&built);
}

static void an_older_epoch_is_refused(void **state)
{
    (void)state;
    coord_up(&coord, 1);
    coord_cut(&coord);
    coord.epoch--;
    coord_attach(&coord);
    assert_int_equal(coord_await_end(&coord), 1);
    assert_string_equal(buf_text(&coord.said),
                        "fa-worker: the worker refuses: older epoch\n");
}

/* Another sweep's coordinator for the same folder, whose clock is behind. */
static void open_another(struct coord *out)
{
    coord_open(out);
    memcpy(out->work, coord.work, sizeof(out->work));
    out->epoch -= 100;
    out->owner.id[0] = 'f';
    out->owner.pid = 12;
}

/* Run until the relay tells whose the worker is. */
static void await_note(struct coord *other, const char *text)
{
    int64_t until_ns = clock_boot_ns() + COORD_WAIT_S * NS_PER_S;
    char note[FRAME_NOTE_MAX + 1] = "";

    while (!strstr(note, text)) {
        assert_true(clock_boot_ns() < until_ns);
        assert_false(other->ended);
        coord_idle(other, 20);
        (void)pump_heard(other->pump, note);
    }
}

static void another_sweep_waits_and_gets_the_owners_name(void **state)
{
    struct coord other;
    struct msg hello;

    (void)state;
    coord_up(&coord, 1);
    open_another(&other);
    coord_attach(&other);
    await_note(&other, "its worker serves another sweep: ada@laptop, pid 4711, "
                       "/home/ada/flash.db, since ");
    kernel_build(&coord, 1, "ref.cu", "ref");
    coord_expect(&coord, MSG_BUILT); /* the owner continues */
    coord_stop(&coord, "now");
    coord_expect(&coord, MSG_BYE);
    coord_await(&other, MSG_HELLO, &hello);
    assert_int_not_equal(hello.hello.pid, coord.worker);
    assert_int_equal(coord_reap_worker(&coord), 0);
    coord.worker = 0;
    msg_fini(&hello);
    coord_close(&other);
}

/* The next step has another database.  'other' asks all the time. */
static void a_command_keeps_its_host_between_two_steps(void **state)
{
    struct coord other, step;
    struct msg hello;
    pid_t worker;

    (void)state;
    coord_up(&coord, 1);
    worker = coord.worker;
    open_another(&other);
    memset(other.owner.command, '2', HASH_HEX - 1);
    coord_attach(&other);
    await_note(&other, "its worker serves another sweep");
    coord_stop(&coord, "next");
    coord_expect(&coord, MSG_BYE);
    coord_cut(&coord);
    await_note(&other, "its worker serves another sweep");
    open_another(&step);
    step.bundle = &kernel_bundle;
    step.owner.id[1] = 'f';
    coord_up(&step, 1);
    assert_int_equal(step.worker, worker);
    kernel_build(&step, 1, "ref.cu", "ref");
    coord_expect(&step, MSG_BUILT);
    coord_stop(&step, "now");
    coord_expect(&step, MSG_BYE);
    coord_await(&other, MSG_HELLO, &hello);
    assert_int_not_equal(hello.hello.pid, worker);
    assert_int_equal(coord_reap_worker(&step), 0);
    coord.worker = step.worker = 0;
    msg_fini(&hello);
    coord_close(&step);
    coord_close(&other);
}

static void a_worker_that_is_kept_in_vain_ends(void **state)
{
    (void)state;
    coord_up(&coord, 1); /* its linger time is much longer */
    coord_stop(&coord, "next");
    coord_expect(&coord, MSG_BYE);
    coord_cut(&coord);
    assert_int_equal(coord_reap_worker(&coord), 0);
    coord.worker = 0;
}

static void a_sweep_that_stops_waiting_leaves_no_relay(void **state)
{
    struct coord other;

    (void)state;
    coord_up(&coord, 1);
    open_another(&other);
    coord_attach(&other);
    await_note(&other, "its worker serves another sweep");
    close(other.in);
    other.in = -1;
    assert_int_equal(coord_await_end(&other), 1);
    assert_string_equal(buf_text(&other.said),
                        "fa-worker: the coordinator closed the connection\n");
    coord_close(&other);
    kernel_build(&coord, 1, "ref.cu", "ref");
    coord_expect(&coord, MSG_BUILT);
}

static void
another_sweep_gets_the_folder_when_the_linger_time_is_over(void **state)
{
    struct coord other;
    struct msg hello;
    pid_t worker;

    (void)state;
    coord.linger_ms = 1000;
    coord.beats = true;
    coord_up(&coord, 1);
    worker = coord.worker;
    coord_cut(&coord);
    open_another(&other);
    coord_attach(&other); /* its relay asks until the first one has ended */
    coord_await(&other, MSG_HELLO, &hello);
    assert_int_not_equal(hello.hello.pid, worker);
    assert_int_equal(hello.epoch, other.epoch);
    assert_int_equal(coord_reap_worker(&coord), 0);
    coord.worker = 0;
    msg_fini(&hello);
    coord_close(&other);
}

static void assert_refuses(const struct invite *invite, int how,
                           const char *why)
{
    char *path = mem_printf("%s/control.sock", coord.work);
    int fd, rc;
    struct err err;

    fd = control_connect(path, &err);
    free(path);
    assert_true(fd >= 0);
    rc = control_offer(fd, invite, 1000 * COORD_WAIT_S, &err);
    close(fd);
    assert_int_equal(rc, how);
    if (!strstr(err.text, why))
        fail_msg("%s", err.text);
}

/* As a process of the same user can that has read a refusal. */
static void a_process_that_knows_no_secret_does_not_get_the_worker(void **state)
{
    struct invite forged = { .linger_ms = 1000 };

    (void)state;
    coord_up(&coord, 1);
    forged.epoch = coord.epoch + 1;
    forged.owner = coord.owner;
    forged.owner.id[0] = 'f';
    snprintf(forged.endpoint, sizeof(forged.endpoint), "ipc://%s/relay-1.sock",
             coord.work);
    assert_int_equal(zmq_curve_keypair(forged.public_key, forged.secret_key),
                     0);
    memcpy(forged.server_key, forged.public_key, CURVE_KEY_BYTES);
    assert_refuses(&forged, CONTROL_BUSY,
                   "its worker serves another sweep: ada@laptop");
    forged.owner = coord.owner;
    forged.epoch = INT64_MAX;
    assert_refuses(&forged, ERR_AUTH, "an epoch after the year 2100");
    forged.epoch = coord.epoch + 1;
    snprintf(forged.endpoint, sizeof(forged.endpoint), "tcp://127.0.0.1:1");
    assert_refuses(&forged, ERR_AUTH,
                   "the worker refuses the endpoint tcp://127.0.0.1:1");
    snprintf(forged.endpoint, sizeof(forged.endpoint), "ipc:///tmp/relay-1");
    assert_refuses(&forged, ERR_AUTH, "the worker refuses the endpoint");
    kernel_build(&coord, 1, "ref.cu", "ref");
    coord_expect(&coord, MSG_BUILT); /* the owner continues */
}

static void a_finished_sweep_leaves_its_host_at_once(void **state)
{
    struct coord other;
    struct msg hello;
    pid_t worker;

    (void)state;
    coord_up(&coord, 1);
    worker = coord.worker;
    coord_stop(&coord, "drain");
    coord_expect(&coord, MSG_BYE);
    open_another(&other);
    coord_attach(&other);
    coord_await(&other, MSG_HELLO, &hello);
    assert_int_not_equal(hello.hello.pid, worker);
    assert_int_equal(coord_reap_worker(&coord), 0);
    coord.worker = 0;
    msg_fini(&hello);
    coord_close(&other);
}

static void without_a_coordinator_it_ends_and_powers_off(void **state)
{
    char off[sizeof(coord.folder) + 8], command[sizeof(off) + 8];

    (void)state;
    snprintf(off, sizeof(off), "%s/off", coord.folder);
    snprintf(command, sizeof(command), "touch %s", off);
    coord.poweroff = command;
    coord.linger_ms = 1000;
    coord.beats = true;
    coord_up(&coord, 1);
    coord_cut(&coord);
    assert_int_equal(coord_reap_worker(&coord), 0);
    assert_int_equal(unlink(off), 0); /* it has powered its host off */
}

/* Between two heartbeats there is no message. */
static void one_that_beats_is_not_left_however_short_the_linger(void **state)
{
    (void)state;
    coord.linger_ms = 0;
    coord.beats = true;
    coord_up(&coord, 1);
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

/* The contents of a file, up to 64 KiB. */
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
    coord_up(&coord, 1);
    kernel_build(&coord, 1, "ref.cu", "ref");
    coord_expect(&coord, MSG_BUILT); /* the journal has a result */
    for (int i = 0; i < 5; i++) {
        char *path = i < 2
                         ? mem_printf("/proc/%d/%s", (int)coord.worker, proc[i])
                         : mem_printf("%s/%s", coord.work, kept[i - 2]);
        size_t len = slurp(path, text);

        assert_null(
            memmem(text, len, coord.secret_key, strlen(coord.secret_key)));
        assert_null(memmem(text, len, coord.owner.id, strlen(coord.owner.id)));
        free(path);
    }
}

static void a_second_relay_of_one_coordinator_takes_over(void **state)
{
    pid_t first, worker;
    int status;

    (void)state;
    coord_up(&coord, 1);
    first = coord.relay;
    worker = coord.worker;
    coord.relay = -1;
    coord_up(&coord, 1);
    assert_int_equal(coord.worker, worker);
    assert_int_equal(waitpid(first, &status, 0), first);
    assert_true(WIFEXITED(status));
}

static void a_signal_ends_it_with_a_word(void **state)
{
    (void)state;
    coord_up(&coord, 1);
    kill(coord.worker, SIGTERM);
    coord_expect(&coord, MSG_BYE);
    assert_int_equal(coord_reap_worker(&coord), 1);
}

/* It was told to end, and is still ending when the next coordinator comes. */
static void a_relay_that_meets_a_worker_at_its_end_starts_another(void **state)
{
    struct msg hello;
    pid_t first;

    (void)state;
    coord_up(&coord, 1);
    first = coord.worker;
    kill(first, SIGSTOP);
    kill(first, SIGTERM);
    coord_cut(&coord);
    coord.epoch++;
    coord_attach(&coord);
    coord_idle(&coord, 300); /* the invitation reaches it */
    kill(first, SIGCONT);
    coord_await(&coord, MSG_HELLO, &hello);
    assert_int_not_equal(hello.hello.pid, first);
    assert_int_equal(hello.epoch, coord.epoch);
    msg_fini(&hello);
}

#define attached(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        attached(an_unacknowledged_result_is_offered_to_the_next_one),
        attached(a_result_survives_the_worker),
        attached(running_work_continues_under_a_new_coordinator),
        attached(one_that_drains_goes_on_for_the_next_coordinator),
        attached(an_older_epoch_is_refused),
        attached(another_sweep_waits_and_gets_the_owners_name),
        attached(a_sweep_that_stops_waiting_leaves_no_relay),
        attached(a_command_keeps_its_host_between_two_steps),
        attached(a_worker_that_is_kept_in_vain_ends),
        attached(another_sweep_gets_the_folder_when_the_linger_time_is_over),
        attached(a_process_that_knows_no_secret_does_not_get_the_worker),
        attached(a_finished_sweep_leaves_its_host_at_once),
        attached(without_a_coordinator_it_ends_and_powers_off),
        attached(one_that_beats_is_not_left_however_short_the_linger),
        attached(a_wrong_server_key_is_not_talked_to_for_ever),
        attached(the_secret_key_is_in_no_argument_environment_or_file),
        attached(a_second_relay_of_one_coordinator_takes_over),
        attached(a_signal_ends_it_with_a_word),
        attached(a_relay_that_meets_a_worker_at_its_end_starts_another),
    };
    return cmocka_run_group_tests(tests, kernel_set_up, kernel_tear_down);
}
