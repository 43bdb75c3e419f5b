/* reference.cu - the reference of flash_attention, with one thread for each query row
 *
 * It computes in fp64 from the fp16 inputs.  A block takes 'keys' rows of K and of V at a time into
 * shared memory, as fp64, because each of its threads would convert them again.  When a row meets a
 * larger score, it scales what it has by then, as an online softmax does (Milakov and Gimelshein,
 * 2018).
 */
#include <fa/fa.h>

using namespace fa;

constexpr int keys = 32;          /* of a step */
constexpr int part = 16;          /* elements of a row that are in registers */
constexpr int head_dim_max = 128; /* a multiple of it */

/* Rows first to first + keys - 1 of [seq, head_dim]; zeros where there is no element. */
__device__ __forceinline__ void load(double (&tile)[keys][head_dim_max], const half *rows,
                                     int first, int seq, int head_dim)
{
    __syncthreads(); /* nobody reads what was there */
    for (int i = int(threadIdx.x); i < keys * head_dim_max; i += int(blockDim.x)) {
        const int j = first + i / head_dim_max, d = i % head_dim_max;
        const bool inside = j < seq && d < head_dim;

        tile[i / head_dim_max][d] =
            inside ? double(cvt_f32_f16(rows[size_t(j) * head_dim + d])) : 0;
    }
    __syncthreads();
}

extern "C" __global__ void
flash_attention_reference(const half *Q, /* [batch, heads, seq, head_dim], contiguous */
                          const half *K, /* [batch, heads / group, seq, head_dim] */
                          const half *V, /* the same */
                          double *out,   /* as Q */
                          int seq, int causal, int heads /* in all batches */, int group,
                          int head_dim)
{
    __shared__ double tile[keys][head_dim_max];
    const int row = int(blockIdx.x * blockDim.x + threadIdx.x);
    const int rows_end = min(seq, int((blockIdx.x + 1) * blockDim.x));
    const size_t head = size_t(blockIdx.y) * seq * head_dim;
    const size_t kv_head = size_t(blockIdx.y / u32(group)) * seq * head_dim;
    /* a row beyond the last one does as the last one does, and writes nothing */
    const size_t at = head + size_t(min(row, seq - 1)) * head_dim;

    if (blockIdx.y >= u32(heads))
        return;

    double top = -1e308, sum = 0, o[head_dim_max] = {};
    for (int first = 0; first < (causal ? rows_end : seq); first += keys) {
        double weights[keys] = {}; /* first the scores */

        load(tile, K + kv_head, first, seq, head_dim);
        for (int p = 0; p < head_dim; p += part) {
            double q[part];

#pragma unroll
            for (int d = 0; d < part; d++)
                q[d] = p + d < head_dim ? double(cvt_f32_f16(Q[at + p + d])) : 0;
#pragma unroll
            for (int j = 0; j < keys; j++)
#pragma unroll
                for (int d = 0; d < part; d++)
                    weights[j] += q[d] * tile[j][p + d];
        }

        const int n = (causal ? min(row + 1, seq) : seq) - first; /* of them count */
        const double before = top;
#pragma unroll
        for (int j = 0; j < keys; j++) {
            weights[j] /= sqrt(double(head_dim));
            top = j < n ? max(top, weights[j]) : top;
        }
        const double scale = exp(before - top);
        sum *= scale;
#pragma unroll
        for (int j = 0; j < keys; j++) {
            weights[j] = j < n ? exp(weights[j] - top) : 0;
            sum += weights[j];
        }

        load(tile, V + kv_head, first, seq, head_dim);
        for (int p = 0; p < head_dim; p += part) {
            double of_part[part];

#pragma unroll
            for (int d = 0; d < part; d++)
                of_part[d] = o[p + d] * scale;
#pragma unroll
            for (int j = 0; j < keys; j++)
#pragma unroll
                for (int d = 0; d < part; d++)
                    of_part[d] += weights[j] * tile[j][p + d];
#pragma unroll
            for (int d = 0; d < part; d++)
                o[p + d] = of_part[d];
        }
    }
    if (row < seq)
        for (int d = 0; d < head_dim; d++)
            out[at + d] = o[d] / sum;
}
