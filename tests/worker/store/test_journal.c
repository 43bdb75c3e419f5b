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
#define NONCE_D "000000000000000000000000000000dd"

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

static struct journal *reopen(const struct place *place,
                              struct journal_damage *damage)
{
    struct journal *journal;
    struct err err;

    if (journal_open(place->path, &journal, damage, &err) < 0)
        fail_msg("%s", err.text);
    return journal;
}

static void add(struct journal *journal, const char *nonce, size_t log_len)
{
    struct buf bytes = result(nonce, log_len);
    struct journal_record record = {
        .message = bytes.bytes, .len = bytes.len, .utc_ns = 5, .owner = NONCE_A
    };

    assert_int_equal(journal_add(journal, &record, NULL), 0);
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
    struct journal_damage damage;
    size_t n;
    struct journal *journal = reopen(*state, &damage);
    struct journal_entry *entries;

    add(journal, NONCE_A, 10);
    add(journal, NONCE_B, 20);
    journal_close(journal);
    journal = reopen(*state, &damage);
    entries = journal_entries(journal, &n);
    assert_int_equal(n, 2);
    assert_int_equal(damage.bytes, 0);
    assert_string_equal(entries[0].nonce, NONCE_A);
    assert_string_equal(entries[1].nonce, NONCE_B);
    assert_int_equal(entries[0].record.len, first.len);
    assert_memory_equal(entries[0].record.message, first.bytes, first.len);
    assert_int_equal(entries[0].record.utc_ns, 5);
    assert_string_equal(entries[0].record.owner, NONCE_A);
    buf_fini(&first);
    journal_close(journal);
}

static void the_file_is_private(void **state)
{
    const struct place *place = *state;
    struct stat st;
    struct journal_damage damage;

    journal_close(reopen(place, &damage));
    assert_int_equal(stat(place->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void acknowledged_by_all_the_file_is_empty(void **state)
{
    struct journal_damage damage;
    struct journal *journal = reopen(*state, &damage);

    add(journal, NONCE_A, 10);
    add(journal, NONCE_B, 10);
    assert_true(journal_ack(journal, NONCE_A));
    assert_false(journal_ack(journal, NONCE_A));
    assert_int_equal(count(journal), 1);
    assert_true(journal_ack(journal, NONCE_B));
    assert_int_equal(file_size(*state), 0);
    add(journal, NONCE_C, 10);
    journal_close(journal);
    journal = reopen(*state, &damage);
    assert_int_equal(count(journal), 1);
    journal_close(journal);
}

static void a_write_torn_at_any_byte_loses_only_itself(void **state)
{
    const struct place *place = *state;
    struct journal_damage damage;
    struct journal *journal = reopen(place, &damage);
    off_t one, two;

    add(journal, NONCE_A, 10);
    one = file_size(place);
    add(journal, NONCE_B, 20);
    two = file_size(place);
    for (off_t cut = two - 1; cut >= one; cut--) {
        journal_close(journal);
        assert_int_equal(truncate(place->path, cut), 0);
        journal = reopen(place, &damage);
        assert_int_equal(count(journal), 1);
        assert_int_equal(damage.bytes, cut - one);
        assert_int_equal(damage.records, 0);
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

static char *read_file(const struct place *place)
{
    size_t len = (size_t)file_size(place);
    FILE *file = fopen(place->path, "r");
    char *bytes = malloc(len);

    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, len, file), len);
    fclose(file);
    return bytes;
}

static void write_file(const struct place *place, const char *bytes, size_t len)
{
    FILE *file = fopen(place->path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* Which of the three results are left? */
static void assert_kept(struct journal *journal, int without)
{
    static const char *const nonces[] = { NONCE_A, NONCE_B, NONCE_C };
    struct journal_entry *entries;
    size_t n;
    int k = 0;

    entries = journal_entries(journal, &n);
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++) {
        k += k == without;
        assert_string_equal(entries[i].nonce, nonces[k++]);
    }
}

static void a_changed_byte_loses_its_record_only(void **state)
{
    const struct place *place = *state;
    struct journal_damage damage;
    struct journal *journal = reopen(place, &damage);
    off_t ends[3];

    add(journal, NONCE_A, 10);
    ends[0] = file_size(place);
    add(journal, NONCE_B, 20);
    ends[1] = file_size(place);
    add(journal, NONCE_C, 30);
    ends[2] = file_size(place);
    journal_close(journal);
    /* test_journal_record.c has every byte, without a disk */
    for (off_t at = 3; at < ends[2]; at += 41) {
        char *whole = read_file(place);
        int hit = at < ends[0] ? 0 : at < ends[1] ? 1 : 2;

        flip(place, at);
        journal = reopen(place, &damage);
        assert_kept(journal, hit);
        assert_int_equal(damage.bytes, ends[hit] - (hit ? ends[hit - 1] : 0));
        assert_in_range(damage.records, hit < 2, 1);
        journal_close(journal);
        journal = reopen(place, &damage); /* the damage is written away */
        assert_kept(journal, hit);
        assert_int_equal(damage.bytes, 0);
        journal_close(journal);
        write_file(place, whole, (size_t)ends[2]);
        free(whole);
    }
}

static void results_can_be_added_after_damage(void **state)
{
    const struct place *place = *state;
    struct journal_damage damage;
    struct journal *journal = reopen(place, &damage);

    add(journal, NONCE_A, 10);
    add(journal, NONCE_B, 20);
    journal_close(journal);
    flip(place, 80);
    journal = reopen(place, &damage);
    assert_int_equal(damage.records, 1);
    add(journal, NONCE_C, 10);
    journal_close(journal);
    journal = reopen(place, &damage);
    assert_int_equal(damage.bytes, 0);
    assert_int_equal(count(journal), 2);
    journal_close(journal);
}

static void a_file_that_is_no_journal_is_not_read_into_memory(void **state)
{
    const struct place *place = *state;
    struct journal_damage damage;
    struct journal *journal = reopen(place, &damage);
    struct err err;

    journal_close(journal);
    assert_int_equal(truncate(place->path, (off_t)1 << 40), 0);
    assert_int_equal(journal_open(place->path, &journal, &damage, &err),
                     ERR_SYSTEM);
    assert_non_null(strstr(err.text, "more than a worker writes; move it"));
}

static void waste_is_written_away(void **state)
{
    struct journal_damage damage;
    struct journal *journal = reopen(*state, &damage);
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
    journal = reopen(*state, &damage);
    assert_int_equal(damage.bytes, 0);
    assert_true(journal_ack(journal, NONCE_A));
    assert_true(journal_ack(journal, NONCE_B));
    journal_close(journal);
}

static void what_is_no_result_is_refused(void **state)
{
    const struct journal_record record = { .message = "xyz", .len = 3 };
    struct journal_damage damage;
    struct journal *journal = reopen(*state, &damage);
    struct err err;

    assert_int_equal(journal_add(journal, &record, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "not an encoded result"));
    assert_int_equal(count(journal), 0);
    journal_close(journal);
}

#define DAY (24 * 3600 * NS_PER_S)

static void add_bytes(struct journal *journal, struct buf *bytes,
                      const char *owner, int64_t utc_ns)
{
    struct journal_record record = { .message = bytes->bytes,
                                     .len = bytes->len,
                                     .utc_ns = utc_ns };
    struct err err;

    snprintf(record.owner, sizeof(record.owner), "%s", owner);
    if (journal_add(journal, &record, &err) < 0)
        fail_msg("%s", err.text);
    buf_fini(bytes);
}

static void add_of(struct journal *journal, const char *nonce,
                   const char *owner, int64_t utc_ns)
{
    struct buf bytes = result(nonce, 10);

    add_bytes(journal, &bytes, owner, utc_ns);
}

static void results_of_other_databases_go_after_a_week(void **state)
{
    struct journal_damage damage;
    struct journal *journal = reopen(*state, &damage);

    add_of(journal, NONCE_A, NONCE_A, 1 * DAY);
    add_of(journal, NONCE_B, NONCE_B, 1 * DAY);
    add_of(journal, NONCE_C, NONCE_B, 2 * DAY);
    add_of(journal, NONCE_D, "", 0); /* of an older worker */
    assert_int_equal(journal_age(journal, NONCE_A, 8 * DAY), 0);
    assert_int_equal(journal_age(journal, NONCE_A, 8 * DAY + 1), 1);
    assert_false(journal_ack(journal, NONCE_B));
    assert_int_equal(journal_age(journal, NONCE_A, 100 * DAY), 1);
    assert_int_equal(count(journal), 2);
    journal_close(journal);
}

/* Large results until there is no room, the first of them 'first'. */
static void fill(struct journal *journal, int first)
{
    char *output = calloc(1, MSG_OUTPUT_MAX);
    char nonce[HASH_HEX];
    struct msg msg = { .type = MSG_RAN, .ran.result.nonce = nonce };

    memset(output, 'x', MSG_OUTPUT_MAX - 1);
    msg.ran.output = output;
    msg.ran.work.id =
        (struct msg_identity){ "s", "c", "", "external", "tool", 0, 1 };
    for (int i = first; !journal_is_stuck(journal); i++) {
        struct buf bytes;

        snprintf(nonce, sizeof(nonce), "%032d", i);
        buf_init(&bytes, MSG_BYTES_MAX);
        assert_int_equal(msg_encode(&msg, &bytes, NULL), 0);
        add_bytes(journal, &bytes, NONCE_B, 1 * DAY);
    }
    free(output);
}

static void assert_first(struct journal *journal, int number)
{
    size_t n;

    assert_int_equal(strtol(journal_entries(journal, &n)[0].nonce, NULL, 10),
                     number);
}

static void the_oldest_make_room_in_a_full_journal(void **state)
{
    struct journal_damage damage;
    struct journal *journal = reopen(*state, &damage);
    struct journal_entry *entries;
    size_t n;

    fill(journal, 0);
    entries = journal_entries(journal, &n);
    assert_int_equal(journal_age(journal, NONCE_B, 9 * DAY), 0);
    entries[0].sent_ns = entries[1].sent_ns = 1; /* nobody took them */
    assert_int_equal(journal_age(journal, NONCE_B, 8 * DAY), 0);
    assert_int_equal(journal_age(journal, NONCE_B, 9 * DAY), 1);
    assert_false(journal_is_stuck(journal));
    assert_first(journal, 1);
    fill(journal, (int)n);
    assert_int_equal(journal_age(journal, NONCE_A, 1 * DAY), 1);
    assert_false(journal_is_stuck(journal));
    assert_first(journal, 2);
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
    const struct journal_record record = { .message = big.bytes,
                                           .len = big.len };
    struct journal_damage damage;
    struct journal *journal = reopen(*state, &damage);
    struct err err;

    add(journal, NONCE_A, 10);
    limit_files(1000);
    assert_int_equal(journal_add(journal, &record, &err), ERR_SYSTEM);
    assert_non_null(strstr(err.text, "/journal': File too large"));
    assert_int_equal(count(journal), 1);
    assert_true(journal_is_stuck(journal));
    assert_int_equal(journal_probe(journal, &err), ERR_SYSTEM);
    assert_true(journal_is_stuck(journal));
    limit_files(RLIM_INFINITY);
    assert_int_equal(journal_probe(journal, &err), 0);
    assert_false(journal_is_stuck(journal));
    journal_close(journal);
    journal = reopen(*state, &damage);
    assert_int_equal(count(journal), 1);
    assert_int_equal(damage.bytes, 0);
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
        placed(a_changed_byte_loses_its_record_only),
        placed(results_can_be_added_after_damage),
        placed(a_file_that_is_no_journal_is_not_read_into_memory),
        placed(waste_is_written_away),
        placed(what_is_no_result_is_refused),
        placed(results_of_other_databases_go_after_a_week),
        placed(the_oldest_make_room_in_a_full_journal),
        placed(what_a_full_disk_refuses_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
