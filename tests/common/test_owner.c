#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/owner.h"

static struct owner ada(void)
{
    return (struct owner){ .id = "00112233445566778899aabbccddeeff",
                           .user = "ada",
                           .machine = "laptop",
                           .database = "/home/ada/flash/flash.db",
                           .pid = 4711,
                           .since_utc = INT64_C(1795341662000000000) };
}

static void it_is_told_in_one_line(void **state)
{
    struct owner owner = ada();
    char text[200];

    (void)state;
    owner_text(&owner, text, sizeof(text));
    assert_string_equal(text, "ada@laptop, pid 4711, /home/ada/flash/flash.db, "
                              "since 2026-11-22T10:01:02Z");
}

static void a_long_path_is_cut_at_its_beginning(void **state)
{
    struct owner owner = ada();
    char text[69];

    (void)state;
    owner_text(&owner, text, sizeof(text));
    assert_string_equal(text, "ada@laptop, pid 4711, .../flash/flash.db, "
                              "since 2026-11-22T10:01:02Z");
    assert_int_equal(strlen(text), sizeof(text) - 1);
}

static void control_characters_are_replaced(void **state)
{
    char field[8];

    (void)state;
    owner_set(field, sizeof(field), "a\x1b[2J\n\x7f");
    assert_string_equal(field, "a?[2J??");
    owner_set(field, sizeof(field), "/tmp/a\tb.db");
    assert_string_equal(field, "...b.db");
}

static void names_prove_nothing(void **state)
{
    struct owner a = ada(), b = ada();

    (void)state;
    b.pid = 4712;
    assert_true(owner_is_same(&a, &b)); /* resumed */
    b = ada();
    b.id[HASH_HEX - 2] = '0';
    assert_false(owner_is_same(&a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_told_in_one_line),
        cmocka_unit_test(a_long_path_is_cut_at_its_beginning),
        cmocka_unit_test(control_characters_are_replaced),
        cmocka_unit_test(names_prove_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
