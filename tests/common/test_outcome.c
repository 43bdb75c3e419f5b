#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/device_kind.h"
#include "common/outcome.h"

static void each_word_is_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < OUTCOME_WORDS; i++) {
        const char *name = outcome_name((enum outcome)i);
        enum outcome read;

        assert_true(outcome_read(name, &read));
        assert_int_equal(read, i);
        assert_true(outcome_is(name, (enum outcome)i));
    }
}

static void unknown_words_are_refused(void **state)
{
    enum outcome read = OUTCOME_LOST;

    (void)state;
    assert_false(outcome_read("", &read));
    assert_false(outcome_read("Correct", &read));
    assert_false(outcome_read("correctnes", &read));
    assert_int_equal(read, OUTCOME_LOST);
    assert_false(outcome_is("correctness", OUTCOME_CORRECT));
}

static void each_device_word_is_read_back(void **state)
{
    enum device_kind read = DEVICE_KIND_CPU;

    (void)state;
    for (int i = 0; i < DEVICE_KINDS; i++) {
        const char *name = device_kind_name((enum device_kind)i);

        assert_true(device_kind_read(name, &read));
        assert_int_equal(read, i);
        assert_true(device_kind_is(name, (enum device_kind)i));
    }
    assert_false(device_kind_read("sm_89", &read));
    assert_false(device_kind_read("cpus", &read));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_word_is_its_own),
        cmocka_unit_test(unknown_words_are_refused),
        cmocka_unit_test(each_device_word_is_read_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
