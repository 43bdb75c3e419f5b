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

__global__ void convert_buffer(void *to, enum element_type to_type, const void *from,
                               enum element_type from_type, int64_t count)
{
    for (int64_t i = first_index(); i < count; i += index_step())
        element_store(to, to_type, i, element_load(from, from_type, i));
}

/* Integer addition is commutative, so the order of the atomics does not matter. */
__global__ void scan_payload(const unsigned char *payload, int64_t bytes, struct scan *out)
{
    const unsigned long long *words = (const unsigned long long *)payload;
    int64_t n_words = bytes / 8;
    unsigned long long sum = 0;

    for (int64_t i = first_index(); i < n_words; i += index_step())
        sum += fill_mix(words[i] + (uint64_t)i * 0x9e3779b97f4a7c15u);
    if (first_index() < bytes % 8) {
        int64_t at = n_words * 8 + first_index();

        sum += fill_mix(payload[at] + (uint64_t)at * 0xd1342543de82ef95u);
    }
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, lane);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&out->sum, sum);
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
    return part[0];
}

__global__ void check_sums(const void *out, enum element_type type, const double *ref,
                           int64_t count, struct check_how how, struct check_scratch *scratch)
{
    double error_sum = 0, ref_sum = 0;

    for (int64_t i = first_index(); i < count; i += index_step()) {
        error_sum += check_square_error(how, element_load(out, type, i), ref[i]);
        ref_sum += check_square(how, ref[i]);
    }
    error_sum = block_sum(error_sum);
    ref_sum = block_sum(ref_sum);
    if (threadIdx.x == 0) {
        scratch->error_sum[blockIdx.x] = error_sum;
        scratch->ref_sum[blockIdx.x] = ref_sum;
    }
}

/* One block: add up the sums of the blocks, and compute the result. */
__global__ void check_rms(int64_t count, int n_blocks, struct check_scratch *scratch)
{
    double error_sum = 0, ref_sum = 0;

    for (int i = threadIdx.x; i < n_blocks; i += THREADS) {
        error_sum += scratch->error_sum[i];
        ref_sum += scratch->ref_sum[i];
    }
    error_sum = block_sum(error_sum);
    ref_sum = block_sum(ref_sum);
    if (threadIdx.x == 0) {
        scratch->rms = sqrt(ref_sum / (double)count);
        scratch->check.relative_l2 = check_relative_l2(error_sum, ref_sum);
    }
}

__global__ void check_elements(const void *out, enum element_type type, const double *ref,
                               int64_t count, struct check_how how,
                               struct check_scratch *scratch)
{
    struct worst worst = { 0, -1 };
    double rms = scratch->rms;

    for (int64_t i = first_index(); i < count; i += index_step()) {
        double error = check_element_error(how, out, type, i, ref[i], rms);

        worst = worse_of(worst, { error, i });
    }
    worst = block_worst(worst);
    if (threadIdx.x == 0) {
        scratch->error[blockIdx.x] = worst.error;
        scratch->at[blockIdx.x] = worst.at;
    }
}

/* One block: the worst error of the blocks. */
__global__ void check_worst(const void *out, enum element_type type, const double *ref,
                            int n_blocks, struct check_scratch *scratch)
{
    struct worst worst = { 0, -1 };

    for (int i = threadIdx.x; i < n_blocks; i += THREADS)
        worst = worse_of(worst, { scratch->error[i], scratch->at[i] });
    worst = block_worst(worst);
    if (threadIdx.x == 0) {
        scratch->check.max_error = worst.error;
        scratch->check.max_at = worst.at;
        scratch->check.got = element_load(out, type, worst.at);
        scratch->check.want = ref[worst.at];
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

cudaError_t kernel_scan(const void *payload, size_t bytes, size_t guard, struct scan *out,
                        cudaStream_t stream)
{
    const unsigned char *at = (const unsigned char *)payload;
    cudaError_t rc = cudaMemsetAsync(out, 0xff, sizeof(*out), stream);

    if (rc == cudaSuccess)
        rc = cudaMemsetAsync(&out->sum, 0, sizeof(out->sum), stream);
    if (rc != cudaSuccess)
        return rc;
    scan_payload<<<blocks_for((int64_t)bytes / 8), THREADS, 0, stream>>>(at, (int64_t)bytes, out);
    scan_guards<<<blocks_for((int64_t)guard), THREADS, 0, stream>>>(at, (int64_t)bytes,
                                                                    (int64_t)guard, out);
    return cudaGetLastError();
}

cudaError_t kernel_check(const void *out, enum element_type type, const double *ref, int64_t count,
                         struct check_how how, struct check_scratch *scratch,
                         cudaStream_t stream)
{
    unsigned n = blocks_for(count);

    check_sums<<<n, THREADS, 0, stream>>>(out, type, ref, count, how, scratch);
    check_rms<<<1, THREADS, 0, stream>>>(count, (int)n, scratch);
    check_elements<<<n, THREADS, 0, stream>>>(out, type, ref, count, how, scratch);
    check_worst<<<1, THREADS, 0, stream>>>(out, type, ref, (int)n, scratch);
    return cudaGetLastError();
}

cudaError_t kernel_wait(struct gate *gate, unsigned number, unsigned long long limit_ns,
                        cudaStream_t stream)
{
    wait_for_host<<<1, 1, 0, stream>>>(gate, number, limit_ns);
    return cudaGetLastError();
}
