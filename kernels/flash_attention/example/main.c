/* The tuned kernel in a program: main [BATCH HEADS SEQ CAUSAL]
 *
 * Everything about the winner comes from flash_attention_tuned.h, which
 * fa-coord export wrote.  Exit code 0: right; 1: wrong, or an error of CUDA;
 * 2: usage; 77: there is no GPU here.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

#include "attention.h"
#include "flash_attention_tuned.h"

enum {
    SAMPLES = 25,
    ROWS_CHECKED = 4096, /* about a second on the host */
    EXIT_SKIPPED = 77
};

#define TOLERANCE 5e-4 /* relative L2, that of the sweep */

/* The host's side of the kernel, which nvcc makes; the runtime knows the
 * kernel by its address. */
void flash_attention(void);

struct problem {
    struct shape shape;
    size_t elements;
    uint16_t *q, *k, *v, *out; /* on the host */
    void *gpu[4];              /* the same on the GPU */
};

static void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s%s\n", what, cudaGetErrorString(error),
            error == cudaErrorNoKernelImageForDevice
                ? "; build for this GPU: make clean run ARCH=native"
                : "");
    exit(EXIT_FAILURE);
}

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);

    if (!memory) {
        fprintf(stderr, "out of memory: %zu bytes\n", bytes);
        exit(EXIT_FAILURE);
    }
    return memory;
}

static void setup(struct problem *p)
{
    size_t bytes;

    p->elements = (size_t)(p->shape.batch * p->shape.heads * p->shape.seq) * HEAD_DIM;
    bytes = p->elements * sizeof(uint16_t);
    p->q = allocate(bytes);
    p->k = allocate(bytes);
    p->v = allocate(bytes);
    p->out = allocate(bytes);
    fill_normal(p->q, p->elements, 1);
    fill_normal(p->k, p->elements, 2);
    fill_normal(p->v, p->elements, 3);
    for (int i = 0; i < 4; i++)
        check(cudaMalloc(&p->gpu[i], bytes), "cudaMalloc");
    check(cudaMemcpy(p->gpu[0], p->q, bytes, cudaMemcpyHostToDevice), "Q");
    check(cudaMemcpy(p->gpu[1], p->k, bytes, cudaMemcpyHostToDevice), "K");
    check(cudaMemcpy(p->gpu[2], p->v, bytes, cudaMemcpyHostToDevice), "V");
    /* All bits set is NaN, so an unwritten element is noticed. */
    check(cudaMemset(p->gpu[3], 0xff, bytes), "output");
}

static void launch(struct problem *p)
{
    const struct shape *s = &p->shape;
#define LAUNCH(what)                                                                        \
    (unsigned)FLASH_ATTENTION_LAUNCH_##what(s->batch, s->heads, s->heads, s->seq, HEAD_DIM, \
                                            s->causal, 1)
    dim3 grid = { LAUNCH(GRID_X), LAUNCH(GRID_Y), LAUNCH(GRID_Z) };
    dim3 block = { LAUNCH(BLOCK_X), LAUNCH(BLOCK_Y), LAUNCH(BLOCK_Z) };
    size_t smem = LAUNCH(SMEM);
    int seq = (int)s->seq, causal = s->causal;
    int heads = (int)(s->batch * s->heads), group = 1, head_dim = HEAD_DIM;
    void *arguments[] = { &p->gpu[0], &p->gpu[1], &p->gpu[2], &p->gpu[3], &seq,
                          &causal,    &heads,     &group,     &head_dim };
    const void *kernel = (const void *)flash_attention;

    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)smem),
          "shared memory");
    check(cudaLaunchKernel(kernel, grid, block, arguments, smem, NULL), "launch");
}

static double error_of(struct problem *p)
{
    const struct shape *s = &p->shape;
    long rows = s->batch * s->heads * s->seq;
    long step = (rows / ROWS_CHECKED) | 1; /* odd: all places in a tile */
    double *scores = allocate((size_t)s->seq * sizeof(*scores));
    double off = 0, all = 0;

    for (long row = 0; row < rows; row += step) {
        double expected[HEAD_DIM];

        attention_row(s, p->q, p->k, p->v, row, scores, expected);
        for (int d = 0; d < HEAD_DIM; d++) {
            double got = half_to_double(p->out[row * HEAD_DIM + d]);

            off += (got - expected[d]) * (got - expected[d]);
            all += expected[d] * expected[d];
        }
    }
    free(scores);
    return sqrt(off / all);
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

static double median_us(struct problem *p)
{
    cudaEvent_t begin, end;
    float ms[SAMPLES];

    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
    for (int i = 0; i < SAMPLES; i++) {
        check(cudaEventRecord(begin, NULL), "event");
        launch(p);
        check(cudaEventRecord(end, NULL), "event");
        check(cudaEventSynchronize(end), "kernel");
        check(cudaEventElapsedTime(&ms[i], begin, end), "event");
    }
    qsort(ms, SAMPLES, sizeof(ms[0]), by_size);
    return 1e3 * ms[SAMPLES / 2];
}

static int read_shape(int argc, char *argv[], struct shape *out)
{
    long numbers[4] = { 32, 8, 512, 0 };

    for (int i = 1; i < argc; i++) {
        char *end;

        if (i > 4)
            return -1;
        numbers[i - 1] = strtol(argv[i], &end, 10);
        if (end == argv[i] || *end || numbers[i - 1] < (i < 4) ||
            numbers[i - 1] > (i < 4 ? 65536 : 1))
            return -1;
    }
    *out = (struct shape){ numbers[0], numbers[1], numbers[2], (int)numbers[3] };
    return 0;
}

int main(int argc, char *argv[])
{
    struct problem problem;
    const struct shape *s = &problem.shape;
    struct cudaDeviceProp gpu;
    cudaError_t error;
    double relative, us;
    int n = 0;

    if (read_shape(argc, argv, &problem.shape) < 0) {
        fprintf(stderr,
                "usage: %s [BATCH HEADS SEQ CAUSAL], each from 1 to "
                "65536, CAUSAL 0 or 1\n",
                argv[0]);
        return 2;
    }
    error = cudaGetDeviceCount(&n);
    if (error != cudaSuccess || n == 0) {
        printf("skipped, no GPU here: %s\n", cudaGetErrorString(error));
        return EXIT_SKIPPED;
    }
    check(cudaGetDeviceProperties(&gpu, 0), "device");
    setup(&problem);
    launch(&problem);
    check(cudaMemcpy(problem.out, problem.gpu[3], problem.elements * sizeof(uint16_t),
                     cudaMemcpyDeviceToHost),
          "kernel");
    relative = error_of(&problem);
    us = median_us(&problem);
    printf("%s: B=%ld H=%ld S=%ld D=%d causal=%d: %.2f us (median of %d, warm "
           "L2), relative L2 error %.2e, %s\n",
           gpu.name, s->batch, s->heads, s->seq, HEAD_DIM, s->causal, us, SAMPLES, relative,
           relative <= TOLERANCE ? "right" : "WRONG");
    return relative <= TOLERANCE ? EXIT_SUCCESS : EXIT_FAILURE;
}
