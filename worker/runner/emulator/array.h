/* array.h - a global memory array between guards
 *
 *   | no access | slack | the array .... | < 16 slack | no access |
 *     64 KiB    ^ page                                ^ page, 64 KiB
 *
 * The array is right-justified: the first byte past its end is in the guard,
 * or in a slack of less than 16 bytes, because the base is a multiple of
 * 16 (the widest access). Slack and contents start as 0xff, which is a NaN in
 * every float type.  Processes forked later share the memory.  One host thread.
 */
#ifndef FA_WORKER_RUNNER_EMULATOR_ARRAY_H
#define FA_WORKER_RUNNER_EMULATOR_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct array;

/* 'bytes' >= 1. NULL, with errno set, if there is not enough memory. */
struct array *array_new(const char *name, size_t bytes);
void array_free(struct array *array); /* NULL is fine */

void *array_base(const struct array *array);

/* A sealed array cannot be written, and a hidden one is not in the memory of
 * processes that are forked from now on.  False, with errno set, if refused. */
bool array_guard(struct array *array, bool sealed, bool hidden);

/* Between these two, arrays that are sealed and not hidden hold 0xff, for a
 * process that is forked now too: code that runs while a kernel is loaded
 * finds nothing to compute.  The slack of all arrays that are not hidden is
 * filled with 'slack'.  False, with errno set, if refused. */
bool array_withhold_sealed(unsigned char slack);
bool array_return_sealed(void);

/* Did a launch do atomic operations in it whose result depends on their order
 * (emulator_is_unordered())?  Since the latest array_forget_unordered(), which
 * is of all arrays. */
bool array_is_unordered(const struct array *array);
void array_forget_unordered(void);

/* A byte for each four of the array: not 0 if a launch did an atomic operation
 * there, since the latest array_forget_met(), which is of all arrays.  Of a
 * launch that is watched (emulator_order). */
const unsigned char *array_met(const struct array *array);
void array_forget_met(void);

/* Fill contents and slack with 0xff; not of a sealed one. */
void array_poison(struct array *array);

/* 0 if the slack is as it was filled.  Otherwise the distance in bytes of the
 * damage nearest to the array: -1 is the byte before it, 1 the first after it.
 */
int64_t array_overrun(const struct array *array);

#ifdef __cplusplus
}

#include <vector>

#include "worker/runner/emulator/part.hh"

struct fa_site;

namespace emulator
{

/* A place in an array, for messages.  name is NULL if 'address' is neither in
 * an array nor in the guards around one; the offset may be negative. */
struct array_place {
    const char *name;
    int64_t offset;
    size_t bytes; /* of the array */
};

array_place array_find(const void *address);

/* True if an array was marked as unordered: that of 'address', or any. */
bool array_mark_unordered(const void *address);
bool array_any_unordered();

/* An atomic operation there; false if it is in no array. */
bool array_mark_met(const void *address, uint32_t bytes);

/* The arrays that a kernel may write, if they have no more bytes together. */
std::vector<part> array_small(size_t bytes_max);

/* End the launch unless 'bytes' may be read there, at a multiple of
 * 'alignment'.  'what' names the access: "read". */
void array_check_read(const void *address, uint32_t alignment, uint32_t bytes,
                      const char *what, fa_site at);

} // namespace emulator
#endif

#endif
