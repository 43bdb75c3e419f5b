#include "worker/runner/cuda/kernels_grid.hh"

namespace
{

/* Everything is inlined here.  With calls, and so a stack, the timed launch after it took up to 1.8
 * times as long with a warm cache, on an H200. */

/* What one block compares in some milliseconds. */
constexpr int64_t ALONE_ELEMENTS = 1 << 22;

__device__ struct grid_barrier looks_barrier;

/* The one of the larger rank; of equal ones that with the lower index. */
__device__ struct look_worst worse_of(const struct look_worst &a,
                                                    const struct look_worst &b)
{
    if (a.at < 0 || (b.at >= 0 && (b.rank > a.rank || (b.rank == a.rank && b.at < a.at))))
        return b;
    return a;
}

__device__ struct look_worst block_worst(const struct look_worst &value)
{
    __shared__ struct look_worst part[THREADS];
    struct look_worst out;

    part[threadIdx.x] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads(); /* the halves to be compared are complete */
        if (threadIdx.x < half)
            part[threadIdx.x] = worse_of(part[threadIdx.x], part[threadIdx.x + half]);
    }
    out = part[0];
    __syncthreads(); /* 'part' may be used again */
    return out;
}

/* Over the block; the result is in thread 0. */
__device__ struct look_part block_part(const struct look_part &part)
{
    return { block_sum(part.sum), block_max(part.relative), block_worst(part.worst) };
}

/* The part of one of 'blocks' blocks. */
__device__ void compare_elements(const struct look_task &task, unsigned block,
                                               unsigned blocks, struct check_scratch *scratch)
{
    struct look_part part = { 0, 0, { 0, -1, 0, 0 } };
    double rms = task.norm->rms;

    for (int64_t i = (int64_t)block * THREADS + threadIdx.x; i < task.count;
         i += (int64_t)blocks * THREADS) {
        double want = unsealed(task.ref, i, task.key);
        struct check_element element =
            check_element(&task.how, task.out, task.type, i, want, rms);

        part.sum += check_square_error(&task.how, task.norm->scale, task.type,
                                       element_load(task.out, task.type, i), want);
        part.worst = worse_of(part.worst, { check_rank(&task.how, &element), i, element.error,
                                            element.rule });
        if (element.relative > part.relative)
            part.relative = element.relative;
    }
    part = block_part(part);
    if (threadIdx.x == 0)
        scratch->part[block] = part;
}

/* One block: those of all blocks. */
__device__ void compare_result(const struct look_task &task,
                                             const struct check_scratch *scratch, int n_blocks)
{
    struct look_part part = { 0, 0, { 0, -1, 0, 0 } };

    for (int i = threadIdx.x; i < n_blocks; i += THREADS) {
        part.sum += scratch->part[i].sum;
        part.worst = worse_of(part.worst, scratch->part[i].worst);
        if (scratch->part[i].relative > part.relative)
            part.relative = scratch->part[i].relative;
    }
    part = block_part(part);
    if (threadIdx.x == 0) {
        task.seen->check = { check_relative_l2(part.sum, task.norm->square_sum),
                             part.relative,
                             part.worst.at,
                             element_load(task.out, task.type, part.worst.at),
                             unsealed(task.ref, part.worst.at, task.key),
                             part.worst.rule,
                             part.worst.error,
                             (int64_t)task.norm->left_out };
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

/* With 'alone', sums that are most likely known.  One block compares what is not: it takes its time.
 * Without, all blocks do, which are on the GPU at the same time. */
__global__ void look_at(struct look_tasks tasks, bool alone, struct check_scratch *scratch)
{
    const unsigned block = alone ? 0 : blockIdx.x, blocks = alone ? 1 : gridDim.x;

    add_sums(tasks);
    if (alone && !is_last_block(&scratch->arrived))
        return;
    if (!alone)
        wait_for_grid(&looks_barrier);
    for (unsigned i = 0; i < tasks.n; i++) {
        const struct look_task &task = tasks.task[i];

        if (task.known && *(volatile uint64_t *)&task.seen->sum == task.known)
            continue;
        compare_elements(task, block, blocks, scratch);
        if (alone)
            __syncthreads(); /* its part is complete */
        else
            wait_for_grid(&looks_barrier);
        if (block == 0)
            compare_result(task, scratch, (int)blocks);
        if (!alone)
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
    bool alone = true;
    void *args[] = { &copy, &alone, &scratch };
    unsigned blocks = 1;

    for (unsigned i = 0; i < tasks->n; i++) {
        unsigned wanted = blocks_for(tasks->task[i].count);

        blocks = wanted > blocks ? wanted : blocks;
        alone = alone && tasks->task[i].known != 0 && tasks->task[i].count <= ALONE_ELEMENTS;
    }
    if (alone) {
        look_at<<<blocks, THREADS, 0, stream>>>(copy, alone, scratch);
        return cudaGetLastError();
    }
    if (blocks > limits->look_blocks)
        blocks = limits->look_blocks;
    return cudaLaunchCooperativeKernel((const void *)look_at, dim3(blocks), dim3(THREADS), args, 0,
                                       stream);
}
