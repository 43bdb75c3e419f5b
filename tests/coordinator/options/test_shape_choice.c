/* The shapes that --shape names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/spec/spec.h"
#include "coordinator/options/options.h"
#include "coordinator/options/shape_choice.h"

static char first[] = "s512", second[] = "s1024", third[] = "odd";
static const struct spec_shape list[] = { { .name = first },
                                          { .name = second },
                                          { .name = third } };

static void they_come_in_the_order_of_their_names(void **state)
{
    const struct option_list names = { { "odd", "s512" }, 2 };
    struct spec_shape out[2];
    struct err err;

    (void)state;
    assert_int_equal(
        shape_choice(list, 3, &names, "in the sweep", "", out, &err), 0);
    assert_ptr_equal(out[0].name, third);
    assert_ptr_equal(out[1].name, first);
}

static void a_wrong_name_is_told_with_the_nearest(void **state)
{
    const struct option_list near = { { "s51" }, 1 }, far = { { "n" }, 1 };
    struct spec_shape out[1];
    struct err err;

    (void)state;
    assert_int_equal(shape_choice(list, 3, &near, "to fuzz", "", out, &err),
                     ERR_INPUT);
    assert_string_equal(err.text, "--shape: there is no shape 's51' to fuzz; "
                                  "did you mean 's512'?");
    assert_int_equal(shape_choice(list, 3, &far, "in the sweep",
                                  "; 'all' takes all of them", out, &err),
                     ERR_INPUT);
    assert_string_equal(err.text, "--shape: there is no shape 'n' in the "
                                  "sweep; 'all' takes all of them");
}

static void one_that_is_named_twice_is_an_error(void **state)
{
    const struct option_list names = { { "odd", "s512", "odd" }, 3 };
    struct spec_shape out[3];
    struct err err;

    (void)state;
    assert_int_equal(
        shape_choice(list, 3, &names, "in the sweep", "", out, &err),
        ERR_INPUT);
    assert_string_equal(err.text, "--shape: 'odd' is given twice");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_come_in_the_order_of_their_names),
        cmocka_unit_test(a_wrong_name_is_told_with_the_nearest),
        cmocka_unit_test(one_that_is_named_twice_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
