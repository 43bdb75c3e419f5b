/* kernel.h - a small kernel and its reference, for a worker to build
 *
 * add.cu has 'add', which adds 1 to each of n numbers; in huge.cu it adds far
 * too much.  ref.cu has 'ref', the correct sum in double.  They are in a bundle
 * with the headers of kernels/include.
 */
#ifndef FA_TESTS_E2E_KERNEL_H
#define FA_TESTS_E2E_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "common/msg.h"

struct coord;

/* How they are measured. */
#define KERNEL_REQUEST                                                       \
    "entry add\ngrid 4 1 1\nblock 64 1 1\nsmem 0\n"                          \
    "arg a fp32 buffer 200 normal 1 in\n"                                    \
    "arg out fp32 buffer 200 poison 1 out relative_l2 1e-6 max_error 1e-5\n" \
    "arg n int32 scalar 200\n"                                               \
    "reference ref 4 1 1 64 1 1 0\n"                                         \
    "seed 1\ntrials 2\nwarmups 1\nsamples 3 3\nnoise 0.01\nmargin "          \
    "1.1\nincumbent_s 0\n"                                                   \
    "l2 warm\ntimeout_s 10\n"

/* Answers a WANT for it; its hash is its name in a BUILD. */
extern struct msg kernel_bundle;

/* cmocka set-up and tear-down of a group: the bundle. */
int kernel_set_up(void **state);
int kernel_tear_down(void **state);

/* Ask for a build for the cpu device; the source names the configuration. */
void kernel_build(struct coord *coord, int64_t lease, const char *source,
                  const char *entry);
void kernel_build_with(struct coord *coord, int64_t lease, const char *source,
                       const char *entry, const char *header);

#endif
