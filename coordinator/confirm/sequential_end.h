/* sequential_end.h - why a pass with looks ended
 *
 * sequential.h says what they mean.
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
};

const char *sequential_end_name(enum sequential_end end); /* "clear", ... */
/* For people: "the question is answered" and so on. */
const char *sequential_end_words(enum sequential_end end);

#endif
