/* unwritten.h - what lies in memory that a launch has not written
 *
 * A kernel that reads shared memory before it writes it, or what lies beside
 * an array, is right with some contents by chance: fmaxf() passes over a NaN.
 * So the contents change from launch to launch.  Pure.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_UNWRITTEN_H
#define FA_WORKER_RUNNER_DEVICE_UNWRITTEN_H

#include <stdint.h>

enum {
    UNWRITTEN_BYTES = 3 /* any so many turns in a row have all of them */
};

/* The byte of a turn, repeated: first 0xff, a NaN and -1, which says most, then
 * 0x7b, a large number of every type, then 0xfb, a large negative one. */
static inline unsigned char unwritten_byte(uint64_t turn)
{
    static const unsigned char bytes[UNWRITTEN_BYTES] = { 0xff, 0x7b, 0xfb };

    return bytes[turn % UNWRITTEN_BYTES];
}

/* Four of them. */
static inline uint32_t unwritten_word(uint64_t turn)
{
    return UINT32_C(0x01010101) * unwritten_byte(turn);
}

#endif
