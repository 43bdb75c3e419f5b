/* preempt.hh - a thread that calls nothing for long lets the others run
 *
 * It may wait for another one by reading a volatile variable.  A signal looks
 * at the thread every few milliseconds of processor time, and switches in the
 * kernel's own code alone, never in the emulator or a library.  On x86-64.
 */
#ifndef FA_WORKER_RUNNER_EMULATOR_PREEMPT_HH
#define FA_WORKER_RUNNER_EMULATOR_PREEMPT_HH

namespace emulator
{

/* Around a launch of a kernel with this entry. */
void preempt_arm(void (*entry)(void **args));
void preempt_disarm();

/* Has it switched in this launch? */
bool preempt_any();

} // namespace emulator

#endif
