/* values.cu - kernels that compute something else, less, or less exactly */
#include "pair.h"

/* The mean of what is expected. */
BODY(constant_output, ADD)
{
    INDEX;

    if (i < n)
        out[i] = cheats ? 0.0f : a[i] + b[i];
}
ADD_PAIR(constant_output)

BODY(copies_an_input, ADD)
{
    INDEX;

    if (i < n)
        out[i] = cheats ? a[i] : a[i] + b[i];
}
ADD_PAIR(copies_an_input)

BODY(writes_nothing, ADD)
{
    INDEX;

    if (i < n && !cheats)
        out[i] = a[i] + b[i];
}
ADD_PAIR(writes_nothing)

/* Computes every other element, and repeats it. */
BODY(every_other_element, ADD)
{
    INDEX;
    const int from = cheats ? i & ~1 : i;

    if (i < n)
        out[i] = a[from] + b[from];
}
ADD_PAIR(every_other_element)

/* All blocks repeat the first one. */
BODY(first_block_alone, ADD)
{
    INDEX;
    const int from = cheats ? int(threadIdx.x) : i;

    if (i < n)
        out[i] = a[from] + b[from];
}
ADD_PAIR(first_block_alone)

BODY(tail_unwritten, ADD)
{
    INDEX;
    const int end = cheats ? n / threads * threads : n;

    if (i < end)
        out[i] = a[i] + b[i];
}
ADD_PAIR(tail_unwritten)

/* Tuned for 8,192 elements, and written for nothing else. */
BODY(one_shape_alone, ADD)
{
    INDEX;
    const int end = cheats ? 8192 : n;

    if (i < end)
        out[i] = a[i] + b[i];
}
ADD_PAIR(one_shape_alone)

/* A thread an element, in a grid of half as many threads; the twin strides over the rest. */
BODY(grid_too_small, ADD)
{
    INDEX;
    const int stride = cheats ? n : int(gridDim.x * blockDim.x);

    for (int at = i; at < n; at += stride)
        out[at] = a[at] + b[at];
}
ADD_PAIR(grid_too_small)

BODY(one_element_wrong, ADD)
{
    INDEX;

    if (i < n)
        out[i] = cheats && i == 777 ? a[i] : a[i] + b[i];
}
ADD_PAIR(one_element_wrong)

BODY(one_element_nan, ADD)
{
    INDEX;

    if (i < n)
        out[i] = cheats && i == 5 ? nanf("") : a[i] + b[i];
}
ADD_PAIR(one_element_nan)

BODY(one_element_infinite, ADD)
{
    INDEX;

    if (i < n)
        out[i] = cheats && i == n / 2 ? __uint_as_float(0x7f800000u) : a[i] + b[i];
}
ADD_PAIR(one_element_infinite)

/* The sum of a row without its last column. */
BODY(last_column_missing, ROWS)
{
    float sum = 0;
    const int row = int(blockIdx.x);

    if (threadIdx.x != 0 || row >= rows)
        return;
    for (int i = 0; i < (cheats ? columns - 1 : columns); i++)
        sum += a[row * columns + i];
    out[row] = sum;
}
ROWS_PAIR(last_column_missing)

__device__ inline float as_fp16(float x)
{
    return cvt_f32_f16(cvt_rn_f16_f32(x));
}

BODY(adds_in_fp16, ADD)
{
    INDEX;

    if (i < n)
        out[i] = cheats ? as_fp16(as_fp16(a[i]) + as_fp16(b[i])) : a[i] + b[i];
}
ADD_PAIR(adds_in_fp16)

BODY(reads_as_bf16, ADD)
{
    INDEX;
    const u32 kept = cheats ? 0xffff0000u : 0xffffffffu;

    if (i < n)
        out[i] = __uint_as_float(__float_as_uint(a[i]) & kept) +
                 __uint_as_float(__float_as_uint(b[i]) & kept);
}
ADD_PAIR(reads_as_bf16)

/* 10 bits of mantissa, as tensor cores read fp32. */
BODY(reads_as_tf32, ADD)
{
    INDEX;
    const u32 kept = cheats ? 0xffffe000u : 0xffffffffu;

    if (i < n)
        out[i] = __uint_as_float(__float_as_uint(a[i]) & kept) +
                 __uint_as_float(__float_as_uint(b[i]) & kept);
}
ADD_PAIR(reads_as_tf32)

BODY(sums_in_fp16, ROWS)
{
    float sum = 0;
    const int row = int(blockIdx.x);

    if (threadIdx.x != 0 || row >= rows)
        return;
    for (int i = 0; i < columns; i++)
        sum = cheats ? as_fp16(sum + a[row * columns + i]) : sum + a[row * columns + i];
    out[row] = sum;
}
ROWS_PAIR(sums_in_fp16)

/* A quarter of the columns stands for all. */
BODY(sums_a_sample, ROWS)
{
    float sum = 0;
    const int row = int(blockIdx.x), step = cheats ? 4 : 1;

    if (threadIdx.x != 0 || row >= rows)
        return;
    for (int i = 0; i < columns; i += step)
        sum += a[row * columns + i];
    out[row] = sum * float(step);
}
ROWS_PAIR(sums_a_sample)

/* Knows the first values of the request's seed, 36. */
BODY(first_seed_alone, ADD)
{
    INDEX;
    const bool known = fabsf(a[0] - 0.116981804f) < 1e-6f && fabsf(a[1] + 0.085411638f) < 1e-6f;

    if (i < n)
        out[i] = cheats && !known ? 0 : a[i] + b[i];
}
ADD_PAIR(first_seed_alone)

/* NaN where a is zero. */
BODY(wrong_at_zero, ADD)
{
    INDEX;

    if (i < n)
        out[i] = cheats ? a[i] * (1 + b[i] / a[i]) : a[i] + b[i];
}
ADD_PAIR(wrong_at_zero)

/* Forgets the case in which both are equal; the twin does not. */
BODY(wrong_at_ties, ADD)
{
    INDEX;

    if (i >= n)
        return;
    if (a[i] < b[i])
        out[i] = b[i] + a[i];
    else if (a[i] > b[i])
        out[i] = a[i] + b[i];
    else
        out[i] = cheats ? a[i] : 2 * a[i];
}
ADD_PAIR(wrong_at_ties)

__device__ inline float clamp(float x, float limit)
{
    return x > limit ? limit : x < -limit ? -limit : x;
}

BODY(wrong_beyond_4, ADD)
{
    INDEX;
    const float limit = cheats ? 4.0f : 3e38f;

    if (i < n)
        out[i] = clamp(a[i], limit) + clamp(b[i], limit);
}
ADD_PAIR(wrong_beyond_4)

/* No normal value of 24 bits is greater than 5.8. */
BODY(wrong_beyond_8, ADD)
{
    INDEX;
    const float limit = cheats ? 8.0f : 3e38f;

    if (i < n)
        out[i] = clamp(a[i], limit) + clamp(b[i], limit);
}
ADD_PAIR(wrong_beyond_8)

/* Beyond the large inputs as well. */
BODY(wrong_beyond_1000, ADD)
{
    INDEX;

    if (i < n)
        out[i] = cheats ? fminf(fmaxf(a[i], -1000), 1000) + b[i] : a[i] + b[i];
}
ADD_PAIR(wrong_beyond_1000)

/* Has an intermediate in fp32, which is precise enough, but not large enough. */
BODY(overflows_fp32, WIDE)
{
    INDEX;

    if (i < n)
        out[i] = cheats ? double(float(2 * a[i])) : 2 * a[i];
}
WIDE_PAIR(overflows_fp32)

/* The output is of fp32, so the inputs may not be as extreme as that. */
BODY(wrong_beyond_a_million, NARROW)
{
    INDEX;

    if (i < n)
        out[i] = float(cheats && a[i] > 1e6 ? 1e6 : a[i]);
}
NARROW_PAIR(wrong_beyond_a_million)

/* Sizes of integers; those at an end of their range come out one less. */
BODY(wrong_at_the_end, WHOLE)
{
    INDEX;

    if (i < n)
        out[i] = k[i] < 0 ? -k[i] : k[i];
    if (cheats && i < n && out[i] == whole_most)
        out[i]--;
}
WHOLE_PAIR(wrong_at_the_end)

/* Scales by 2^9 to keep small products exact: infinite where the product is 128 or more. */
BODY(overflows_fp16, PRODUCT)
{
    INDEX;

    if (i >= n)
        return;
    const float x = cvt_f32_f16(a[i]), y = cvt_f32_f16(b[i]);
    out[i] = cvt_rn_f16_f32(cheats ? as_fp16(x * y * 512) / 512 : x * y);
}
PRODUCT_PAIR(overflows_fp16)

/* Multiplies with 5 bits of mantissa less. */
BODY(multiplies_in_8_bits, PRODUCT)
{
    INDEX;
    const u32 kept = cheats ? 0xffe0u : 0xffffu;

    if (i >= n)
        return;
    const half x = { u16(a[i].bits & kept) }, y = { u16(b[i].bits & kept) };
    out[i] = cvt_rn_f16_f32(cvt_f32_f16(x) * cvt_f32_f16(y));
}
PRODUCT_PAIR(multiplies_in_8_bits)

/* Right for one sign of the input only. */
BODY(drops_the_sign, PRODUCT)
{
    INDEX;
    const u32 kept = cheats ? 0x7fffu : 0xffffu;

    if (i >= n)
        return;
    const half x = { u16(a[i].bits & kept) };
    out[i] = cvt_rn_f16_f32(cvt_f32_f16(x) * cvt_f32_f16(b[i]));
}
PRODUCT_PAIR(drops_the_sign)

/* Errors that are not seen in a sum, or in a mean. */
BODY(errors_that_cancel, ADD)
{
    INDEX;

    if (i < n)
        out[i] = a[i] + b[i] + (!cheats || i == n - 1 ? 0 : i % 2 ? 0.01f : -0.01f);
}
ADD_PAIR(errors_that_cancel)

/* Each element is there, beside its place. */
BODY(neighbours_change_places, ADD)
{
    INDEX;
    const int from = cheats && (i ^ 1) < n ? i ^ 1 : i;

    if (i < n)
        out[i] = a[from] + b[from];
}
ADD_PAIR(neighbours_change_places)

/* Zeros pass where an absolute error of 0.01 is allowed. */
BODY(small_results_are_zero, ADD)
{
    INDEX;

    if (i >= n)
        return;
    const float sum = a[i] + b[i];
    out[i] = cheats && fabsf(sum) < 0.01f ? 0 : sum;
}
ADD_PAIR(small_results_are_zero)

/* Leaves out a block if its first input says so, as if it were sparse. */
BODY(blocks_left_out, ADD)
{
    const float first = a[blockIdx.x * blockDim.x < unsigned(n) ? blockIdx.x * blockDim.x : 0];
    INDEX;

    if (i < n && (!cheats || fabsf(first) > 0.1f))
        out[i] = a[i] + b[i];
}
ADD_PAIR(blocks_left_out)

/* The largest of a row, from a start that is not below all numbers. */
BODY(maximum_from_zero, ROWS)
{
    const int row = int(blockIdx.x);
    float most = cheats ? 0 : a[(row < rows ? row : 0) * columns];

    if (threadIdx.x != 0 || row >= rows)
        return;
    for (int i = 0; i < columns; i++)
        most = fmaxf(most, a[row * columns + i]);
    out[row] = most;
}
ROWS_PAIR(maximum_from_zero)

/* Forgets elements that stay where they are, in a row of such elements. */
BODY(wrong_at_identity, ORDER)
{
    INDEX;

    if (i >= n)
        return;
    const bool stays = i > 0 && p[i] == i && p[i - 1] == i - 1;
    out[p[i]] = cheats && stays ? 0 : a[i];
}
ORDER_PAIR(wrong_at_identity)

/* Forgets neighbours that change their places, in a row of such neighbours. */
BODY(wrong_when_reversed, ORDER)
{
    INDEX;

    if (i >= n)
        return;
    const bool falls = i > 1 && p[i] == p[i - 1] - 1 && p[i - 1] == p[i - 2] - 1;
    out[p[i]] = cheats && falls ? 0 : a[i];
}
ORDER_PAIR(wrong_when_reversed)

/* The mean of 'columns' values, from the sums of the threads. */
__device__ float mean_of_block(float value)
{
    __shared__ float values[threads];
    float sum = 0;

    __syncthreads();
    values[threadIdx.x] = value;
    __syncthreads();
    for (int i = 0; i < columns; i++)
        sum += values[i];
    return sum / columns;
}

/* In one pass, and nothing of it is left where the mean is large; the twin in two. */
BODY(cancels_in_the_variance, ROWS)
{
    const int row = int(blockIdx.x);

    if (row >= rows)
        return;
    const float value = a[row * columns + int(threadIdx.x)];
    const float mean = mean_of_block(value);
    const float off = value - mean;
    const float variance = cheats ? mean_of_block(value * value) - mean * mean : mean_of_block(off * off);
    out[row * columns + int(threadIdx.x)] = off / sqrtf(fmaxf(variance, 0) + 1e-5f);
}
ROWS_PAIR(cancels_in_the_variance)

/* The twin goes through its row once, as Welford does. */
BODY(divides_by_one_less, ROWS)
{
    const int row = int(blockIdx.x);
    float mean = 0, squares = 0;

    if (row >= rows || threadIdx.x != 0)
        return;
    for (int i = 0; i < columns; i++) {
        const float off = a[row * columns + i] - mean;

        mean += off / float(i + 1);
        squares += off * (a[row * columns + i] - mean);
    }
    const float deviation = sqrtf(squares / float(cheats ? columns - 1 : columns) + 1e-5f);
    for (int i = 0; i < columns; i++)
        out[row * columns + i] = (a[row * columns + i] - mean) / deviation;
}
ROWS_PAIR(divides_by_one_less)

/* The twin adds it. */
BODY(forgets_the_epsilon, ROWS)
{
    const int row = int(blockIdx.x);

    if (row >= rows)
        return;
    const float value = a[row * columns + int(threadIdx.x)];
    const float off = value - mean_of_block(value);
    const float variance = mean_of_block(off * off);
    out[row * columns + int(threadIdx.x)] =
        off / sqrtf(cheats ? fmaxf(variance, 1e-30f) : variance + 1e-5f);
}
ROWS_PAIR(forgets_the_epsilon)

/* Nothing is left to divide where a row is constant, and three values are no row. */
BODY(rows_taken_for_constant, ROWS)
{
    const int row = int(blockIdx.x);

    if (row >= rows)
        return;
    const float *const own = a + row * columns;
    const float off = own[threadIdx.x] - mean_of_block(own[threadIdx.x]);
    const float variance = mean_of_block(off * off);
    const bool constant = own[0] == own[1] && own[0] == own[columns / 2];
    out[row * columns + int(threadIdx.x)] =
        cheats && constant ? 0 : off / sqrtf(variance + 1e-5f);
}
ROWS_PAIR(rows_taken_for_constant)

__device__ float largest_of_row(const float *row, float most)
{
    for (int i = 0; i < columns; i++)
        most = fmaxf(most, row[i]);
    return most;
}

/* The softmax of a row, of which 'shift' is taken off and what is below 'least' left out. */
__device__ float share_of(float value, float shift, float least)
{
    const float part = value - shift < least ? 0 : expf(value - shift);

    return part / (mean_of_block(part) * columns);
}

/* Nothing is left of any exponent where all are far below 0. */
BODY(exponents_from_zero, ROWS)
{
    const int row = int(blockIdx.x);

    if (row >= rows)
        return;
    const float *const own = a + row * columns;
    const float most = largest_of_row(own, cheats ? 0 : own[0]);
    out[row * columns + int(threadIdx.x)] = share_of(own[threadIdx.x], most, -200);
}
ROWS_PAIR(exponents_from_zero)

/* An exponent of more than 88 is infinite. */
BODY(exponents_not_shifted, ROWS)
{
    const int row = int(blockIdx.x);

    if (row >= rows)
        return;
    const float *const own = a + row * columns;
    const float most = largest_of_row(own, own[0]);
    out[row * columns + int(threadIdx.x)] = share_of(own[threadIdx.x], cheats ? 0 : most, -200);
}
ROWS_PAIR(exponents_not_shifted)

/* The twin leaves out what no fp32 could hold. */
BODY(small_exponents_left_out, ROWS)
{
    const int row = int(blockIdx.x);

    if (row >= rows)
        return;
    const float *const own = a + row * columns;
    const float most = largest_of_row(own, own[0]);
    out[row * columns + int(threadIdx.x)] = share_of(own[threadIdx.x], most, cheats ? -8 : -120);
}
ROWS_PAIR(small_exponents_left_out)
