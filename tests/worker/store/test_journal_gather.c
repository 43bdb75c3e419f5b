#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/msg.h"
#include "worker/store/build_dir.h"
#include "worker/store/journal_gather.h"

#define OURS "00000000000000000000000000000001"
#define THEIRS "00000000000000000000000000000002"

static char home[40];

static int setup(void **state)
{
    (void)state;
    snprintf(home, sizeof(home), "/tmp/fa-gather-XXXXXX");
    return mkdtemp(home) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return build_dir_remove_tree(home) ? 0 : -1;
}

/* A worker that runs: its lock and its journal. */
struct worker {
    struct instance instance;
    struct instance_lock lock;
    struct journal *journal;
};

static struct worker start(const char *gpus)
{
    struct worker worker;
    struct journal_damage damage;
    char path[PATH_MAX + 16];
    struct err err;

    assert_int_equal(instance_open(home, gpus, &worker.instance, &err), 0);
    assert_int_equal(instance_lock(&worker.instance, &worker.lock, &err), 0);
    snprintf(path, sizeof(path), "%s/journal", worker.instance.dir);
    assert_int_equal(journal_open(path, &worker.journal, &damage, &err), 0);
    assert_int_equal(damage.bytes, 0);
    return worker;
}

static void end(struct worker *worker)
{
    journal_close(worker->journal);
    instance_unlock(&worker->lock);
}

static void add(struct worker *worker, const char *nonce, const char *owner)
{
    struct journal_record record = { .utc_ns = 7 };
    struct msg msg = { .type = MSG_BUILT,
                       .epoch = 1,
                       .built.result.nonce = nonce };
    struct buf bytes;
    struct err err;

    msg.built.log = "";
    msg.built.work.id =
        (struct msg_identity){ "s", "c", "", "kernel", "build", 0, 1 };
    buf_init(&bytes, MSG_BYTES_MAX);
    assert_int_equal(msg_encode(&msg, &bytes, NULL), 0);
    record.message = bytes.bytes;
    record.len = bytes.len;
    snprintf(record.owner, sizeof(record.owner), "%s", owner);
    assert_int_equal(journal_add(worker->journal, &record, &err), 0);
    buf_fini(&bytes);
}

static size_t count(const struct worker *worker, const char *owner)
{
    size_t n, found = 0;
    struct journal_entry *entries = journal_entries(worker->journal, &n);

    for (size_t i = 0; i < n; i++)
        found += strcmp(entries[i].record.owner, owner) == 0;
    return found;
}

static void results_of_the_database_are_moved(void **state)
{
    struct worker all = start("all"), pair = start("0,1"), one;

    (void)state;
    add(&all, "000000000000000000000000000000aa", OURS);
    add(&all, "000000000000000000000000000000bb", THEIRS);
    add(&pair, "000000000000000000000000000000cc", OURS);
    add(&pair, "000000000000000000000000000000dd", OURS);
    end(&all);
    end(&pair);
    one = start("1");
    add(&one, "000000000000000000000000000000ee", OURS);
    assert_int_equal(journal_gather(&one.instance, one.journal, OURS).moved, 3);
    assert_int_equal(count(&one, OURS), 4);
    assert_int_equal(count(&one, THEIRS), 0);
    assert_int_equal(journal_gather(&one.instance, one.journal, OURS).moved, 0);
    end(&one);
    one = start("1"); /* they are on disk */
    assert_int_equal(count(&one, OURS), 4);
    end(&one);
    all = start("all");
    assert_int_equal(count(&all, OURS), 0);
    assert_int_equal(count(&all, THEIRS), 1);
    end(&all);
}

static void those_of_a_worker_that_runs_stay(void **state)
{
    struct worker all = start("all"), one = start("1");

    (void)state;
    add(&all, "000000000000000000000000000000aa", OURS);
    assert_int_equal(journal_gather(&one.instance, one.journal, OURS).moved, 0);
    assert_int_equal(count(&all, OURS), 1);
    end(&all);
    assert_int_equal(journal_gather(&one.instance, one.journal, OURS).moved, 1);
    end(&one);
}

static void a_journal_of_a_version_without_sets_is_found(void **state)
{
    struct worker all = start("all"), one;
    char path[64];

    (void)state;
    add(&all, "000000000000000000000000000000aa", OURS);
    end(&all);
    snprintf(path, sizeof(path), "%s/all.lock", home);
    assert_int_equal(remove(path), 0);
    one = start("1");
    assert_int_equal(journal_gather(&one.instance, one.journal, OURS).moved, 1);
    end(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(results_of_the_database_are_moved,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(those_of_a_worker_that_runs_stay, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            a_journal_of_a_version_without_sets_is_found, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
