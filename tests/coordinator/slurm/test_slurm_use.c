#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/slurm/slurm_use.h"

#define BUSY                                      \
    {                                             \
        .is_here = true, .idle_ns = 1 * NS_PER_S, \
    }
#define RESTS(s)                                  \
    {                                             \
        .is_here = true, .idle_ns = (s)*NS_PER_S, \
    }
#define AWAY                                         \
    {                                                \
        .is_here = false, .idle_ns = 900 * NS_PER_S, \
    }

static void it_grows_while_all_have_work(void **state)
{
    const struct slurm_use none[] = { AWAY, AWAY },
                           all[] = { BUSY, AWAY, BUSY },
                           some[] = { BUSY, RESTS(5), AWAY };

    (void)state;
    assert_false(
        slurm_use_grows(none, 2)); /* the first ones are on their way */
    assert_true(slurm_use_grows(all, 3));
    assert_false(slurm_use_grows(some, 3));
}

static void the_one_without_work_is_given_back(void **state)
{
    const struct slurm_use nodes[] = { RESTS(61), BUSY, RESTS(90), AWAY,
                                       RESTS(59) };

    (void)state;
    assert_int_equal(slurm_use_surplus(nodes, 5, 1), 2);
    assert_int_equal(slurm_use_surplus(nodes, 5, 3), 2);
    assert_int_equal(slurm_use_surplus(nodes, 5, 4), -1);
    assert_int_equal(slurm_use_surplus(nodes + 1, 1, 0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_grows_while_all_have_work),
        cmocka_unit_test(the_one_without_work_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
