/* int64.h - the smaller and the larger of two numbers
 */
#ifndef FA_COMMON_INT64_H
#define FA_COMMON_INT64_H

#include <stdint.h>

static inline int64_t int64_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t int64_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
