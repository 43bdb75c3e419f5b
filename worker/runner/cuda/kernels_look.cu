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

/* The worst of all threads, each of which has one in 'worst'. */
__device__ struct look_worst block_worst(struct look_worst worst[THREADS])
{
    struct look_worst out;

    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads(); /* the halves to be compared are complete */
        if (threadIdx.x < half)
            worst[threadIdx.x] = worse_of(worst[threadIdx.x], worst[threadIdx.x + half]);
    }
    out = worst[0];
    __syncthreads(); /* 'worst' may be used again */
    return out;
}

/* Of a multiprocessor at the same time, as many as have all that they need in registers. */
constexpr int COMPARE_BLOCKS = 3;

/* How many elements a thread loads before it looks at the first of them. */
constexpr int AT_ONCE = 4;

template <enum element_type TYPE>
__device__ void load_each(double out[AT_ONCE], const void *base, const int64_t at[AT_ONCE])
{
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
        out[k] = element_load(base, TYPE, at[k]);
}

/* One switch, so that all loads begin before the first has ended. */
__device__ void load_outputs(double out[AT_ONCE], const void *base, enum element_type type,
                             const int64_t at[AT_ONCE])
{
    switch (type) {
    case ELEMENT_FP16:
        return load_each<ELEMENT_FP16>(out, base, at);
    case ELEMENT_BF16:
        return load_each<ELEMENT_BF16>(out, base, at);
    case ELEMENT_FP32:
        return load_each<ELEMENT_FP32>(out, base, at);
    case ELEMENT_FP64:
        return load_each<ELEMENT_FP64>(out, base, at);
    case ELEMENT_INT8:
        return load_each<ELEMENT_INT8>(out, base, at);
    case ELEMENT_INT32:
        return load_each<ELEMENT_INT32>(out, base, at);
    case ELEMENT_INT64:
        return load_each<ELEMENT_INT64>(out, base, at);
    }
}

/* What a block has seen so far; in shared memory, because it changes rarely. */
struct seen_worst {
    unsigned long long relative; /* the largest relative error: its bits have the order of numbers */
    struct look_worst of[THREADS];
};

__device__ double largest(const struct seen_worst *seen)
{
    return __longlong_as_double(
        (long long)*(const volatile unsigned long long *)&seen->relative);
}

__device__ void compare_closely(const struct look_task &task, int64_t i, double rms,
                                struct seen_worst *seen)
{
    struct look_worst *worst = &seen->of[threadIdx.x];
    struct check_element element = check_element(&task.how, task.out, task.type, i,
                                                 unsealed(task.ref, i, task.key), rms);

    *worst = worse_of(*worst, { check_rank(&task.how, &element), i, element.error, element.rule });
    if (element.relative > largest(seen)) /* a NaN is not */
        atomicMax(&seen->relative, (unsigned long long)__double_as_longlong(element.relative));
}

/* The part of one of 'blocks' blocks.  Few elements have a larger error than those that its threads
 * have seen, and only these are compared closely, which takes ten times as long. */
__device__ void compare_elements(const struct look_task &task, unsigned block, unsigned blocks,
                                 struct check_scratch *scratch)
{
    __shared__ struct seen_worst seen;
    const double rms = task.norm->rms, scale = task.norm->scale;
    const struct check_lost lost = check_lost(task.type);
    const bool special = check_has_special(&task.how);
    const int64_t step = (int64_t)blocks * THREADS, first = (int64_t)block * THREADS + threadIdx.x;
    double sum = 0;

    seen.of[threadIdx.x] = { 0, -1, 0, 0 };
    if (threadIdx.x == 0)
        seen.relative = 0;
    __syncthreads(); /* it is 0 before a thread raises it */
    for (int64_t i = first; i < task.count; i += AT_ONCE * step) {
        const struct check_minor minor = check_minor(&task.how, task.type, rms, largest(&seen));
        double out[AT_ONCE], want[AT_ONCE], plain[AT_ONCE];
        int64_t at[AT_ONCE];
        unsigned close = i == first; /* bit k: element k must be compared closely */

#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) { /* behind the end, the first once more */
            at[k] = i + k * step < task.count ? i + k * step : i;
            want[k] = __ldcs(&task.ref[at[k]]);
        }
        load_outputs(out, task.out, task.type, at);
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) { /* without a branch, so that all go on side by side */
            const bool counts = k == 0 || at[k] != i;

            want[k] = unseal(want[k], at[k], task.key);
            plain[k] = counts ? check_plain_square(scale, &lost, out[k], want[k]) : 0;
            close |= (unsigned)(counts && !check_is_minor(&minor, out[k], want[k])) << k;
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (!special)
                sum += plain[k];
            else if (k == 0 || at[k] != i)
                sum += check_square_error(&task.how, scale, &lost, out[k], want[k]);
        for (; close != 0; close &= close - 1)
            compare_closely(task, i + (__ffs((int)close) - 1) * step, rms, &seen);
    }
    sum = block_sum(sum);
    const struct look_worst worst = block_worst(seen.of);
    if (threadIdx.x == 0)
        scratch->part[block] = { sum, largest(&seen), worst };
}

/* One block: those of all blocks. */
__device__ void compare_result(const struct look_task &task, const struct check_scratch *scratch,
                               int n_blocks)
{
    __shared__ struct look_worst worst[THREADS];
    struct look_part part = { 0, 0, { 0, -1, 0, 0 } };

    for (int i = threadIdx.x; i < n_blocks; i += THREADS) {
        part.sum += scratch->part[i].sum;
        part.worst = worse_of(part.worst, scratch->part[i].worst);
        if (scratch->part[i].relative > part.relative)
            part.relative = scratch->part[i].relative;
    }
    worst[threadIdx.x] = part.worst;
    part = { block_sum(part.sum), block_max(part.relative), block_worst(worst) };
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

__device__ bool holds_known(const struct look_task &task)
{
    return task.known && *(volatile uint64_t *)&task.seen->sum == task.known;
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

/* Sums that are most likely known, of small outputs.  The last block compares what is not: it takes
 * its time. */
__global__ void look_alone(struct look_tasks tasks, struct check_scratch *scratch)
{
    add_sums(tasks);
    if (!is_last_block(&scratch->arrived))
        return;
    for (unsigned i = 0; i < tasks.n; i++) {
        if (holds_known(tasks.task[i]))
            continue;
        compare_elements(tasks.task[i], 0, 1, scratch);
        __syncthreads(); /* its part is complete */
        compare_result(tasks.task[i], scratch, 1);
    }
}

__global__ void look_for_sums(struct look_tasks tasks)
{
    add_sums(tasks);
}

/* After the sums.  All blocks are on the GPU at the same time. */
__global__ void __launch_bounds__(THREADS, COMPARE_BLOCKS) compare_all(struct look_tasks tasks, struct check_scratch *scratch)
{
    for (unsigned i = 0; i < tasks.n; i++) {
        if (holds_known(tasks.task[i]))
            continue;
        compare_elements(tasks.task[i], blockIdx.x, gridDim.x, scratch);
        wait_for_grid(&looks_barrier);
        if (blockIdx.x == 0)
            compare_result(tasks.task[i], scratch, (int)gridDim.x);
        wait_for_grid(&looks_barrier);
    }
}

} // namespace

cudaError_t kernel_look_blocks(int *out)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(out, compare_all, THREADS, 0);
}

cudaError_t kernel_look(const struct kernel_limits *limits, const struct look_tasks *tasks,
                        struct check_scratch *scratch, cudaStream_t stream)
{
    struct look_tasks copy = *tasks;
    bool alone = true;
    void *args[] = { &copy, &scratch };
    unsigned blocks = 1;

    for (unsigned i = 0; i < tasks->n; i++) {
        unsigned wanted = blocks_for(tasks->task[i].count);

        blocks = wanted > blocks ? wanted : blocks;
        alone = alone && tasks->task[i].known != 0 && tasks->task[i].count <= ALONE_ELEMENTS;
    }
    if (alone) {
        look_alone<<<blocks, THREADS, 0, stream>>>(copy, scratch);
        return cudaGetLastError();
    }
    look_for_sums<<<blocks, THREADS, 0, stream>>>(copy);
    if (blocks > limits->look_blocks)
        blocks = limits->look_blocks;
    return cudaLaunchCooperativeKernel((const void *)compare_all, dim3(blocks), dim3(THREADS), args,
                                       0, stream);
}
