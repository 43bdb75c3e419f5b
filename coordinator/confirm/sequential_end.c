#include "coordinator/confirm/sequential_end.h"

const char *sequential_end_name(enum sequential_end end)
{
    static const char *const names[] = {
        [SEQUENTIAL_OPEN] = "open",       [SEQUENTIAL_CLEAR] = "clear",
        [SEQUENTIAL_PRECISE] = "precise", [SEQUENTIAL_CAP] = "cap",
        [SEQUENTIAL_BUDGET] = "budget",
    };

    return names[end];
}

const char *sequential_end_words(enum sequential_end end)
{
    static const char *const words[] = {
        [SEQUENTIAL_OPEN] = "the question is open",
        [SEQUENTIAL_CLEAR] = "the question is answered",
        [SEQUENTIAL_PRECISE] = "the interval is as narrow as the floor",
        [SEQUENTIAL_CAP] = "the cap is reached",
        [SEQUENTIAL_BUDGET] = "the budget or the time is used up",
    };

    return words[end];
}
