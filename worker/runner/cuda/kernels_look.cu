#include "worker/runner/cuda/kernels_grid.hh"

namespace
{

/* Everything is inlined here.  With calls, and so a stack, the timed launch after it took up to 1.8
 * times as long with a warm cache, on an H200. */

/* What one block compares in some milliseconds. */
constexpr int64_t ALONE_ELEMENTS = 1 << 22;

__device__ struct grid_barrier looks_barrier;

/* Sum over the block; the result is in thread 0. */
__device__ double block_sum(double value)
{
    __shared__ double part[THREADS];

    part[threadIdx.x] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads(); /* the halves to be added are complete */
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    value = part[0];
    __syncthreads(); /* 'part' may be used again */
    return value;
}

struct worst {
    double error;
    long long at;
};

/* The larger error; of equal ones the lower index.  at < 0 means no element. */
__device__ struct worst worse_of(struct worst a, struct worst b)
{
    if (a.at < 0 || (b.at >= 0 && (b.error > a.error || (b.error == a.error && b.at < a.at))))
        return b;
    return a;
}

__device__ struct worst block_worst(struct worst value)
{
    __shared__ struct worst part[THREADS];

    part[threadIdx.x] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads(); /* the halves to be compared are complete */
        if (threadIdx.x < half)
            part[threadIdx.x] = worse_of(part[threadIdx.x], part[threadIdx.x + half]);
    }
    value = part[0];
    __syncthreads(); /* 'part' may be used again */
    return value;
}

/* Element 'i' of a reference that is sealed with 'key', or with 0 plain. */
__device__ double unsealed(const double *ref, int64_t i, uint64_t key)
{
    uint64_t bits = (uint64_t)__double_as_longlong(ref[i]);

    return __longlong_as_double((long long)(key ? bits ^ fill_bits(key, i) : bits));
}

__global__ void seal(double *ref, int64_t count, uint64_t key)
{
    for (int64_t i = first_index(); i < count; i += index_step())
        ref[i] = unsealed(ref, i, key);
}

__global__ void norm_sums(const double *ref, int64_t count, uint64_t key, bool infinities,
                          struct check_scratch *scratch)
{
    double sum = 0;

    for (int64_t i = first_index(); i < count; i += index_step())
        sum += check_square(infinities, unsealed(ref, i, key));
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        scratch->sum[blockIdx.x] = sum;
}

/* One block: add up the sums of the blocks. */
__device__ double total(const struct check_scratch *scratch, int n_blocks)
{
    double sum = 0;

    for (int i = threadIdx.x; i < n_blocks; i += THREADS)
        sum += scratch->sum[i];
    return block_sum(sum);
}

__global__ void norm_result(int64_t count, int n_blocks, const struct check_scratch *scratch,
                            struct check_norm *norm)
{
    double sum = total(scratch, n_blocks);

    if (threadIdx.x == 0)
        *norm = { sum, sqrt(sum / (double)count) };
}

/* The part of one of 'blocks' blocks: the sum of squares, and the worst element. */
__device__ void compare_elements(const struct look_task &task, unsigned block, unsigned blocks,
                                 struct check_scratch *scratch)
{
    struct worst worst = { 0, -1 }, relative = { 0, -1 };
    double rms = task.norm->rms, sum = 0;

    for (int64_t i = (int64_t)block * THREADS + threadIdx.x; i < task.count;
         i += (int64_t)blocks * THREADS) {
        double want = unsealed(task.ref, i, task.key);
        struct check_element element =
            check_element(&task.how, task.out, task.type, i, want, rms);

        sum += check_square_error(task.how.infinities, task.type,
                                  element_load(task.out, task.type, i), want);
        worst = worse_of(worst, { check_rank(&task.how, &element), i });
        relative = worse_of(relative, { element.relative, i });
    }
    sum = block_sum(sum);
    worst = block_worst(worst);
    relative = block_worst(relative);
    if (threadIdx.x == 0) {
        scratch->sum[block] = sum;
        scratch->rank[block] = worst.error;
        scratch->at[block] = worst.at;
        scratch->relative[block] = relative.error;
    }
}

/* One block: those of all blocks. */
__device__ void compare_result(const struct look_task &task, const struct check_scratch *scratch,
                               int n_blocks)
{
    struct worst worst = { 0, -1 }, relative = { 0, -1 };
    double sum;

    for (int i = threadIdx.x; i < n_blocks; i += THREADS) {
        worst = worse_of(worst, { scratch->rank[i], scratch->at[i] });
        relative = worse_of(relative, { scratch->relative[i], scratch->at[i] });
    }
    worst = block_worst(worst);
    relative = block_worst(relative);
    sum = total(scratch, n_blocks);
    if (threadIdx.x == 0) {
        double want = unsealed(task.ref, worst.at, task.key);
        struct check_element element =
            check_element(&task.how, task.out, task.type, worst.at, want, task.norm->rms);

        task.seen->check = { check_relative_l2(sum, task.norm->square_sum),
                             relative.error,
                             worst.at,
                             element_load(task.out, task.type, worst.at),
                             want,
                             element.rule,
                             element.error };
        task.seen->compared = true;
    }
}

__device__ void add_sums(const struct look_tasks &tasks)
{
    for (unsigned i = 0; i < tasks.n; i++)
        add_sum((const unsigned char *)tasks.task[i].out, (int64_t)tasks.task[i].bytes,
                (unsigned long long *)&tasks.task[i].seen->sum);
}

/* All threads of one block get true: the last one that comes here. */
__device__ bool is_last_block(unsigned *arrived)
{
    __shared__ bool last;

    __threadfence(); /* what this block has written is seen by the last one */
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(arrived, 1) == gridDim.x - 1;
    __syncthreads();
    __threadfence();
    if (last && threadIdx.x == 0)
        *arrived = 0;
    return last;
}

/* Sums that are most likely known.  One block compares what is not: it takes its time. */
__global__ void look_at_known(struct look_tasks tasks, struct check_scratch *scratch)
{
    add_sums(tasks);
    if (!is_last_block(&scratch->arrived))
        return;
    for (unsigned i = 0; i < tasks.n; i++) {
        const struct look_task &task = tasks.task[i];

        if (*(volatile uint64_t *)&task.seen->sum == task.known)
            continue;
        compare_elements(task, 0, 1, scratch);
        __syncthreads(); /* its part is complete */
        compare_result(task, scratch, 1);
    }
}

/* All blocks are on the GPU at the same time. */
__global__ void look_at(struct look_tasks tasks, struct check_scratch *scratch)
{
    add_sums(tasks);
    wait_for_grid(&looks_barrier);
    for (unsigned i = 0; i < tasks.n; i++) {
        const struct look_task &task = tasks.task[i];

        if (task.known && task.seen->sum == task.known)
            continue;
        compare_elements(task, blockIdx.x, gridDim.x, scratch);
        wait_for_grid(&looks_barrier);
        if (blockIdx.x == 0)
            compare_result(task, scratch, (int)gridDim.x);
        wait_for_grid(&looks_barrier);
    }
}

} // namespace

cudaError_t kernel_look_blocks(int *out)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(out, look_at, THREADS, 0);
}

cudaError_t kernel_look(const struct kernel_limits *limits, const struct look_tasks *tasks,
                        struct check_scratch *scratch, cudaStream_t stream)
{
    struct look_tasks copy = *tasks;
    void *args[] = { &copy, &scratch };
    unsigned blocks = 1;
    bool known = true;

    for (unsigned i = 0; i < tasks->n; i++) {
        unsigned wanted = blocks_for(tasks->task[i].count);

        blocks = wanted > blocks ? wanted : blocks;
        known = known && tasks->task[i].known != 0 && tasks->task[i].count <= ALONE_ELEMENTS;
    }
    if (known) {
        look_at_known<<<blocks, THREADS, 0, stream>>>(copy, scratch);
        return cudaGetLastError();
    }
    if (blocks > limits->look_blocks)
        blocks = limits->look_blocks;
    return cudaLaunchCooperativeKernel((const void *)look_at, dim3(blocks), dim3(THREADS), args, 0,
                                       stream);
}

cudaError_t kernel_seal(double *ref, int64_t count, uint64_t key, cudaStream_t stream)
{
    seal<<<blocks_for(count), THREADS, 0, stream>>>(ref, count, key);
    return cudaGetLastError();
}

cudaError_t kernel_norm(const double *ref, int64_t count, uint64_t key, bool infinities,
                        struct check_norm *norm, struct check_scratch *scratch,
                        cudaStream_t stream)
{
    unsigned n = blocks_for(count);

    norm_sums<<<n, THREADS, 0, stream>>>(ref, count, key, infinities, scratch);
    norm_result<<<1, THREADS, 0, stream>>>(count, (int)n, scratch, norm);
    return cudaGetLastError();
}
