/* flash_space.h - points of kernels/flash_attention's sweep files, for sm_89
 *
 * The test fails when a file has a flaw.
 * Thread rule: one thread.
 */
#ifndef FA_TESTS_KERNELS_FLASH_SPACE_H
#define FA_TESTS_KERNELS_FLASH_SPACE_H

#include "coordinator/space/space.h"
#include "tests/kernels/flash_limits.h"

struct buf;

struct flash_space {
    struct spec *spec;
    struct space *space;
};

void flash_space_open(struct flash_space *out, const char *file);
void flash_space_close(struct flash_space *space);

/* What limits.h sees of a point; a macro that is no tunable and not derived
 * fails the test. */
void flash_space_limits(const struct flash_space *space, int64_t point,
                        int limits[FLASH_LIMIT_MACROS]);

/* What the kernel sees of it, added to 'out'. */
void flash_space_macros(const struct flash_space *space, int64_t point,
                        struct buf *out);

/* "BLOCK_M=64 ...", until the next call */
const char *flash_space_text(const struct flash_space *space, int64_t point);

#endif
