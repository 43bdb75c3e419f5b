#include "coordinator/link/upload_watch.h"

#include "common/clock.h"

static bool note(struct upload_watch *watch, size_t *most, size_t bytes,
                 int64_t now_ns)
{
    bool more = bytes > *most || watch->progress_ns == 0;

    if (watch->progress_ns == 0)
        watch->told_ns = now_ns; /* that it begins is known */
    if (more) {
        *most = bytes;
        watch->progress_ns = now_ns;
    }
    return more;
}

bool upload_watch_found(struct upload_watch *watch, size_t bytes,
                        int64_t now_ns)
{
    return note(watch, &watch->found, bytes, now_ns);
}

bool upload_watch_sent(struct upload_watch *watch, size_t bytes, int64_t now_ns)
{
    return note(watch, &watch->sent, bytes, now_ns);
}

bool upload_watch_gets_on(const struct upload_watch *watch, int64_t now_ns)
{
    return watch->progress_ns != 0 &&
           now_ns - watch->progress_ns < UPLOAD_WATCH_STILL_S * NS_PER_S;
}

bool upload_watch_tells(struct upload_watch *watch, int64_t now_ns)
{
    if (now_ns - watch->told_ns < UPLOAD_WATCH_TELL_S * NS_PER_S)
        return false;
    watch->told_ns = now_ns;
    return true;
}
