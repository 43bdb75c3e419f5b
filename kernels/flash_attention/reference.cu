/* reference.cu - the reference of flash_attention, with one thread for each query row
 *
 * It computes in fp64 from the fp16 inputs.  It computes the scores twice: once for their maximum
 * and once for the weights.
 */
#include <fa/fa.h>

using namespace fa;

constexpr int head_dim_max = 128;

__device__ __forceinline__ double score(const float (&q)[head_dim_max], const half *k, int head_dim)
{
    double sum = 0;

    for (int d = 0; d < head_dim; d++)
        sum += double(q[d]) * double(cvt_f32_f16(k[d]));
    return sum / sqrt(double(head_dim));
}

extern "C" __global__ void
flash_attention_reference(const half *Q, /* [batch, heads, seq, head_dim], contiguous */
                          const half *K, /* [batch, heads / group, seq, head_dim] */
                          const half *V, /* the same */
                          double *out,   /* as Q */
                          int seq, int causal, int heads /* in all batches */, int group,
                          int head_dim)
{
    const int row = int(blockIdx.x * blockDim.x + threadIdx.x);
    const size_t head_elements = size_t(seq) * head_dim;
    const size_t head = blockIdx.y * head_elements;
    const size_t kv_head = blockIdx.y / u32(group) * head_elements;

    if (row >= seq || blockIdx.y >= u32(heads))
        return;
    const int end = causal ? row + 1 : seq;
    float q[head_dim_max];
    for (int d = 0; d < head_dim; d++)
        q[d] = cvt_f32_f16(Q[head + size_t(row) * head_dim + d]);

    double top = score(q, K + kv_head, head_dim);
    for (int j = 1; j < end; j++)
        top = max(top, score(q, K + kv_head + size_t(j) * head_dim, head_dim));

    double sum = 0, o[head_dim_max] = {};
    for (int j = 0; j < end; j++) {
        const half *k = K + kv_head + size_t(j) * head_dim;
        const half *v = V + kv_head + size_t(j) * head_dim;
        const double weight = exp(score(q, k, head_dim) - top);

        sum += weight;
        for (int d = 0; d < head_dim; d++)
            o[d] += weight * double(cvt_f32_f16(v[d]));
    }
    for (int d = 0; d < head_dim; d++)
        out[head + size_t(row) * head_dim + d] = o[d] / sum;
}
