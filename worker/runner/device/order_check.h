/* order_check.h - does the result depend on the order in which blocks run?
 *
 * A launch is run twice over the same memory, in two orders, and what it leaves
 * is compared bit by bit.  Then each half of its blocks runs over that memory,
 * and what both leave is put together: as if they had run at the same time, so
 * that an update of the one is lost on the other, but for atomic ones.  No
 * device: arrays of host memory.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_ORDER_CHECK_H
#define FA_WORKER_RUNNER_DEVICE_ORDER_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/runner/wire/element.h"

/* What a kernel may write; all is borrowed until order_check_free(). */
struct order_check_array {
    const char *name;
    enum element_type type;
    int64_t count;
    void *base;
    /* a byte for each four of it: not 0 if both halves find what the other one
     * writes there; NULL: they find nothing */
    const unsigned char *met;
};

struct order_check;

#define ORDER_CHECK_BYTES_MAX ((size_t)256 << 20) /* of all arrays */

/* Before the first launch: copies the arrays.  NULL if they are too large, or
 * if there is no memory for two copies. */
struct order_check *order_check_new(const struct order_check_array *arrays,
                                    size_t n);
void order_check_free(struct order_check *check); /* NULL is fine */

/* What this array holds does not matter; it is restored all the same. */
void order_check_leave_out(struct order_check *check, const void *base);

/* After the first launch: keeps what it left. */
void order_check_keep(struct order_check *check);
/* Before each other launch: puts back what was there before the first. */
void order_check_restore(const struct order_check *check);

/* After a launch of one half: keeps what it left, and restores what is not met.
 * False if there is no memory for that. */
bool order_check_halve(struct order_check *check);
/* After one of the other half: adds what the first one changed.  What both have
 * changed stays, or is as the first one left it. */
void order_check_join(const struct order_check *check, bool first_wins);

/* After all of them: puts back what the first launch left. */
void order_check_finish(const struct order_check *check);

/* True if the arrays are as the first launch left them.  If not, 'text' says
 * where: "'out'[17] is 3 in one order, and 5 in another". */
bool order_check_same(const struct order_check *check, char *text, size_t size);

#endif
