/* checks.h - what the compiler's checks of plain accesses call, for the emulation
 *
 * A kernel is compiled with -fsanitize=alignment,bounds,object-size (and casts.h), without
 * the compiler's own library: that would be loaded at each launch, and knows no
 * threads and blocks.  Names and layouts are those that g++ (8 and later) and
 * clang++ (5 and later) share.
 */
#ifndef FA_CHECKS_H
#define FA_CHECKS_H

#include "fa/emulator.h"

struct fa_emu_checked_place {
    const char *file;
    uint32_t line, column;
};

struct fa_emu_checked_type {
    uint16_t kind, bits;
    char name[1]; /* in quotes; as long as it is */
};

struct fa_emu_checked_access {
    fa_emu_checked_place at;
    const fa_emu_checked_type *type;
    unsigned char log_alignment, access;
};

struct fa_emu_checked_index {
    fa_emu_checked_place at;
    const fa_emu_checked_type *array, *index;
};

inline void fa_emu_check_access(const void *check, const void *address)
{
    const auto *of = static_cast<const fa_emu_checked_access *>(check);

    fa_emu_misplaced(address, 1u << of->log_alignment, of->type->name,
                     { of->at.file, int(of->at.line) });
}

/* An index comes in the place of a pointer.  One that is too large may still be
 * in the array, in another row, and if it is not, the check of the object's size
 * finds it; that finds none that is negative. */
inline void fa_emu_check_index(const void *check, const void *index)
{
    const auto *of = static_cast<const fa_emu_checked_index *>(check);

    if (intptr_t(index) < 0)
        fa_emu_before(intptr_t(index), of->array->name, { of->at.file, int(of->at.line) });
}

/* Hidden, since fa-runner may have functions of these names. */
#define FA_EMU_HIDDEN extern "C" __attribute__((visibility("hidden")))
#define FA_EMU_CHECKS                                                                    \
    FA_EMU_HIDDEN void __ubsan_handle_type_mismatch_v1(void *fa_check, void *fa_address) \
    {                                                                                    \
        fa_emu_check_access(fa_check, fa_address);                                       \
    }                                                                                    \
    FA_EMU_HIDDEN void __ubsan_handle_out_of_bounds(void *fa_check, void *fa_index)      \
    {                                                                                    \
        fa_emu_check_index(fa_check, fa_index);                                          \
    }

/* assert() ends the launch, as on a GPU, and not the process. */
#ifdef __GLIBC__
#define FA_EMU_ASSERT                                                                     \
    FA_EMU_HIDDEN void __assert_fail(const char *, const char *fa_file, unsigned fa_line, \
                                     const char *) noexcept                               \
    {                                                                                     \
        for (;;)                                                                          \
            fa_emu_trap({ fa_file, int(fa_line) });                                       \
    }
#else
#define FA_EMU_ASSERT
#endif

#endif
