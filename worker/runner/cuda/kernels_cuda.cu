#include "worker/runner/cuda/kernels_cuda.h"

namespace
{

constexpr int THREADS = 256;

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

/* 'word' or, of POISON_RANDOM, any; the bytes after the last word are of 'word'. */
__global__ void poison_buffer(void *base, int64_t bytes, uint64_t word, struct poison poison)
{
    bool random = poison.kind == POISON_RANDOM;
    uint64_t *words = (uint64_t *)base;
    int64_t n_words = bytes / 8;

    for (int64_t i = first_index(); i < n_words; i += index_step())
        words[i] = random ? fill_bits(poison.key, i) : word;
    if (first_index() < bytes % 8)
        ((unsigned char *)base)[n_words * 8 + first_index()] =
            (unsigned char)(word >> (8 * first_index()));
}

__global__ void convert_buffer(void *to, enum element_type to_type, const void *from,
                               enum element_type from_type, int64_t count)
{
    for (int64_t i = first_index(); i < count; i += index_step())
        element_store(to, to_type, i, element_load(from, from_type, i));
}

/* Integer addition is commutative, so the order of the atomics does not matter. */
__global__ void sum_payload(const unsigned char *payload, int64_t bytes, unsigned long long *out)
{
    const unsigned long long *words = (const unsigned long long *)payload;
    int64_t n_words = bytes / 8;
    unsigned long long sum = 0;
    __shared__ unsigned long long block;

    if (threadIdx.x == 0)
        block = 0;
    __syncthreads(); /* it is 0 before a warp adds to it */
    for (int64_t i = first_index(); i < n_words; i += index_step())
        sum += fill_mix(words[i] + (uint64_t)i * 0x9e3779b97f4a7c15u);
    if (first_index() < bytes % 8) {
        int64_t at = n_words * 8 + first_index();

        sum += fill_mix(payload[at] + (uint64_t)at * 0xd1342543de82ef95u);
    }
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, lane);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&block, sum);
    __syncthreads(); /* all warps have added theirs */
    if (threadIdx.x == 0)
        atomicAdd(out, block);
}

__global__ void scan_guards(const unsigned char *payload, int64_t bytes, int64_t guard,
                            struct scan *out)
{
    for (int64_t i = first_index(); i < guard; i += index_step()) {
        if (payload[-1 - i] != ELEMENT_POISON)
            atomicMin(&out->before, (unsigned long long)i + 1);
        if (payload[bytes + i] != ELEMENT_POISON)
            atomicMin(&out->after, (unsigned long long)i + 1);
    }
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

__global__ void norm_sums(const double *ref, int64_t count, bool infinities,
                          struct check_scratch *scratch)
{
    double sum = 0;

    for (int64_t i = first_index(); i < count; i += index_step())
        sum += check_square(infinities, ref[i]);
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

/* It was found right before, or the guard says that all bits are the same. */
__device__ bool is_known(const struct device_seen *seen, uint64_t known)
{
    return known != 0 && seen->sum == known;
}

__global__ void check_elements(struct check_of of, uint64_t known, const struct device_seen *seen,
                               struct check_scratch *scratch)
{
    struct worst worst = { 0, -1 }, relative = { 0, -1 };
    double rms = of.norm->rms, sum = 0;

    if (is_known(seen, known))
        return;
    for (int64_t i = first_index(); i < of.count; i += index_step()) {
        const struct check_element element =
            check_element(&of.how, of.out, of.type, i, of.ref[i], rms);

        sum += check_square_error(of.how.infinities, element_load(of.out, of.type, i), of.ref[i]);
        worst = worse_of(worst, { check_rank(&of.how, &element), i });
        relative = worse_of(relative, { element.relative, i });
    }
    sum = block_sum(sum);
    worst = block_worst(worst);
    relative = block_worst(relative);
    if (threadIdx.x == 0) {
        scratch->sum[blockIdx.x] = sum;
        scratch->rank[blockIdx.x] = worst.error;
        scratch->at[blockIdx.x] = worst.at;
        scratch->relative[blockIdx.x] = relative.error;
    }
}

/* One block: the sum and the worst error of the blocks. */
__global__ void check_result(struct check_of of, uint64_t known, int n_blocks,
                             const struct check_scratch *scratch, struct device_seen *seen)
{
    struct worst worst = { 0, -1 }, relative = { 0, -1 };
    double sum;

    if (is_known(seen, known))
        return;
    for (int i = threadIdx.x; i < n_blocks; i += THREADS) {
        worst = worse_of(worst, { scratch->rank[i], scratch->at[i] });
        relative = worse_of(relative, { scratch->relative[i], i });
    }
    worst = block_worst(worst);
    relative = block_worst(relative);
    sum = total(scratch, n_blocks);
    if (threadIdx.x == 0) {
        const double want = of.ref[worst.at];
        const struct check_element element =
            check_element(&of.how, of.out, of.type, worst.at, want, of.norm->rms);

        seen->check = { check_relative_l2(sum, of.norm->square_sum),
                        relative.error,
                        worst.at,
                        element_load(of.out, of.type, worst.at),
                        want,
                        element.rule,
                        element.error };
        seen->compared = true;
    }
}

/* A block has all of its multiprocessor's memory, so each has one block. */
__global__ void scrub(unsigned words, unsigned key)
{
    extern __shared__ volatile unsigned memory[];

    for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
        memory[i] = key + i;
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

cudaError_t kernel_scan(const void *payload, size_t bytes, size_t guard, struct scan *out,
                        cudaStream_t stream)
{
    const unsigned char *at = (const unsigned char *)payload;
    cudaError_t rc = cudaMemsetAsync(out, 0xff, sizeof(*out), stream);

    if (rc == cudaSuccess)
        rc = cudaMemsetAsync(&out->sum, 0, sizeof(out->sum), stream);
    if (rc != cudaSuccess)
        return rc;
    sum_payload<<<blocks_for((int64_t)bytes / 8), THREADS, 0, stream>>>(at, (int64_t)bytes,
                                                                        &out->sum);
    scan_guards<<<blocks_for((int64_t)guard), THREADS, 0, stream>>>(at, (int64_t)bytes,
                                                                    (int64_t)guard, out);
    return cudaGetLastError();
}

cudaError_t kernel_poison(void *base, size_t bytes, enum element_type type,
                          const struct poison *poison, cudaStream_t stream)
{
    if (poison->kind == POISON_UNWRITTEN)
        return cudaMemsetAsync(base, ELEMENT_POISON, bytes, stream);
    poison_buffer<<<blocks_for((int64_t)bytes / 8), THREADS, 0, stream>>>(
        base, (int64_t)bytes, poison_word(poison, type, 0), *poison);
    return cudaGetLastError();
}

cudaError_t kernel_sum(const void *payload, size_t bytes, struct device_seen *seen,
                       cudaStream_t stream)
{
    sum_payload<<<blocks_for((int64_t)bytes / 8), THREADS, 0, stream>>>(
        (const unsigned char *)payload, (int64_t)bytes, (unsigned long long *)&seen->sum);
    return cudaGetLastError();
}

cudaError_t kernel_norm(const double *ref, int64_t count, bool infinities,
                        struct check_norm *norm, struct check_scratch *scratch,
                        cudaStream_t stream)
{
    unsigned n = blocks_for(count);

    norm_sums<<<n, THREADS, 0, stream>>>(ref, count, infinities, scratch);
    norm_result<<<1, THREADS, 0, stream>>>(count, (int)n, scratch, norm);
    return cudaGetLastError();
}

cudaError_t kernel_check(const struct check_of *of, uint64_t known, struct device_seen *seen,
                         struct check_scratch *scratch, cudaStream_t stream)
{
    unsigned n = blocks_for(of->count);

    check_elements<<<n, THREADS, 0, stream>>>(*of, known, seen, scratch);
    check_result<<<1, THREADS, 0, stream>>>(*of, known, (int)n, scratch, seen);
    return cudaGetLastError();
}

cudaError_t kernel_scrub_allow(size_t bytes)
{
    return cudaFuncSetAttribute(scrub, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

cudaError_t kernel_scrub(unsigned multiprocessors, size_t bytes, unsigned key, cudaStream_t stream)
{
    scrub<<<multiprocessors, THREADS, bytes, stream>>>((unsigned)(bytes / sizeof(unsigned)), key);
    return cudaGetLastError();
}

cudaError_t kernel_wait(struct gate *gate, unsigned number, unsigned long long limit_ns,
                        cudaStream_t stream)
{
    wait_for_host<<<1, 1, 0, stream>>>(gate, number, limit_ns);
    return cudaGetLastError();
}
