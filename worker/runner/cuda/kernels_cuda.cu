#include "worker/runner/cuda/kernels_cuda.h"

namespace
{

constexpr int THREADS = 256;
/* What one block compares in some milliseconds. */
constexpr int64_t ALONE_ELEMENTS = 1 << 22;
constexpr int WRITE_THREADS = 1024; /* a multiprocessor has one block */

unsigned blocks_for(int64_t n)
{
    int64_t blocks = (n + THREADS - 1) / THREADS;

    return (unsigned)(blocks < 1 ? 1 : blocks > CHECK_BLOCKS ? CHECK_BLOCKS : blocks);
}

__device__ int64_t first_index()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ int64_t index_step()
{
    return (int64_t)gridDim.x * blockDim.x;
}

__global__ void fill_buffer(void *base, enum element_type type, int64_t count, struct fill fill,
                            uint64_t key)
{
    for (int64_t i = first_index(); i < count; i += index_step())
        element_store(base, type, i, fill_value(&fill, key, i));
}

__global__ void convert_buffer(void *to, enum element_type to_type, const void *from,
                               enum element_type from_type, int64_t count)
{
    for (int64_t i = first_index(); i < count; i += index_step())
        element_store(to, to_type, i, element_load(from, from_type, i));
}

/* All blocks of a grid wait for each other here; they must be on the GPU at the same time, so the
 * launch is cooperative.  cooperative_groups.h has such a barrier, too, but nvcc takes longer for
 * that header than for this whole file. */
struct grid_barrier {
    unsigned arrived; /* blocks; 0 when all have */
    unsigned passed;  /* how often all have */
};

__device__ struct grid_barrier locals_barrier, looks_barrier;

__device__ void wait_for_grid(struct grid_barrier *barrier)
{
    __syncthreads(); /* what the block's threads wrote comes before its arrival */
    if (threadIdx.x == 0) {
        unsigned passed = *(volatile unsigned *)&barrier->passed;

        __threadfence();
        if (atomicAdd(&barrier->arrived, 1) == gridDim.x - 1) {
            *(volatile unsigned *)&barrier->arrived = 0;
            __threadfence();
            *(volatile unsigned *)&barrier->passed = passed + 1;
        } else {
            while (*(volatile unsigned *)&barrier->passed == passed)
                ;
        }
        __threadfence();
    }
    __syncthreads(); /* the others go on when all blocks have arrived */
}

/* Two words, 16 bytes, at a time; 'bytes' after the last of them one at a time. */
__device__ void write_bytes(const struct write_task &task)
{
    unsigned char *to = (unsigned char *)task.to;
    const unsigned char *from = (const unsigned char *)task.from;
    bool aligned = ((uintptr_t)to | (uintptr_t)from) % sizeof(ulonglong2) == 0;
    int64_t pairs = aligned ? (int64_t)(task.bytes / sizeof(ulonglong2)) : 0;

    for (int64_t i = first_index(); i < pairs; i += index_step()) {
        ulonglong2 pair = { task.word, task.word };

        if (from)
            pair = ((const ulonglong2 *)from)[i];
        else if (task.key)
            pair = { fill_mix(task.key + 2 * (uint64_t)i),
                     fill_mix(task.key + 2 * (uint64_t)i + 1) };
        ((ulonglong2 *)to)[i] = pair;
    }
    for (int64_t i = pairs * (int64_t)sizeof(ulonglong2) + first_index(); i < (int64_t)task.bytes;
         i += index_step())
        to[i] = from ? from[i] : (unsigned char)(task.word >> (i % 8 * 8));
}

/* A block has all of its multiprocessor's shared memory, so each has one block. */
__global__ void write_all(struct write_tasks tasks, unsigned smem_words)
{
    extern __shared__ volatile unsigned memory[];

    for (unsigned i = threadIdx.x; i < smem_words; i += blockDim.x)
        memory[i] = tasks.unwritten;
    for (unsigned i = 0; i < tasks.n; i++)
        write_bytes(tasks.task[i]);
}

/* All blocks are on the GPU at the same time, so that each thread has other memory. */
__global__ void __launch_bounds__(THREADS) write_local(unsigned word)
{
    unsigned words[KERNELS_LOCAL_BYTES / sizeof(unsigned)];
    const unsigned at = (unsigned)__cvta_generic_to_local(words);

    /* ptxas would leave out stores that nobody reads, and a block's lines in the first cache are
     * dropped when it ends */
    for (unsigned i = 0; i < sizeof(words); i += sizeof(unsigned))
        asm volatile("st.local.cg.u32 [%0], %1;" : : "r"(at + i), "r"(word) : "memory");
    wait_for_grid(&locals_barrier);
}

/* Differs for each place, so that words that have changed places are noticed. */
__device__ unsigned long long sum_word(uint64_t word, int64_t i)
{
    uint64_t x = word + (uint64_t)i * 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 29;
}

/* Integer addition is commutative, so the order of the atomics does not matter. */
__device__ void add_sum(const unsigned char *payload, int64_t bytes, unsigned long long *out)
{
    const ulonglong2 *pairs = (const ulonglong2 *)payload;
    int64_t n_pairs = bytes / (int64_t)sizeof(ulonglong2), rest = n_pairs * 16;
    unsigned long long sum = 0;
    __shared__ unsigned long long block;

    if (threadIdx.x == 0)
        block = 0;
    __syncthreads(); /* it is 0 before a warp adds to it */
#pragma unroll 4
    for (int64_t i = first_index(); i < n_pairs; i += index_step()) {
        ulonglong2 pair = __ldcs(&pairs[i]); /* the caches are for the kernel */

        sum += sum_word(pair.x, 2 * i) + sum_word(pair.y, 2 * i + 1);
    }
    if (first_index() < bytes - rest)
        sum += sum_word(payload[rest + first_index()], -1 - first_index());
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, lane);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&block, sum);
    __syncthreads(); /* all warps have added theirs */
    if (threadIdx.x == 0)
        atomicAdd(out, block);
}

__global__ void sum_payload(const unsigned char *payload, int64_t bytes, unsigned long long *out)
{
    add_sum(payload, bytes, out);
}

__device__ void scan_byte_after(const unsigned char *end, int64_t i, unsigned char beside,
                                struct scan *out)
{
    if (end[i] != beside)
        atomicMin(&out->after, (unsigned long long)i + 1);
}

/* The end of what lies behind is a multiple of 8, its beginning need not be. */
__global__ void scan_guards(const unsigned char *payload, int64_t bytes, int64_t before,
                            int64_t after, unsigned char beside, struct scan *out)
{
    const unsigned char *end = payload + bytes;
    const int64_t odd = after % (int64_t)sizeof(uint64_t);
    const uint64_t word = 0x0101010101010101u * beside;

    for (int64_t i = first_index(); i < before; i += index_step())
        if (payload[-1 - i] != beside)
            atomicMin(&out->before, (unsigned long long)i + 1);
    if (first_index() < odd)
        scan_byte_after(end, first_index(), beside, out);
    for (int64_t i = odd + first_index() * 8; i < after; i += index_step() * 8)
        for (int64_t k = i; *(const uint64_t *)(end + i) != word && k < i + 8; k++)
            scan_byte_after(end, k, beside, out);
}

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

__device__ unsigned long long now_ns()
{
    unsigned long long now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__global__ void wait_for_host(volatile struct gate *gate, unsigned number,
                              unsigned long long limit_ns)
{
    unsigned long long begin = now_ns();

    while ((int)(gate->open - number) < 0) {
        if (now_ns() - begin > limit_ns) {
            gate->expired = number;
            return;
        }
    }
}

} // namespace

cudaError_t kernel_fill(void *base, enum element_type type, int64_t count, const struct fill *fill,
                        uint64_t key, cudaStream_t stream)
{
    fill_buffer<<<blocks_for(count), THREADS, 0, stream>>>(base, type, count, *fill, key);
    return cudaGetLastError();
}

cudaError_t kernel_convert(void *to, enum element_type to_type, const void *from,
                           enum element_type from_type, int64_t count, cudaStream_t stream)
{
    convert_buffer<<<blocks_for(count), THREADS, 0, stream>>>(to, to_type, from, from_type, count);
    return cudaGetLastError();
}

cudaError_t kernel_scan(const void *payload, size_t bytes, size_t before, size_t after,
                        unsigned char beside, struct scan *out, cudaStream_t stream)
{
    const unsigned char *at = (const unsigned char *)payload;
    cudaError_t rc = cudaMemsetAsync(out, 0xff, sizeof(*out), stream);

    if (rc == cudaSuccess)
        rc = cudaMemsetAsync(&out->sum, 0, sizeof(out->sum), stream);
    if (rc != cudaSuccess)
        return rc;
    sum_payload<<<blocks_for((int64_t)bytes / 8), THREADS, 0, stream>>>(at, (int64_t)bytes,
                                                                        &out->sum);
    scan_guards<<<blocks_for((int64_t)before), THREADS, 0, stream>>>(
        at, (int64_t)bytes, (int64_t)before, (int64_t)after, beside, out);
    return cudaGetLastError();
}

cudaError_t kernel_limits(int gpu, struct kernel_limits *out)
{
    int multiprocessors = 0, smem = 0, blocks = 0, locals = 0;
    cudaError_t rc = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, gpu);

    if (rc == cudaSuccess)
        rc = cudaDeviceGetAttribute(&smem, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu);
    if (rc == cudaSuccess)
        rc = cudaFuncSetAttribute(write_all, cudaFuncAttributeMaxDynamicSharedMemorySize, smem);
    if (rc == cudaSuccess)
        rc = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, look_at, THREADS, 0);
    if (rc == cudaSuccess)
        rc = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&locals, write_local, THREADS, 0);
    if (rc != cudaSuccess)
        return rc;
    blocks *= multiprocessors;
    *out = { (unsigned)multiprocessors, (unsigned)smem,
             (unsigned)(blocks < CHECK_BLOCKS ? blocks : CHECK_BLOCKS),
             (unsigned)(locals * multiprocessors) };
    return rc;
}

cudaError_t kernel_write(const struct kernel_limits *limits, const struct write_tasks *tasks,
                         cudaStream_t stream)
{
    write_all<<<limits->multiprocessors, WRITE_THREADS, limits->smem, stream>>>(
        *tasks, limits->smem / (unsigned)sizeof(unsigned));
    return cudaGetLastError();
}

cudaError_t kernel_write_local(const struct kernel_limits *limits, unsigned word,
                               cudaStream_t stream)
{
    void *args[] = { &word };

    return cudaLaunchCooperativeKernel((const void *)write_local, dim3(limits->local_blocks),
                                       dim3(THREADS), args, 0, stream);
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

cudaError_t kernel_wait(struct gate *gate, unsigned number, unsigned long long limit_ns,
                        cudaStream_t stream)
{
    wait_for_host<<<1, 1, 0, stream>>>(gate, number, limit_ns);
    return cudaGetLastError();
}
