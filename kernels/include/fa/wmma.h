/* wmma.h - matrices of a warp, as <mma.h> has them, for the emulation
 *
 * An element lies where an m16n8k16 mma has it in its result, for all matrices
 * whose sides are multiples of 8: 8x8 parts, down the columns of parts, two
 * neighbours of a row a lane.  Others, of doubles, lie row by row, one a lane.
 * A GPU has the elements of its operands elsewhere, and some of them twice.
 * Products are exact, and sums are of the result's type in order of k.
 */
#ifndef FA_WMMA_H
#define FA_WMMA_H

#include "fa/builtins.h"
#include "fa/groups.h"
#include "fa/intrinsics.h"

namespace nvcuda
{
namespace wmma
{

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
namespace precision
{
struct tf32;
}

enum layout_t {
    mem_row_major,
    mem_col_major
};

/* What memory and lanes have of an element, and what is multiplied of it. */
template <typename T>
struct fa_element {
    using stored = T;
    using wide = float;

    static float widened(const T &v)
    {
        return float(v);
    }
};

template <typename T>
struct fa_element_as_it_is {
    using stored = T;
    using wide = T;

    static T widened(T v)
    {
        return v;
    }
};

template <>
struct fa_element<double> : fa_element_as_it_is<double> {
};
template <>
struct fa_element<int> : fa_element_as_it_is<int> {
};

template <typename T>
struct fa_element_of_8_bits {
    using stored = T;
    using wide = int;

    static int widened(T v)
    {
        return v;
    }
};

template <>
struct fa_element<signed char> : fa_element_of_8_bits<signed char> {
};
template <>
struct fa_element<unsigned char> : fa_element_of_8_bits<unsigned char> {
};

/* Tensor cores do not look at the low bits. */
template <>
struct fa_element<precision::tf32> {
    using stored = float;
    using wide = float;

    static float widened(float v)
    {
        return __uint_as_float(__float_as_uint(v) & 0xffffe000);
    }
};

inline float __float_to_tf32(float v)
{
    return v == v ? __uint_as_float((__float_as_uint(v) + 0x1000) & 0xffffe000) : v;
}

template <int Rows, int Columns, typename T>
struct fa_matrix {
    static constexpr bool of_parts = Rows % 8 == 0 && Columns % 8 == 0;
    static constexpr int num_elements = Rows * Columns / 32;
    using element_type = T;
    using storage_element_type = typename fa_element<T>::stored;

    storage_element_type x[num_elements];

    static int fa_row(int i)
    {
        const int lane = int(fa_emu_thread_rank() % 32);

        return of_parts ? i / 2 % (Rows / 8) * 8 + lane / 4 : lane / Columns;
    }
    static int fa_column(int i)
    {
        const int lane = int(fa_emu_thread_rank() % 32);

        return of_parts ? i / 2 / (Rows / 8) * 8 + lane % 4 * 2 + i % 2 : lane % Columns;
    }
    static int fa_lane(int row, int column)
    {
        return of_parts ? row % 8 * 4 + column % 8 / 2 : row * Columns + column;
    }
    static int fa_index(int row, int column)
    {
        return of_parts ? (column / 8 * (Rows / 8) + row / 8) * 2 + column % 2 : 0;
    }
};

template <typename Layout>
struct fa_is_row_major {
    static constexpr bool value = false;
};
template <>
struct fa_is_row_major<row_major> {
    static constexpr bool value = true;
};

template <typename Use, int m, int n, int k, typename T, typename Layout = void>
struct fragment;
template <int m, int n, int k, typename T, typename Layout>
struct fragment<matrix_a, m, n, k, T, Layout> : fa_matrix<m, k, T> {
    static constexpr bool fa_by_rows = fa_is_row_major<Layout>::value;
};
template <int m, int n, int k, typename T, typename Layout>
struct fragment<matrix_b, m, n, k, T, Layout> : fa_matrix<k, n, T> {
    static constexpr bool fa_by_rows = fa_is_row_major<Layout>::value;
};
template <int m, int n, int k, typename T>
struct fragment<accumulator, m, n, k, T, void> : fa_matrix<m, n, T> {
};

template <typename Fragment, typename V>
inline void fill_fragment(Fragment &f, const V &v)
{
    for (int i = 0; i < Fragment::num_elements; i++)
        f.x[i] = v;
}

/* All 32 lanes come, and name the same matrix.  Its alignment, and that of each
 * row, are those of the widest access. */
inline void fa_check_matrix(const void *p, size_t row_bytes, fa_site at)
{
    int same;

    if (__match_all_sync(FA_EMU_ALL, uintptr_t(p) + row_bytes, &same, at) != FA_EMU_ALL)
        fa_emu_trap(at);
    if (uintptr_t(p) % 16 != 0)
        fa_emu_misplaced(p, 16, "a matrix of wmma", at);
    if (row_bytes % 16 != 0)
        fa_emu_misplaced(static_cast<const char *>(p) + row_bytes, 16, "a row of wmma", at);
}

template <typename Fragment, typename P>
inline void fa_load(Fragment &f, const P *p, unsigned step, bool by_rows, fa_site at)
{
    fa_check_matrix(p, step * sizeof(P), at);
    for (int i = 0; i < Fragment::num_elements; i++) {
        const size_t row = size_t(f.fa_row(i)), column = size_t(f.fa_column(i));

        f.x[i] = p[by_rows ? row * step + column : column * step + row];
    }
}

template <typename Use, int m, int n, int k, typename T, typename Layout>
inline void load_matrix_sync(fragment<Use, m, n, k, T, Layout> &f,
                             const typename fa_element<T>::stored *p, unsigned step,
                             fa_site at = fa_site::here())
{
    fa_load(f, p, step, f.fa_by_rows, at);
}

template <int m, int n, int k, typename T>
inline void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const T *p, unsigned step,
                             layout_t layout, fa_site at = fa_site::here())
{
    fa_load(f, p, step, layout == mem_row_major, at);
}

template <int m, int n, int k, typename T>
inline void store_matrix_sync(T *p, const fragment<accumulator, m, n, k, T> &f, unsigned step,
                              layout_t layout, fa_site at = fa_site::here())
{
    fa_check_matrix(p, step * sizeof(T), at);
    for (int i = 0; i < f.num_elements; i++) {
        const size_t row = size_t(f.fa_row(i)), column = size_t(f.fa_column(i));

        p[layout == mem_row_major ? row * step + column : column * step + row] = f.x[i];
    }
}

template <typename A, typename B>
struct fa_operands {
    const A *a;
    const B *b;
};

/* Each lane looks at the operands of all, until all are done. */
template <int m, int n, int k, typename T, typename La, typename Lb, typename D, typename C>
inline void mma_sync(fragment<accumulator, m, n, k, D> &d,
                     const fragment<matrix_a, m, n, k, T, La> &a,
                     const fragment<matrix_b, m, n, k, T, Lb> &b,
                     const fragment<accumulator, m, n, k, C> &c, fa_site at = fa_site::here())
{
    using element = fa_element<T>;
    using operands =
        fa_operands<fragment<matrix_a, m, n, k, T, La>, fragment<matrix_b, m, n, k, T, Lb>>;
    const operands own = { &a, &b };
    const fa_emu_gather all = fa_emu_gathered(FA_EMU_ALL, &own, at);
    D results[d.num_elements];

    if (all.lanes != FA_EMU_ALL)
        fa_emu_trap(at);
    for (int i = 0; i < d.num_elements; i++) {
        const int row = d.fa_row(i), column = d.fa_column(i);
        typename element::wide sum = fa_element<C>::widened(c.x[i]);

        for (int j = 0; j < k; j++) {
            const operands *const left =
                reinterpret_cast<const operands *>(all.values[a.fa_lane(row, j)]);
            const operands *const right =
                reinterpret_cast<const operands *>(all.values[b.fa_lane(j, column)]);

            sum += element::widened(left->a->x[a.fa_index(row, j)]) *
                   element::widened(right->b->x[b.fa_index(j, column)]);
        }
        results[i] = D(sum);
    }
    __syncwarp(FA_EMU_ALL, at);
    memcpy(static_cast<void *>(d.x), results, sizeof(results));
}

} // namespace wmma
} // namespace nvcuda

#endif
