#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/ptxas.h"

static const char output[] =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'one' for 'sm_89'\n"
    "    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 0 barriers\n"
    "ptxas info    : Compiling entry function 'two' for 'sm_89'\n"
    "ptxas info    : Function properties for two\n"
    "    88 bytes stack frame, 72 bytes spill stores, 64 bytes spill loads\n"
    "ptxas info    : Used 40 registers, used 1 barriers, 128 bytes smem, "
    "360 bytes cmem[0]\n";

static void only_the_use_of_the_entry_is_read(void **state)
{
    struct ptxas_use use = ptxas_use(output, "two");

    (void)state;
    assert_int_equal(use.registers, 40);
    assert_int_equal(use.stack_bytes, 88);
    assert_int_equal(use.spill_stores, 72);
    assert_int_equal(use.spill_loads, 64);
    assert_int_equal(use.static_smem, 128);
    assert_int_equal(ptxas_use(output, "one").registers, 255);
    assert_int_equal(ptxas_use(output, "one").static_smem, 0);
}

static void missing_figures_are_zero(void **state)
{
    (void)state;
    assert_int_equal(ptxas_use(output, "three").registers, 0);
    assert_int_equal(ptxas_use(output, "tw").registers, 0);
    assert_int_equal(ptxas_use("", "two").stack_bytes, 0);
}

/* Their sum did not fit either. */
static void figures_beyond_all_bounds_are_zero(void **state)
{
    struct ptxas_use use = ptxas_use(
        "Compiling entry function 'k'\n"
        "    9223372036854775807 bytes stack frame, 4 bytes spill stores\n"
        "    99999999999999999999 bytes stack frame, 4 bytes spill stores\n"
        "ptxas info    : Used 2147483648 registers\n",
        "k");

    (void)state;
    assert_int_equal(use.stack_bytes, 0);
    assert_int_equal(use.spill_stores, 4);
    assert_int_equal(use.registers, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_use_of_the_entry_is_read),
        cmocka_unit_test(missing_figures_are_zero),
        cmocka_unit_test(figures_beyond_all_bounds_are_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
