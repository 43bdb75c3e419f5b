/* vector_add.cu - out[i] = a[i] + b[i] in fp32
 *
 * A block owns TILE = BLOCK_SIZE * ITEMS consecutive elements, a thread ITEMS
 * of them: single elements BLOCK_SIZE apart, or with VECTOR groups of four
 * neighbours, moved 16 bytes at a time.  Neighbouring threads touch
 * neighbouring addresses either way.  Any n >= 1; the last block is guarded.
 */
#include <fa/fa.h>

using namespace fa;

constexpr int block_size = BLOCK_SIZE; /* threads a block */
constexpr int items = ITEMS;           /* elements a thread */
constexpr bool vector = VECTOR;        /* 16-byte accesses */
constexpr int tile = TILE;             /* elements a block */

constexpr int width = vector ? 4 : 1; /* elements an access moves */

static_assert(items % width == 0, "a thread owns whole 16-byte groups");
static_assert(tile == block_size * items, "the launch covers every element once");

/* 16-byte groups start at multiples of four elements, so with arrays that are
 * 16-byte aligned every group is. */
__device__ __forceinline__ void add_group(const float *a, const float *b, float *out, unsigned i)
{
    vec16 x = ld_global_16(a + i);
    vec16 y = ld_global_16(b + i);

    for (int k = 0; k < 4; k++)
        x.x[k] = __float_as_uint(__uint_as_float(x.x[k]) + __uint_as_float(y.x[k]));
    st_global_16(out + i, x);
}

extern "C" __global__ void __launch_bounds__(block_size)
    vector_add(const float *__restrict__ a, /* [n] */
               const float *__restrict__ b, /* [n] */
               float *__restrict__ out,     /* [n] */
               int n)
{
    const unsigned end = unsigned(n); /* unsigned: i may pass n, up to 2^31 + tile */
    const unsigned first = blockIdx.x * tile + threadIdx.x * width;

#pragma unroll
    for (int j = 0; j < items / width; j++) {
        const unsigned i = first + j * block_size * width;

        if (vector && i + width <= end) {
            add_group(a, b, out, i);
            continue;
        }
        for (unsigned k = i; k < i + width && k < end; k++)
            out[k] = a[k] + b[k];
    }
}
