/* mma.h - tensor core multiply and the loads of its operands
 *
 * Layouts are those of the PTX ISA, "Matrix Fragments for mma.m16n8k16 with
 * floating point type" and "ldmatrix".  With g = lane / 4, t = lane % 4, and a
 * pair as two neighbours in one u32, the lower index in the low half:
 *
 *   A 16x16 (row, k)   a[0] (g,   2t..2t+1)    a[2] (g,   2t+8..2t+9)
 *                      a[1] (g+8, 2t..2t+1)    a[3] (g+8, 2t+8..2t+9)
 *   B 16x8  (k, col)   b0   (2t..2t+1, g)      b1   (2t+8..2t+9, g)
 *   C 16x8  (row, col) c[0] (g,   2t)          c[2] (g+8, 2t)
 *                      c[1] (g,   2t+1)        c[3] (g+8, 2t+1)
 */
#ifndef FA_MMA_H
#define FA_MMA_H

#include "fa/types.h"

namespace fa
{

/* mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32: d = a b + c in fp32.
 * 'd' and 'c' may be the same array.  sm_80. */
__device__ __forceinline__ void mma_m16n8k16_f16_f32(float (&d)[4], const u32 (&a)[4], u32 b0,
                                                     u32 b1, const float (&c)[4] FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_mma operand = { { a[0], a[1], a[2], a[3] }, { b0, b1 }, { c[0], c[1], c[2], c[3] } };
    fa_emu_collective(FA_EMU_MMA_F16, &operand, at);
    for (int i = 0; i < 4; i++)
        d[i] = operand.c[i];
#else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c[0]),
                   "f"(c[1]), "f"(c[2]), "f"(c[3]));
#endif
}

/* c = a b + c if 'on', else nothing.  'on' must be the same in all lanes; it is
 * a predicate of the instruction, not a branch. */
__device__ __forceinline__ void mma_m16n8k16_f16_f32_if(bool on, float (&c)[4], const u32 (&a)[4],
                                                        u32 b0, u32 b1 FA_ALSO_AT)
{
#ifdef FA_EMULATION
    if (on)
        mma_m16n8k16_f16_f32(c, a, b0, b1, c, at);
#else
    asm volatile("{\n\t.reg .pred on;\n\t"
                 "setp.ne.u32 on, %10, 0;\n\t"
                 "@on mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n\t}"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(u32(on)));
#endif
}

/* mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32: the same in bf16 */
__device__ __forceinline__ void mma_m16n8k16_bf16_f32(float (&d)[4], const u32 (&a)[4], u32 b0,
                                                      u32 b1, const float (&c)[4] FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_mma operand = { { a[0], a[1], a[2], a[3] }, { b0, b1 }, { c[0], c[1], c[2], c[3] } };
    fa_emu_collective(FA_EMU_MMA_BF16, &operand, at);
    for (int i = 0; i < 4; i++)
        d[i] = operand.c[i];
#else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c[0]),
                   "f"(c[1]), "f"(c[2]), "f"(c[3]));
#endif
}

/* ldmatrix.sync.aligned.m8n8.xN.shared.b16: N matrices of 8 rows of 8 16-bit
 * elements.  Lane 8i + r gives the address of row r of matrix i, a multiple of
 * 16.  Addresses of lanes for matrices beyond N are not read.  r[i] of a lane is
 * the pair (row g, columns 2t, 2t+1) of matrix i; with _trans it is the pair
 * (rows 2t, 2t+1, column g). */
__device__ __forceinline__ void ldmatrix_x4(u32 (&r)[4], smem_addr row FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_ldmatrix operand = { row.byte, {} };
    fa_emu_collective(FA_EMU_LDMATRIX_X4, &operand, at);
    for (int i = 0; i < 4; i++)
        r[i] = operand.r[i];
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row.byte));
#endif
}

__device__ __forceinline__ void ldmatrix_x2(u32 (&r)[2], smem_addr row FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_ldmatrix operand = { row.byte, {} };
    fa_emu_collective(FA_EMU_LDMATRIX_X2, &operand, at);
    for (int i = 0; i < 2; i++)
        r[i] = operand.r[i];
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(row.byte));
#endif
}

__device__ __forceinline__ void ldmatrix_x1(u32 &r, smem_addr row FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_ldmatrix operand = { row.byte, {} };
    fa_emu_collective(FA_EMU_LDMATRIX_X1, &operand, at);
    r = operand.r[0];
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(row.byte));
#endif
}

__device__ __forceinline__ void ldmatrix_x4_trans(u32 (&r)[4], smem_addr row FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_ldmatrix operand = { row.byte, {} };
    fa_emu_collective(FA_EMU_LDMATRIX_X4_TRANS, &operand, at);
    for (int i = 0; i < 4; i++)
        r[i] = operand.r[i];
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row.byte));
#endif
}

__device__ __forceinline__ void ldmatrix_x2_trans(u32 (&r)[2], smem_addr row FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_ldmatrix operand = { row.byte, {} };
    fa_emu_collective(FA_EMU_LDMATRIX_X2_TRANS, &operand, at);
    for (int i = 0; i < 2; i++)
        r[i] = operand.r[i];
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(row.byte));
#endif
}

} // namespace fa

#endif
