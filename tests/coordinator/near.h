/* near.h - doubles compared as doubles; cmocka's own compares floats */
#ifndef FA_TESTS_COORDINATOR_NEAR_H
#define FA_TESTS_COORDINATOR_NEAR_H

#include <math.h>

#define assert_near(a, b, eps) assert_true(fabs((a) - (b)) <= (eps))

#endif
