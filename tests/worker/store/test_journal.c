#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <signal.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/msg.h"
#include "worker/store/journal.h"

#define NONCE_A "000000000000000000000000000000aa"
#define NONCE_B "000000000000000000000000000000bb"
#define NONCE_C "000000000000000000000000000000cc"

struct place {
    char folder[40], path[64];
};

static int setup(void **state)
{
    struct place *place = calloc(1, sizeof(*place));

    snprintf(place->folder, sizeof(place->folder), "/tmp/fa-journal-XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    snprintf(place->path, sizeof(place->path), "%s/journal", place->folder);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;

    unlink(place->path);
    assert_int_equal(rmdir(place->folder), 0);
    free(place);
    return 0;
}

/* An encoded BUILT; the log makes it as long as wanted. */
static struct buf result(const char *nonce, size_t log_len)
{
    char *log = calloc(1, log_len + 1);
    struct msg msg = { .type = MSG_BUILT,
                       .epoch = 1,
                       .built.result.nonce = nonce };
    struct buf out;

    memset(log, 'x', log_len);
    msg.built.log = log;
    msg.built.work.id =
        (struct msg_identity){ "s", "c", "", "kernel", "build", 0, 1 };
    buf_init(&out, MSG_BYTES_MAX);
    assert_int_equal(msg_encode(&msg, &out, NULL), 0);
    free(log);
    return out;
}

static struct journal *reopen(const struct place *place, size_t *dropped)
{
    struct journal *journal;
    struct err err;

    if (journal_open(place->path, &journal, dropped, &err) < 0)
        fail_msg("%s", err.text);
    return journal;
}

static void add(struct journal *journal, const char *nonce, size_t log_len)
{
    struct buf bytes = result(nonce, log_len);

    assert_int_equal(journal_add(journal, bytes.bytes, bytes.len, NULL), 0);
    buf_fini(&bytes);
}

static size_t count(struct journal *journal)
{
    size_t n;

    journal_entries(journal, &n);
    return n;
}

static off_t file_size(const struct place *place)
{
    struct stat st;

    assert_int_equal(stat(place->path, &st), 0);
    return st.st_size;
}

static void results_are_there_again_in_order(void **state)
{
    struct buf first = result(NONCE_A, 10);
    size_t dropped, n;
    struct journal *journal = reopen(*state, &dropped);
    struct journal_entry *entries;

    add(journal, NONCE_A, 10);
    add(journal, NONCE_B, 20);
    journal_close(journal);
    journal = reopen(*state, &dropped);
    entries = journal_entries(journal, &n);
    assert_int_equal(n, 2);
    assert_int_equal(dropped, 0);
    assert_string_equal(entries[0].nonce, NONCE_A);
    assert_string_equal(entries[1].nonce, NONCE_B);
    assert_int_equal(entries[0].len, first.len);
    assert_memory_equal(entries[0].bytes, first.bytes, first.len);
    buf_fini(&first);
    journal_close(journal);
}

static void the_file_is_private(void **state)
{
    const struct place *place = *state;
    struct stat st;
    size_t dropped;

    journal_close(reopen(place, &dropped));
    assert_int_equal(stat(place->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void acknowledged_by_all_the_file_is_empty(void **state)
{
    size_t dropped;
    struct journal *journal = reopen(*state, &dropped);

    add(journal, NONCE_A, 10);
    add(journal, NONCE_B, 10);
    assert_true(journal_ack(journal, NONCE_A));
    assert_false(journal_ack(journal, NONCE_A));
    assert_int_equal(count(journal), 1);
    assert_true(journal_ack(journal, NONCE_B));
    assert_int_equal(file_size(*state), 0);
    add(journal, NONCE_C, 10);
    journal_close(journal);
    journal = reopen(*state, &dropped);
    assert_int_equal(count(journal), 1);
    journal_close(journal);
}

static void a_write_torn_at_any_byte_loses_only_itself(void **state)
{
    const struct place *place = *state;
    size_t dropped;
    struct journal *journal = reopen(place, &dropped);
    off_t one, two;

    add(journal, NONCE_A, 10);
    one = file_size(place);
    add(journal, NONCE_B, 20);
    two = file_size(place);
    for (off_t cut = two - 1; cut >= one; cut--) {
        journal_close(journal);
        assert_int_equal(truncate(place->path, cut), 0);
        journal = reopen(place, &dropped);
        assert_int_equal(count(journal), 1);
        assert_int_equal(dropped, cut - one);
        assert_int_equal(file_size(place), one);
        add(journal, NONCE_B, 20);
    }
    journal_close(journal);
}

static void flip(const struct place *place, off_t at)
{
    FILE *file = fopen(place->path, "r+");
    int c;

    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    c = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(c ^ 0x10, file);
    assert_int_equal(fclose(file), 0);
}

static void a_changed_byte_is_noticed_wherever_it_is(void **state)
{
    const struct place *place = *state;
    size_t dropped;
    struct journal *journal = reopen(place, &dropped);
    off_t one, two;

    add(journal, NONCE_A, 10);
    one = file_size(place);
    add(journal, NONCE_B, 20);
    two = file_size(place);
    for (off_t at = one; at < two; at++) {
        journal_close(journal);
        flip(place, at);
        journal = reopen(place, &dropped);
        assert_int_equal(count(journal), 1);
        assert_int_equal(dropped, two - one);
        add(journal, NONCE_B, 20);
    }
    journal_close(journal);
}

static void waste_is_written_away(void **state)
{
    size_t dropped;
    struct journal *journal = reopen(*state, &dropped);
    char nonce[HASH_HEX];

    add(journal, NONCE_A, 10);
    for (int i = 0; i < 40; i++) {
        snprintf(nonce, sizeof(nonce), "%032d", i);
        add(journal, nonce, 60000);
        assert_true(journal_ack(journal, nonce));
    }
    assert_true(file_size(*state) < 3 << 19);
    add(journal, NONCE_B, 10);
    journal_close(journal);
    journal = reopen(*state, &dropped);
    assert_int_equal(dropped, 0);
    assert_true(journal_ack(journal, NONCE_A));
    assert_true(journal_ack(journal, NONCE_B));
    journal_close(journal);
}

static void what_is_no_result_is_refused(void **state)
{
    size_t dropped;
    struct journal *journal = reopen(*state, &dropped);
    struct err err;

    assert_int_equal(journal_add(journal, "xyz", 3, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "not an encoded result"));
    assert_int_equal(count(journal), 0);
    journal_close(journal);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void what_a_full_disk_refuses_is_not_kept(void **state)
{
    struct buf big = result(NONCE_B, 5000);
    size_t dropped;
    struct journal *journal = reopen(*state, &dropped);
    struct err err;

    add(journal, NONCE_A, 10);
    limit_files(1000);
    assert_int_equal(journal_add(journal, big.bytes, big.len, &err),
                     ERR_SYSTEM);
    assert_non_null(strstr(err.text, "/journal: File too large"));
    assert_int_equal(count(journal), 1);
    assert_true(journal_is_stuck(journal));
    assert_int_equal(journal_probe(journal, &err), ERR_SYSTEM);
    assert_true(journal_is_stuck(journal));
    limit_files(RLIM_INFINITY);
    assert_int_equal(journal_probe(journal, &err), 0);
    assert_false(journal_is_stuck(journal));
    journal_close(journal);
    journal = reopen(*state, &dropped);
    assert_int_equal(count(journal), 1);
    assert_int_equal(dropped, 0);
    journal_close(journal);
    buf_fini(&big);
}

#define placed(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        placed(results_are_there_again_in_order),
        placed(the_file_is_private),
        placed(acknowledged_by_all_the_file_is_empty),
        placed(a_write_torn_at_any_byte_loses_only_itself),
        placed(a_changed_byte_is_noticed_wherever_it_is),
        placed(waste_is_written_away),
        placed(what_is_no_result_is_refused),
        placed(what_a_full_disk_refuses_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
