/* casts.h - a float that an integer cannot hold, converted as a GPU does, for the
 * emulation
 *
 * A GPU takes the nearest number that the integer has, and 0 for NaN; an x86-64
 * gives one pattern for all of them, or drops bits.  clang++ has a flag for it.  Of
 * g++, the check -fsanitize=float-cast-overflow calls a function before such a
 * conversion, which notes what a GPU makes of it, and the instructions that
 * convert are macros of the assembler here, which look for a note.
 */
#ifndef FA_CASTS_H
#define FA_CASTS_H

#include "fa/checks.h"
#include "fa/intrinsics.h"

/* The compiler may check some conversions first, and make them then. */
constexpr unsigned fa_emu_notes_kept = 16;

struct fa_emu_cast_note {
    uint64_t bits;     /* of the float, or 0; */
    uint64_t narrower; /* of the same number in 32 bits, which the compiler may take; or 0 */
    int64_t result;    /* of its conversion */
};

struct fa_emu_cast_list {
    fa_emu_cast_note fa_note[fa_emu_notes_kept];
    uint64_t fa_made; /* so far */
};

/* By the size of the result in a register: 32 and 64 bits.  The assembler knows the
 * layout. */
struct fa_emu_cast_lists {
    fa_emu_cast_list fa_narrow, fa_wide;
};

struct fa_emu_checked_cast {
    fa_emu_checked_place at;
    const fa_emu_checked_type *from, *to;
};

/* nvcc converts to 32 bits what has less. */
inline int64_t fa_emu_cast_to(bool is_signed, bool is_long, double x)
{
    if (is_long)
        return is_signed ? fa_emu_saturated<int64_t>(x) : int64_t(fa_emu_saturated<uint64_t>(x));
    return is_signed ? fa_emu_saturated<int32_t>(x) : int64_t(fa_emu_saturated<uint32_t>(x));
}

/* Floats of other sizes are converted as by the host. */
inline void fa_emu_note_cast(fa_emu_cast_lists *lists, const void *check, uintptr_t bits)
{
    const auto *of = static_cast<const fa_emu_checked_cast *>(check);
    const bool is_signed = of->to->bits & 1;
    const unsigned log_bits = of->to->bits >> 1;
    const bool is_wide = log_bits > 5 || (log_bits == 5 && !is_signed);

    if (of->from->bits != 32 && of->from->bits != 64)
        return;
    const double x = of->from->bits == 32 ? double(fa_emu_bits<float>(uint32_t(bits)))
                                          : fa_emu_bits<double>(uint64_t(bits));
    fa_emu_cast_list *list = is_wide ? &lists->fa_wide : &lists->fa_narrow;
    fa_emu_cast_note *note = &list->fa_note[list->fa_made++ % fa_emu_notes_kept];
    const float narrower = float(x);

    note->bits = bits;
    note->narrower = double(narrower) == x || x != x ? fa_emu_bits<uint32_t>(narrower) : 0;
    note->result = fa_emu_cast_to(is_signed, log_bits > 5, x);
}

#if defined(__x86_64__) && !defined(__clang__)

/* Names without a last letter are the instructions.  The operand is a register, or
 * memory whose commas part it in up to three; it is copied below what the function
 * may use of its stack. */
asm(".macro fa_emu_cast_below plain, get, to\n"
    "    \\plain (%rsp), \\to\n"
    "    pushfq\n"
    "    call fa_emu_cast_\\get\n"
    "    jne .Lfa_emu_cast\\@\n"
    "    \\get 8(%rsp), \\to\n"
    ".Lfa_emu_cast\\@:\n"
    "    popfq\n"
    "    leaq 136(%rsp), %rsp\n"
    ".endm\n"
    ".macro fa_emu_cast_memory load, store, plain, get, from, to\n"
    "    \\load \\from\n"
    "    leaq -136(%rsp), %rsp\n"
    "    movq $0, (%rsp)\n"
    "    \\store (%rsp)\n"
    "    fa_emu_cast_below \\plain, \\get, \\to\n"
    ".endm\n"
    ".macro fa_emu_cast_register move, plain, get, from, to\n"
    "    leaq -136(%rsp), %rsp\n"
    "    movq $0, (%rsp)\n"
    "    \\move \\from, (%rsp)\n"
    "    fa_emu_cast_below \\plain, \\get, \\to\n"
    ".endm\n"
    ".macro fa_emu_cast_of move, load, store, plain, get, a, b, c, d\n"
    ".ifnb \\d\n"
    "    fa_emu_cast_memory \\load, \\store, \\plain, \\get, \"\\a,\\b,\\c\", \\d\n"
    ".else\n"
    ".ifnb \\c\n"
    "    fa_emu_cast_memory \\load, \\store, \\plain, \\get, \"\\a,\\b\", \\c\n"
    ".else\n"
    "    .set fa_emu_in_register, 0\n"
    "    .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
    "    .ifc \\a,%xmm\\n\n"
    "    .set fa_emu_in_register, 1\n"
    "    .endif\n"
    "    .endr\n"
    ".if fa_emu_in_register\n"
    "    fa_emu_cast_register \\move, \\plain, \\get, \\a, \\b\n"
    ".else\n"
    "    fa_emu_cast_memory \\load, \\store, \\plain, \\get, \\a, \\b\n"
    ".endif\n"
    ".endif\n"
    ".endif\n"
    ".endm\n"
    ".macro cvttss2sil a, b, c, d\n"
    "    fa_emu_cast_of movss, flds, fstps, cvttss2si, movl, \\a, \\b, \\c, \\d\n"
    ".endm\n"
    ".macro cvttss2siq a, b, c, d\n"
    "    fa_emu_cast_of movss, flds, fstps, cvttss2si, movq, \\a, \\b, \\c, \\d\n"
    ".endm\n"
    ".macro cvttsd2sil a, b, c, d\n"
    "    fa_emu_cast_of movsd, fldl, fstpl, cvttsd2si, movl, \\a, \\b, \\c, \\d\n"
    ".endm\n"
    ".macro cvttsd2siq a, b, c, d\n"
    "    fa_emu_cast_of movsd, fldl, fstpl, cvttsd2si, movq, \\a, \\b, \\c, \\d\n"
    ".endm\n");

/* A function for each list, at 'place': if it is not empty, the result comes in the
 * place of the float, above the flags and two return addresses, and 'equal' says that
 * there is one.  Keeps all registers. */
#define FA_EMU_CAST_FIND(GET, PLACE)                           \
    asm(".pushsection .text\n"                                 \
        "fa_emu_cast_" GET ":\n"                               \
        "    cmpq $1, fa_emu_cast_noted+384+" PLACE "(%rip)\n" \
        "    jae 1f\n"                                         \
        "    ret\n"                                            \
        "1:  pushq %rax\n"                                     \
        "    pushq %rcx\n"                                     \
        "    pushq %rdx\n"                                     \
        "    movq 40(%rsp), %rax\n"                            \
        "    leaq fa_emu_cast_noted+" PLACE "(%rip), %rdx\n"   \
        "    movl $16, %ecx\n"                                 \
        "2:  cmpq %rax, (%rdx)\n"                              \
        "    je 3f\n"                                          \
        "    cmpq %rax, 8(%rdx)\n"                             \
        "    je 3f\n"                                          \
        "    addq $24, %rdx\n"                                 \
        "    decl %ecx\n"                                      \
        "    jne 2b\n"                                         \
        "    cmpq $1, %rcx\n"                                  \
        "    jmp 4f\n"                                         \
        "3:  testq %rax, %rax\n" /* a zero is in no note */    \
        "    je 5f\n"                                          \
        "    movq 16(%rdx), %rax\n"                            \
        "    movq %rax, 40(%rsp)\n"                            \
        "    movq $0, (%rdx)\n"                                \
        "    movq $0, 8(%rdx)\n"                               \
        "    cmpl %eax, %eax\n"                                \
        "    jmp 4f\n"                                         \
        "5:  cmpq $1, %rax\n"                                  \
        "4:  popq %rdx\n"                                      \
        "    popq %rcx\n"                                      \
        "    popq %rax\n"                                      \
        "    ret\n"                                            \
        ".popsection\n");
#define FA_EMU_CASTS_FIND FA_EMU_CAST_FIND("movl", "0") FA_EMU_CAST_FIND("movq", "392")

#else
#define FA_EMU_CASTS_FIND
#endif

#define FA_EMU_CASTS                                                                          \
    extern "C" {                                                                              \
    __attribute__((visibility("hidden"))) fa_emu_cast_lists fa_emu_cast_noted = {};           \
    }                                                                                         \
    FA_EMU_CASTS_FIND                                                                         \
    FA_EMU_HIDDEN void __ubsan_handle_float_cast_overflow(void *fa_check, void *fa_bits)      \
    {                                                                                         \
        fa_emu_note_cast(&fa_emu_cast_noted, fa_check, reinterpret_cast<uintptr_t>(fa_bits)); \
    }

#endif
