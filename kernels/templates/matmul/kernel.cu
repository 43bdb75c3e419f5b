/* c = a b^T on tensor cores: fp16 in, fp32 out.
 *
 * A warp computes 16 WARP_ROWS times 8 WARP_COLUMNS elements of c, and a block
 * has WARPS warps below each other. Operands are loaded from global memory as
 * mma.m16n8k16 wants them (fa/mma.h): with g = lane / 4 and t = lane % 4, a
 * lane holds pairs of a's rows g and g + 8, and of b's row g, at 2 t and 2 t + 8.
 */
#include <fa/fa.h>

#include <cuda_fp16.h>

using namespace fa;

constexpr int warps = WARPS, rows = WARP_ROWS, columns = WARP_COLUMNS;

/* Two neighbours in a row of k; 0 outside of the matrix. k is even. */
__device__ u32 pair(const __half *matrix, int n, int k, int row, int column)
{
    if (row >= n || column >= k)
        return 0;
    return *(const u32 *)(matrix + (long long)row * k + column);
}

__device__ void put(float *c, int m, int n, int row, int column, float value)
{
    if (row < m && column < n)
        c[(long long)row * n + column] = value;
}

extern "C" __global__ void __launch_bounds__(32 * warps)
    matmul(const __half *__restrict__ a, /* [m][k] */
           const __half *__restrict__ b, /* [n][k] */
           float *__restrict__ c,        /* [m][n] */
           int m, int n, int k)
{
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const int first_row = (blockIdx.y * warps + warp) * 16 * rows;
    const int first_column = blockIdx.x * 8 * columns;
    float sums[rows][columns][4] = {};

    for (int at = 0; at < k; at += 16) {
        u32 bs[columns][2];

        for (int j = 0; j < columns; j++)
            for (int h = 0; h < 2; h++)
                bs[j][h] = pair(b, n, k, first_column + 8 * j + g, at + 2 * t + 8 * h);
        for (int i = 0; i < rows; i++) {
            const int row = first_row + 16 * i + g;
            const u32 as[4] = { pair(a, m, k, row, at + 2 * t), pair(a, m, k, row + 8, at + 2 * t),
                                pair(a, m, k, row, at + 2 * t + 8), pair(a, m, k, row + 8, at + 2 * t + 8) };

            for (int j = 0; j < columns; j++)
                mma_m16n8k16_f16_f32(sums[i][j], as, bs[j][0], bs[j][1], sums[i][j]);
        }
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            for (int e = 0; e < 4; e++)
                put(c, m, n, first_row + 16 * i + g + 8 * (e / 2), first_column + 8 * j + 2 * t + e % 2,
                    sums[i][j][e]);
}
