/* order.h - the order in which blocks, warps and lanes run: any is as good
 *
 * A number stands for an order: forward, in reverse, or drawn by the number. In
 * reverse, of any two things the other one comes first.  Pure.
 */
#ifndef FA_WORKER_RUNNER_EMULATOR_ORDER_H
#define FA_WORKER_RUNNER_EMULATOR_ORDER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ORDER_FORWARD,
    ORDER_REVERSE,
    ORDER_DRAWN /* and all that follow */
};

/* Which of 'n' things, numbered from 0, is number 'i' in this order; a
 * permutation.  Without memory, by a Feistel network (Luby and Rackoff 1988)
 * that is repeated until it falls in range. */
uint64_t order_at(uint64_t order, uint64_t n, uint64_t i);

/* The same for few things, all of them at once; other permutations where drawn
 * (Durstenfeld 1964). */
void order_list(uint64_t order, unsigned n, uint8_t *out);

/* The order of something that has an order in each of many places, such as the
 * warps of a block: drawn ones differ from place to place. */
uint64_t order_within(uint64_t order, uint64_t place);

/* The byte of what nobody has written (device/unwritten.h), for a launch in
 * this order: the first two have the first byte, the drawn ones the next, and
 * so on. */
unsigned char order_unwritten(uint64_t order);

#ifdef __cplusplus
}
#endif

#endif
