/* A five-point stencil: the mean of a cell and its four neighbours. The edge of
 * the grid is copied.
 *
 * A block writes TILE_X times TILE_Y cells. With SHARED it reads them, and the
 * cells around them, into shared memory first.
 */
constexpr int tile_x = TILE_X, tile_y = TILE_Y;
constexpr bool shared = SHARED;

__device__ float at(const float *in, int width, int height, int x, int y)
{
    return x >= 0 && x < width && y >= 0 && y < height ? in[(long long)y * width + x] : 0.0f;
}

__device__ float mean(float c, float w, float e, float n, float s)
{
    return 0.2f * (c + w + e + n + s);
}

extern "C" __global__ void __launch_bounds__(tile_x *tile_y)
    stencil(const float *__restrict__ in, /* [height][width] */
            float *__restrict__ out,      /* [height][width] */
            int width, int height)
{
    __shared__ float tile[shared ? tile_y + 2 : 1][shared ? tile_x + 2 : 1];
    const int first_x = blockIdx.x * tile_x, first_y = blockIdx.y * tile_y;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = first_x + tx, y = first_y + ty;

    if (shared) {
        for (int j = ty; j < tile_y + 2; j += tile_y)
            for (int i = tx; i < tile_x + 2; i += tile_x)
                tile[j][i] = at(in, width, height, first_x + i - 1, first_y + j - 1);
        __syncthreads();
    }
    if (x >= width || y >= height)
        return;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1)
        out[(long long)y * width + x] = at(in, width, height, x, y);
    else if (shared)
        out[(long long)y * width + x] = mean(tile[ty + 1][tx + 1], tile[ty + 1][tx], tile[ty + 1][tx + 2],
                                             tile[ty][tx + 1], tile[ty + 2][tx + 1]);
    else
        out[(long long)y * width + x] =
            mean(at(in, width, height, x, y), at(in, width, height, x - 1, y), at(in, width, height, x + 1, y),
                 at(in, width, height, x, y - 1), at(in, width, height, x, y + 1));
}
