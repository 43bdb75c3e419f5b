/* clock.h - CUDA's clocks of a thread, for the emulation
 *
 * They count their own calls, so a launch is the same each time.  A thread that
 * waits for a time lets the others run.
 */
#ifndef FA_CLOCK_H
#define FA_CLOCK_H

#include <time.h>

#include "fa/atomics.h"

constexpr int64_t fa_emu_ticks_a_call = 64;

inline long long clock64(fa_site at = fa_site::here())
{
    if (fa_emu_grid.atomics_left-- == 0)
        fa_emu_spin(at);
    return fa_emu_grid.ticks += fa_emu_ticks_a_call;
}

/* In place of the C library's, which has the same name. */
#define FA_EMU_CLOCK                                                              \
    extern "C" __attribute__((visibility("hidden"))) clock_t clock(void) noexcept \
    {                                                                             \
        return clock_t(clock64());                                                \
    }

#endif
