#include "worker/agent/liveness.h"

int64_t liveness_ends_ns(const struct liveness *liveness)
{
    int64_t gone_ns =
        liveness->heard_ns + LIVENESS_BEATS * liveness->beat_every_ns;

    return gone_ns + liveness->linger_ns;
}
