/* The sum of the squares of each row: one block a row.
 *
 * Each thread sums ITEMS elements at a time, a warp adds its sums by shuffles,
 * and the first warp adds those of the warps.
 */
constexpr int block = BLOCK; /* threads a row */
constexpr int items = ITEMS; /* elements a thread reads before it adds */

__device__ float warp_sum(float sum)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, lanes);
    return sum;
}

extern "C" __global__ void __launch_bounds__(block)
    row_squares(const float *__restrict__ x, /* [gridDim.x][columns] */
                float *__restrict__ y,       /* [gridDim.x] */
                int columns)
{
    __shared__ float sums[block / 32];
    const float *row = x + (long long)blockIdx.x * columns;
    float sum = 0;

    for (int first = threadIdx.x; first < columns; first += block * items) {
        float read[items];

        for (int k = 0; k < items; k++) {
            const int i = first + k * block;

            read[k] = i < columns ? row[i] : 0.0f;
        }
        for (int k = 0; k < items; k++)
            sum += read[k] * read[k];
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warp_sum(threadIdx.x < block / 32 ? sums[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0)
            y[blockIdx.x] = sum;
    }
}
