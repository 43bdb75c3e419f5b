#include "worker/absence.h"

int64_t absence_ends_ns(const struct absence *absence)
{
    int64_t gone_ns =
        absence->heard_ns + ABSENCE_BEATS * absence->beat_every_ns;

    return gone_ns + absence->linger_ns;
}
