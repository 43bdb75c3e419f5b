#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/msg.h"
#include "worker/store/build_dir.h"
#include "worker/store/instance.h"
#include "worker/store/journal.h"
#include "worker/store/prune.h"

#define DAY INT64_C(86400)
#define OLD "00000000000000000000000000000001"
#define NEW "00000000000000000000000000000002"

static char home[40];
static struct prune_ask ask;
static char seen[4096]; /* "kind path" or "kept kind path", a line each */

static int setup(void **state)
{
    (void)state;
    snprintf(home, sizeof(home), "/tmp/fa-prune-XXXXXX");
    ask = (struct prune_ask){ .now_s = time(NULL), .older_s = 7 * DAY };
    return mkdtemp(home) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return build_dir_remove_tree(home) ? 0 : -1;
}

static const char *at(const char *name)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/%s", home, name);
    return path;
}

static bool is_there(const char *name)
{
    return access(at(name), F_OK) == 0;
}

static void age(const char *name, int64_t days)
{
    struct timespec times[2] = { { .tv_sec = ask.now_s - days * DAY },
                                 { .tv_sec = ask.now_s - days * DAY } };

    assert_int_equal(utimensat(AT_FDCWD, at(name), times, 0), 0);
}

static void put(const char *name, const char *text, int64_t days)
{
    FILE *file = fopen(at(name), "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    age(name, days);
}

static void folder(const char *name)
{
    assert_int_equal(mkdir(at(name), 0700), 0);
}

static void note(void *data, const struct prune_item *item)
{
    size_t used = strlen(seen);

    (void)data;
    snprintf(seen + used, sizeof(seen) - used, "%s%s %s\n",
             item->kept ? "kept " : "", item->kind, item->path);
}

static void prune(void)
{
    struct err err = { "" };

    seen[0] = '\0';
    if (prune_run(home, &ask, note, NULL, &err) < 0)
        fail_msg("%s", err.text);
}

static void assert_seen(const char *line)
{
    if (!strstr(seen, line))
        fail_msg("no '%s' in\n%s", line, seen);
}

static void make_cache(void)
{
    folder("artifacts");
    folder("builds");
    put("artifacts/" OLD, "cubin", 8);
    put("artifacts/" NEW, "cubin", 1);
    put("artifacts/README", "mine", 100);
    put("builds/" OLD, "fa-build 2\ntoolkit t\nartifact " OLD "\nbytes 5\n", 8);
    /* an old build whose artifact was used yesterday */
    put("builds/" NEW, "fa-build 2\ntoolkit t\nartifact " NEW "\nbytes 5\n", 8);
    folder("bundles");
    folder("asked");
    put("bundles/" OLD, "sources", 8);
    put("bundles/" NEW, "sources", 1);
    put("asked/" OLD, "/home/ada", 8);
    put("fa-worker-" OLD, "program", 8);
    put("fa-worker-" NEW, "program", 8);
    put("notes.txt", "mine", 100);
    ask.program = "fa-worker-" NEW;
}

static void what_was_not_used_for_long_goes(void **state)
{
    (void)state;
    make_cache();
    prune();
    assert_string_equal(seen, "build builds/" OLD "\nartifact artifacts/" OLD
                              "\nbundle bundles/" OLD "\ntemporary asked/" OLD
                              "\nprogram fa-worker-" OLD "\n");
    assert_false(is_there("bundles/" OLD));
    assert_false(is_there("asked/" OLD));
    assert_true(is_there("bundles/" NEW));
    assert_false(is_there("artifacts/" OLD));
    assert_false(is_there("builds/" OLD));
    assert_false(is_there("fa-worker-" OLD));
    assert_true(is_there("artifacts/" NEW));
    assert_true(is_there("builds/" NEW));
    assert_true(is_there("fa-worker-" NEW));
    assert_true(is_there("artifacts/README"));
    assert_true(is_there("notes.txt"));
}

static void a_dry_run_says_the_same_and_removes_nothing(void **state)
{
    char said[sizeof(seen)];

    (void)state;
    make_cache();
    ask.dry_run = true;
    prune();
    assert_true(is_there("artifacts/" OLD));
    assert_true(is_there("builds/" OLD));
    assert_true(is_there("fa-worker-" OLD));
    memcpy(said, seen, sizeof(said));
    ask.dry_run = false;
    prune();
    assert_string_equal(seen, said);
}

static void a_folder_of_a_running_worker_is_left_alone(void **state)
{
    struct instance instance;
    struct instance_lock lock;
    struct err err;

    (void)state;
    make_cache();
    assert_int_equal(instance_open(home, "0,1", &instance, &err), 0);
    assert_int_equal(instance_lock(&instance, &lock, &err), 0);
    assert_int_equal(prune_run(home, &ask, note, NULL, &err), ERR_DEVICE);
    assert_non_null(strstr(err.text, "another worker"));
    assert_true(is_there("artifacts/" OLD));
    instance_unlock(&lock);
}

static void add_result(struct journal *journal)
{
    struct journal_record record = { .utc_ns = 7, .owner = OLD };
    struct msg msg = { .type = MSG_BUILT,
                       .epoch = 1,
                       .built.result.nonce = NEW };
    struct buf bytes;
    struct err err;

    msg.built.log = "";
    msg.built.work.id =
        (struct msg_identity){ "s", "c", "", "kernel", "build", 0, 1 };
    buf_init(&bytes, MSG_BYTES_MAX);
    assert_int_equal(msg_encode(&msg, &bytes, NULL), 0);
    record.message = bytes.bytes;
    record.len = bytes.len;
    assert_int_equal(journal_add(journal, &record, &err), 0);
    buf_fini(&bytes);
}

/* A worker's folder as it is after the worker. */
static void leave_worker(const char *gpus, bool unsent)
{
    struct instance instance;
    struct instance_lock lock;
    struct journal_damage damage;
    struct journal *journal;
    char path[PATH_MAX + 16];
    struct err err;

    assert_int_equal(instance_open(home, gpus, &instance, &err), 0);
    assert_int_equal(instance_lock(&instance, &lock, &err), 0);
    snprintf(path, sizeof(path), "%s/journal", instance.dir);
    assert_int_equal(journal_open(path, &journal, &damage, &err), 0);
    if (unsent)
        add_result(journal);
    journal_close(journal);
    instance_unlock(&lock);
}

static void a_workers_folder_goes_when_nothing_is_left_to_send(void **state)
{
    (void)state;
    leave_worker("0", false);
    leave_worker("1", true);
    age("gpus-0/journal", 8);
    age("gpus-1/journal", 8);
    put("gpus-0/worker.log", "log", 8);
    folder("gpus-0/tmp");
    folder("gpus-0/tmp/build-abc");
    put("gpus-0/tmp/build-abc/x.cu", "12345", 8);
    age("gpus-0/tmp/build-abc", 8);
    prune();
    assert_seen("journal gpus-0/journal\n");
    assert_seen("log gpus-0/worker.log\n");
    assert_seen("temporary gpus-0/tmp/build-abc\n");
    assert_seen("kept journal gpus-1/journal\n");
    assert_false(is_there("gpus-0"));
    assert_false(is_there("gpus-0.lock"));
    assert_true(is_there("gpus-1/journal"));
    assert_true(is_there("lock"));
    leave_worker("0", false); /* it can come back */
}

static void what_is_not_recognised_keeps_its_folder(void **state)
{
    (void)state;
    leave_worker("0", false);
    age("gpus-0/journal", 8);
    put("gpus-0/mine.txt", "mine", 100);
    folder("tmp");
    folder("tmp/mine");
    age("tmp/mine", 100);
    prune();
    assert_string_equal(seen, "journal gpus-0/journal\n");
    assert_true(is_there("gpus-0/mine.txt"));
    assert_true(is_there("gpus-0.lock"));
    assert_true(is_there("tmp/mine"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_was_not_used_for_long_goes),
        TEST(a_dry_run_says_the_same_and_removes_nothing),
        TEST(a_folder_of_a_running_worker_is_left_alone),
        TEST(a_workers_folder_goes_when_nothing_is_left_to_send),
        TEST(what_is_not_recognised_keeps_its_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
