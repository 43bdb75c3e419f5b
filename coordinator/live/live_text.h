/* live_text.h - times, durations and dollars, as a user reads them
 *
 * The same in the live view, in plain lines and in status.  Pure.
 */
#ifndef FA_COORDINATOR_LIVE_LIVE_TEXT_H
#define FA_COORDINATOR_LIVE_LIVE_TEXT_H

struct estimate_range;

#define LIVE_TEXT_BYTES 40

/* A kernel's time: "676.123 us", "1.500 ms", "2.000 s".  Each returns 'out'. */
const char *live_text_time(double seconds, char out[LIVE_TEXT_BYTES]);
/* "45 s", "12 min 05 s", "1 h 02 min" */
const char *live_text_duration(double seconds, char out[LIVE_TEXT_BYTES]);
const char *live_text_usd(double usd, char out[LIVE_TEXT_BYTES]); /* $0.1234 */

/* What is left: "about 12 min 05 s" if the range is narrow, or else "3.2-5
 * min", "40 s-3 min", rounded outwards. */
const char *live_text_left(const struct estimate_range *seconds,
                           char out[LIVE_TEXT_BYTES]);
/* The same in dollars: "$0.1234", "$0.101-0.137" */
const char *live_text_left_usd(const struct estimate_range *usd,
                               char out[LIVE_TEXT_BYTES]);

#endif
