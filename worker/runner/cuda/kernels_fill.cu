#include "worker/runner/cuda/kernels_grid.hh"

namespace
{

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
