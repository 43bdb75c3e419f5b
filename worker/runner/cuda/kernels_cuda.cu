#include "worker/runner/cuda/gate_cuda.h"
#include "worker/runner/cuda/kernels_grid.hh"

namespace
{

constexpr int WRITE_THREADS = 1024; /* a multiprocessor has one block */

__device__ struct grid_barrier locals_barrier;

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

__device__ void note_damage(unsigned long long *kept, int64_t distance)
{
    atomicMax(kept, SCAN_NO_DAMAGE - (unsigned long long)distance);
}

__device__ void scan_byte_after(const struct scan_task &task, int64_t i, struct scan *out)
{
    if (task.payload[task.bytes + i] != task.beside)
        note_damage(&out->after, i + 1);
}

/* The end of what lies behind is a multiple of 8, its beginning need not be. */
__device__ void scan_guards(const struct scan_task &task, struct scan *out)
{
    const unsigned char *end = task.payload + task.bytes;
    const int64_t odd = task.after % (int64_t)sizeof(uint64_t);
    const uint64_t word = 0x0101010101010101u * task.beside;

    for (int64_t i = first_index(); i < task.before; i += index_step())
        if (task.payload[-1 - i] != task.beside)
            note_damage(&out->before, i + 1);
    if (first_index() < odd)
        scan_byte_after(task, first_index(), out);
    for (int64_t i = odd + first_index() * 8; i < task.after; i += index_step() * 8)
        for (int64_t k = i; *(const uint64_t *)(end + i) != word && k < i + 8; k++)
            scan_byte_after(task, k, out);
}

__global__ void scan_all(struct scan_tasks tasks, struct scan *out)
{
    for (unsigned i = 0; i < tasks.n; i++) {
        const struct scan_task &task = tasks.task[i];

        if (task.sums)
            add_sum(task.payload, task.bytes, &out[i].sum);
        scan_guards(task, &out[i]);
    }
}

__global__ void seal(double *ref, int64_t count, uint64_t key)
{
    for (int64_t i = first_index(); i < count; i += index_step())
        ref[i] = unsealed(ref, i, key);
}

/* 'norm' is all 0 before.  Numbers that are not negative have the order of their bits. */
__global__ void norm_most(const double *ref, int64_t count, uint64_t key, struct check_how how,
                          struct check_norm *norm)
{
    double most = 0, left_out = 0;

    for (int64_t i = first_index(); i < count; i += index_step()) {
        const double value = unsealed(ref, i, key);

        most = check_most(&how, most, value);
        left_out += check_is_left_out(&how, value);
    }
    most = block_max(most);
    left_out = block_sum(left_out);
    if (threadIdx.x != 0)
        return;
    atomicMax((unsigned long long *)&norm->most, (unsigned long long)__double_as_longlong(most));
    atomicAdd((unsigned long long *)&norm->left_out, (unsigned long long)left_out);
}

__global__ void norm_sums(const double *ref, int64_t count, uint64_t key, struct check_how how,
                          const struct check_norm *norm, struct check_scratch *scratch)
{
    const double scale = check_scale(norm->most);
    double sum = 0;

    for (int64_t i = first_index(); i < count; i += index_step())
        sum += check_square(&how, scale, unsealed(ref, i, key));
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        scratch->part[blockIdx.x].sum = sum;
}

/* One block: add up the sums of the blocks. */
__device__ double total(const struct check_scratch *scratch, int n_blocks)
{
    double sum = 0;

    for (int i = threadIdx.x; i < n_blocks; i += THREADS)
        sum += scratch->part[i].sum;
    return block_sum(sum);
}

__global__ void norm_result(int64_t count, int n_blocks, const struct check_scratch *scratch,
                            struct check_norm *norm)
{
    double sum = total(scratch, n_blocks);

    if (threadIdx.x != 0)
        return;
    norm->scale = check_scale(norm->most);
    norm->square_sum = sum;
    norm->rms = check_rms(norm, count);
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

cudaError_t kernel_scan(const struct scan_tasks *tasks, struct scan out[SCAN_TASKS],
                        cudaStream_t stream)
{
    unsigned blocks = 1;
    cudaError_t rc = cudaMemsetAsync(out, 0, tasks->n * sizeof(*out), stream);

    if (rc != cudaSuccess)
        return rc;
    for (unsigned i = 0; i < tasks->n; i++) {
        const struct scan_task &task = tasks->task[i];
        unsigned wanted = blocks_for(task.sums && task.bytes / 8 > task.before ? task.bytes / 8
                                                                               : task.before);

        blocks = wanted > blocks ? wanted : blocks;
    }
    scan_all<<<blocks, THREADS, 0, stream>>>(*tasks, out);
    return cudaGetLastError();
}

cudaError_t kernel_seal(double *ref, int64_t count, uint64_t key, cudaStream_t stream)
{
    seal<<<blocks_for(count), THREADS, 0, stream>>>(ref, count, key);
    return cudaGetLastError();
}

cudaError_t kernel_norm(const double *ref, int64_t count, uint64_t key,
                        const struct check_how *how, struct check_norm *norm,
                        struct check_scratch *scratch, cudaStream_t stream)
{
    unsigned n = blocks_for(count);
    cudaError_t rc = cudaMemsetAsync(norm, 0, sizeof(*norm), stream);

    if (rc != cudaSuccess)
        return rc;
    norm_most<<<n, THREADS, 0, stream>>>(ref, count, key, *how, norm);
    norm_sums<<<n, THREADS, 0, stream>>>(ref, count, key, *how, norm, scratch);
    norm_result<<<1, THREADS, 0, stream>>>(count, (int)n, scratch, norm);
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
        rc = kernel_look_blocks(&blocks);
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

cudaError_t kernel_wait(struct gate *gate, unsigned number, unsigned long long limit_ns,
                        cudaStream_t stream)
{
    wait_for_host<<<1, 1, 0, stream>>>(gate, number, limit_ns);
    return cudaGetLastError();
}
