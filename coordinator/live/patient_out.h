/* patient_out.h - writes to a terminal or a pipe, and never waits for it
 *
 * A terminal may be stopped (Ctrl-S, a laptop that sleeps behind ssh), and
 * nobody may read a pipe.  A sweep has hosts to pay for meanwhile, so what is
 * not taken is kept and written with what comes later.  Files are written as
 * usual.
 */
#ifndef FA_COORDINATOR_LIVE_PATIENT_OUT_H
#define FA_COORDINATOR_LIVE_PATIENT_OUT_H

#include <stdbool.h>
#include <stddef.h>

struct patient_out;

#define PATIENT_OUT_KEPT ((size_t)16 << 20)

/* For this descriptor, which stays open as long.  NULL if it is no terminal and
 * no pipe, or cannot be opened once more. */
struct patient_out *patient_out_new(int fd);
/* What is still kept gets 'wait_ms' more; if that is negative, as long as it
 * takes.  NULL is fine. */
void patient_out_free(struct patient_out *out, int wait_ms);

/* In one piece: what does not fit into PATIENT_OUT_KEPT is left out as a whole.
 * False if there is no reader any more. */
bool patient_out_write(struct patient_out *out, const char *text, size_t len);
/* Nothing is kept: all that was written has been taken. */
bool patient_out_is_clear(struct patient_out *out);

#endif
