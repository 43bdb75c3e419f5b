#include "coordinator/serve/serve_stamp.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/mem.h"
#include "coordinator/store/dblock.h"

#define RECENT_NS                                              \
    (100 * NS_PER_MS) /* ten ticks of the slowest kernel clock \
                       */
#define PAUSE_NS (500 * NS_PER_MS)
#define SHARE 9 /* rests so many times as long as it reads */

static int64_t written(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * NS_PER_S + st->st_mtim.tv_nsec;
}

struct serve_stamp serve_stamp_take(const char *path)
{
    struct serve_stamp stamp = { .exists = false };
    struct dblock_holder holder;
    char *log = mem_printf("%s-wal", path);
    struct stat st;

    /* The lock first: what its holder wrote before it ended is seen then. */
    stamp.running = dblock_is_held(path, &holder);
    if (stat(path, &st) == 0) {
        stamp.exists = true;
        stamp.device = (uint64_t)st.st_dev;
        stamp.file = (uint64_t)st.st_ino;
        stamp.bytes = (int64_t)st.st_size;
        stamp.written_utc_ns = written(&st);
    }
    if (stat(log, &st) == 0) {
        stamp.log_bytes = (int64_t)st.st_size;
        stamp.log_written_utc_ns = written(&st);
    }
    free(log);
    return stamp;
}

int64_t serve_stamp_written_utc(const struct serve_stamp *stamp)
{
    return stamp->written_utc_ns > stamp->log_written_utc_ns
               ? stamp->written_utc_ns
               : stamp->log_written_utc_ns;
}

bool serve_stamp_is_replaced(const struct serve_stamp *was,
                             const struct serve_stamp *now)
{
    return was->file != 0 && now->exists &&
           (was->device != now->device || was->file != now->file);
}

bool serve_stamp_is_same(const struct serve_stamp *a,
                         const struct serve_stamp *b)
{
    return a->exists == b->exists && a->running == b->running &&
           a->device == b->device && a->file == b->file &&
           a->bytes == b->bytes && a->written_utc_ns == b->written_utc_ns &&
           a->log_bytes == b->log_bytes &&
           a->log_written_utc_ns == b->log_written_utc_ns;
}

bool serve_stamp_is_recent(const struct serve_stamp *stamp, int64_t utc_ns)
{
    return serve_stamp_written_utc(stamp) > utc_ns - RECENT_NS;
}

bool serve_stamp_is_due(const struct serve_stamp_turn *last, bool changed,
                        int64_t now_ns)
{
    int64_t rest = SHARE * last->took_ns;

    if (last->ended_ns == 0)
        return true;
    return (changed || last->recent) &&
           now_ns - last->ended_ns >= (rest > PAUSE_NS ? rest : PAUSE_NS);
}
