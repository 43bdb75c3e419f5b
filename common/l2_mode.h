/* l2_mode.h - what is in the L2 cache when a sample begins, and the words
 *
 * Sweep files, messages and rows carry the words.  Depends on libc only:
 * fa-runner is compiled with it.
 */
#ifndef FA_COMMON_L2_MODE_H
#define FA_COMMON_L2_MODE_H

#include <stdbool.h>

enum l2_mode {
    L2_MODE_NONE,   /* of a result: nothing was timed */
    L2_MODE_FLUSH,  /* nothing of this kernel */
    L2_MODE_WARM,   /* data of the previous launch */
    L2_MODE_ROTATE, /* other copies of its inputs, used by earlier launches */
    L2_MODES,
};

extern const char *const l2_mode_names[L2_MODES];

const char *l2_mode_name(enum l2_mode mode);
bool l2_mode_is(const char *name, enum l2_mode mode);

#endif
