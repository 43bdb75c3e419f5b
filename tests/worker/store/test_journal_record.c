#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "worker/store/journal_record.h"

#define OWNER "0123456789abcdef0123456789abcdef"
#define RECORDS_MAX 8

static char file[4096];
static size_t len;

/* Append a record whose message is 'text'. */
static void put(const char *text)
{
    const struct journal_record record = { text, strlen(text), 77, OWNER };

    journal_record_head(&record, (unsigned char *)file + len);
    memcpy(file + len + JOURNAL_RECORD_HEAD, text, record.len);
    len += JOURNAL_RECORD_HEAD + record.len;
}

/* As workers without marks wrote it. */
static void put_unmarked(const char *text)
{
    size_t n = strlen(text);

    memset(file + len, 0, 4);
    file[len] = (char)n;
    crypto_generichash((unsigned char *)file + len + 4, HASH_BYTES,
                       (const unsigned char *)text, n, NULL, 0);
    memcpy(file + len + 4 + HASH_BYTES, text, n);
    len += 4 + HASH_BYTES + n;
}

/* The messages of all intact records, each with a blank after it. */
static const char *found(struct journal_damage *damage)
{
    static char text[256];
    struct journal_record record;
    size_t at = 0, n = 0;

    *damage = (struct journal_damage){ 0 };
    text[0] = '\0';
    while ((at = journal_record_find(file, len, at, damage)) < len) {
        size_t size = journal_record_read(file + at, len - at, &record);

        assert_true(size > 0 && size <= len - at);
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%.*s ",
                              (int)record.len, record.message);
        at += size;
    }
    assert_int_equal(at, len);
    return text;
}

static int empty(void **state)
{
    (void)state;
    len = 0;
    return 0;
}

static void what_is_written_is_read(void **state)
{
    struct journal_record record;

    (void)state;
    put("hello");
    assert_int_equal(journal_record_read(file, len, &record), len);
    assert_memory_equal(record.message, "hello", 5);
    assert_int_equal(record.len, 5);
    assert_int_equal(record.utc_ns, 77);
    assert_string_equal(record.owner, OWNER);
    assert_int_equal(journal_record_read(file, len - 1, &record), 0);
    assert_int_equal(journal_record_read(file, 0, &record), 0);
}

static void records_of_older_workers_are_read(void **state)
{
    struct journal_damage damage;
    struct journal_record record;

    (void)state;
    put_unmarked("old");
    assert_int_equal(journal_record_read(file, len, &record), len);
    assert_int_equal(record.utc_ns, 0);
    assert_string_equal(record.owner, "");
    put("new");
    put_unmarked("older");
    assert_string_equal(found(&damage), "old new older ");
    assert_int_equal(damage.bytes, 0);
}

/* Each byte of three records becomes each of a few others. */
static void a_bad_byte_loses_one_record(void **state)
{
    static const char *const left[] = { "b c ", "a c ", "a b " };
    static const unsigned char flips[] = { 0x01, 0x10, 0x80, 0xff };
    struct journal_damage damage;

    (void)state;
    put("a");
    put("b");
    put("c");
    for (size_t at = 0; at < len; at++)
        for (size_t k = 0; k < sizeof(flips); k++) {
            size_t hit = at / (len / 3);

            file[at] ^= (char)flips[k];
            assert_string_equal(found(&damage), left[hit]);
            assert_int_equal(damage.bytes, len / 3);
            assert_in_range(damage.records, hit < 2, 1);
            file[at] ^= (char)flips[k];
        }
}

static void a_file_cut_anywhere_keeps_what_is_whole(void **state)
{
    static const char *const left[] = { "", "a ", "a b ", "a b c " };
    struct journal_damage damage;
    size_t size;

    (void)state;
    put("a");
    put("b");
    put("c");
    size = len / 3;
    for (len = 0; len <= 3 * size; len++) {
        assert_string_equal(found(&damage), left[len / size]);
        assert_int_equal(damage.records, 0);
        assert_int_equal(damage.bytes, len % size);
    }
}

static void a_lost_page_counts_the_records_in_it(void **state)
{
    struct journal_damage damage;
    size_t one;

    (void)state;
    put("a");
    one = len;
    put("b");
    put("c");
    put("d");
    put("e");
    file[one + 50] ^= 1;
    file[2 * one + 50] ^= 1;
    assert_string_equal(found(&damage), "a d e ");
    assert_int_equal(damage.records, 2);
    assert_int_equal(damage.bytes, 2 * one);
    memset(file + one, 0, 2 * one); /* not even the marks are left */
    assert_string_equal(found(&damage), "a d e ");
    assert_int_equal(damage.records, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_is_written_is_read, empty),
        cmocka_unit_test_setup(records_of_older_workers_are_read, empty),
        cmocka_unit_test_setup(a_bad_byte_loses_one_record, empty),
        cmocka_unit_test_setup(a_file_cut_anywhere_keeps_what_is_whole, empty),
        cmocka_unit_test_setup(a_lost_page_counts_the_records_in_it, empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
