#include "worker/agent/liveness.h"

struct liveness liveness_uninvited(int64_t now_ns)
{
    return (struct liveness){ .heard_ns = now_ns,
                              .beat_every_ns = LIVENESS_BEAT_NS };
}

int64_t liveness_ends_ns(const struct liveness *liveness)
{
    int64_t gone_ns =
        liveness->heard_ns + LIVENESS_BEATS * liveness->beat_every_ns;

    return gone_ns + liveness->linger_ns;
}
