/* reference.cu - what the problems of pair.h are compared with */
#include "pair.h"

extern "C" __global__ void add_reference(const float *a, const float *b, double *out, int n)
{
    INDEX;
    if (i < n)
        out[i] = double(a[i]) + double(b[i]);
}
EXPORT(add_reference)

extern "C" __global__ void scratch_reference(const float *a, const float *b, double *out, int *flags, int n)
{
    INDEX;
    (void)flags;
    if (i < n)
        out[i] = double(a[i]) + double(b[i]);
}
EXPORT(scratch_reference)

extern "C" __global__ void wide_reference(const double *a, double *out, int n)
{
    INDEX;
    if (i < n)
        out[i] = 2 * a[i];
}
EXPORT(wide_reference)

extern "C" __global__ void narrow_reference(const double *a, double *out, int n)
{
    INDEX;
    if (i < n)
        out[i] = a[i];
}
EXPORT(narrow_reference)

extern "C" __global__ void whole_reference(const int *k, double *out, int n)
{
    INDEX;
    if (i < n)
        out[i] = fabs(double(k[i]));
}
EXPORT(whole_reference)

extern "C" __global__ void bins_reference(const int *k, double *out, int n)
{
    INDEX;

    if (i >= bins)
        return;
    out[i] = 0;
    for (int at = 0; at < n; at++)
        out[i] += k[at] == i;
}
EXPORT(bins_reference)

extern "C" __global__ void rows_reference(const float *a, double *out, int rows)
{
    const int row = int(blockIdx.x * blockDim.x + threadIdx.x);
    double sum = 0;

    if (row >= rows)
        return;
    for (int i = 0; i < columns; i++)
        sum += double(a[row * columns + i]);
    out[row] = sum;
}
EXPORT(rows_reference)

extern "C" __global__ void peaks_reference(const float *a, double *out, int rows)
{
    const int row = int(blockIdx.x * blockDim.x + threadIdx.x);

    if (row >= rows)
        return;
    out[row] = double(a[row * columns]);
    for (int i = 1; i < columns; i++)
        out[row] = fmax(out[row], double(a[row * columns + i]));
}
EXPORT(peaks_reference)

extern "C" __global__ void norms_reference(const float *a, double *out, int rows)
{
    const int row = int(blockIdx.x * blockDim.x + threadIdx.x);
    double mean = 0, squares = 0;

    if (row >= rows)
        return;
    for (int i = 0; i < columns; i++)
        mean += double(a[row * columns + i]) / columns;
    for (int i = 0; i < columns; i++)
        squares += (double(a[row * columns + i]) - mean) * (double(a[row * columns + i]) - mean);
    for (int i = 0; i < columns; i++)
        out[row * columns + i] =
            (double(a[row * columns + i]) - mean) / sqrt(squares / columns + 1e-5);
}
EXPORT(norms_reference)

extern "C" __global__ void shares_reference(const float *a, double *out, int rows)
{
    const int row = int(blockIdx.x * blockDim.x + threadIdx.x);
    double most, sum = 0;

    if (row >= rows)
        return;
    most = double(a[row * columns]);
    for (int i = 1; i < columns; i++)
        most = fmax(most, double(a[row * columns + i]));
    for (int i = 0; i < columns; i++)
        sum += exp(double(a[row * columns + i]) - most);
    for (int i = 0; i < columns; i++)
        out[row * columns + i] = exp(double(a[row * columns + i]) - most) / sum;
}
EXPORT(shares_reference)

extern "C" __global__ void order_reference(const int *p, const float *a, double *out, int n)
{
    INDEX;
    if (i < n)
        out[p[i]] = double(a[i]);
}
EXPORT(order_reference)

extern "C" __global__ void product_reference(const half *a, const half *b, double *out, int n)
{
    INDEX;
    if (i < n)
        out[i] = double(cvt_f32_f16(a[i])) * double(cvt_f32_f16(b[i]));
}
EXPORT(product_reference)
