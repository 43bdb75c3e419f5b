/* sequential_end.h - why a pass with looks ended
 *
 *   clear    the best is FAST, on one side of the target, and slower than no
 *            other by more than the floor; or none is faster by more
 *   precise  not clear, but the interval of the best is as narrow as the floor:
 *            the truth lies at a border, and more blocks would not move it
 *   cap      neither, after 'most' blocks.  If processes differ at the first
 *            look, there are more of them, with fewer samples each
 *            (process_noise.h)
 *   budget   neither, when dollars or hours were used up
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_CONFIRM_SEQUENTIAL_END_H
#define FA_COORDINATOR_CONFIRM_SEQUENTIAL_END_H

enum sequential_end {
    SEQUENTIAL_OPEN, /* more blocks are needed */
    SEQUENTIAL_CLEAR,
    SEQUENTIAL_PRECISE,
    SEQUENTIAL_CAP,
    SEQUENTIAL_BUDGET,
};

const char *sequential_end_name(enum sequential_end end); /* "clear", ... */
/* For people: "the question is answered" and so on. */
const char *sequential_end_words(enum sequential_end end);

#endif
