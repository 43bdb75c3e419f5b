/* flash.h - configurations of kernels/flash_attention in the emulator
 *
 * A configuration is one value for each macro of the kernel, whether or not a
 * sweep file has it; shared memory is what the kernel needs.  Problems have
 * four heads of Q, which share two of K and V, and are compared with the
 * reference within the tolerance of the sweep files.
 * Thread rule: one thread.
 */
#ifndef FA_TESTS_KERNELS_FLASH_H
#define FA_TESTS_KERNELS_FLASH_H

#include <stdbool.h>
#include <stddef.h>

struct device_buffer;
struct device_err;
struct device_kernel;

enum flash_macro {
    BLOCK_M,
    BLOCK_N,
    BLOCK_K,
    NUM_WARPS,
    K_STAGES,
    V_STAGES,
    SLICE_N,
    PIPELINE,
    SLICE_UNROLL,
    UNROLL,
    LOOKAHEAD,
    RESCALE,
    EXPONENTIAL,
    SUM_BY_MMA,
    LAYOUT,
    COPY_BYTES,
    CP_ASYNC,
    Q_HOME,
    BLOCK_ORDER,
    PERSISTENT,
    STAGED_OUTPUT,
    STREAMING,
    MIN_BLOCKS,
    HEAD_DIM,
    FLASH_MACROS
};

struct flash_config {
    int values[FLASH_MACROS];
};

/* 64 x 64, 4 warps, two stages, Q copied ahead */
extern const struct flash_config flash_plain;

/* No rule of limits.h refuses it. */
bool flash_is_legal(const struct flash_config *config);

#define FLASH_TEXT_MAX 800 /* of a #define for each macro */
/* Lines of #define, the last one SMEM_BYTES. */
void flash_params(const struct flash_config *config, char text[FLASH_TEXT_MAX]);

/* Q, K and V of one shape, and the results */
struct flash_problem {
    int seq, causal, head_dim;
    double gain; /* of Q: 16 makes scores that overflow without a maximum */
    int peak;    /* K's row that is 32 times as large, or 0: none */
    struct device_buffer *q, *k, *v, *want;
};

/* The caller has set the first five; 'reference' is reference.cu. */
void flash_problem_init(struct flash_problem *problem,
                        struct device_kernel *reference);
void flash_problem_fini(struct flash_problem *problem);

/* Launch, a persistent grid with this many blocks if it is smaller; 0 or a
 * DEVICE_* code. */
int flash_launch(const struct flash_config *config,
                 struct device_kernel *kernel,
                 const struct flash_problem *problem, unsigned blocks,
                 struct device_buffer *out, struct device_err *err);

/* Launch and compare: the test fails if anything is wrong. */
void flash_check(const struct flash_config *config,
                 struct device_kernel *kernel,
                 const struct flash_problem *problem, unsigned blocks);

#endif
