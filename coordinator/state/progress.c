#include "coordinator/state/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/mem.h"
#include "coordinator/text/terminal.h"

#define PLAIN_EVERY_NS (10 * NS_PER_S)
#define LIVE_EVERY_NS (200 * NS_PER_MS)
#define LANES_MAX 16
#define LINE_BYTES 256
#define SAY_BYTES 2048

struct progress {
    bool quiet;
    bool live; /* standard error is a terminal */
    int drawn; /* lines to go back over */
    int64_t start_ns, shown_ns;
    int settled_at_start;
    char last[LINE_BYTES]; /* of a terminal: what stays when it ends */
};

struct progress *progress_new(bool quiet)
{
    struct progress *progress = mem_new(1, sizeof(*progress));

    progress->quiet = quiet;
    progress->live = isatty(STDERR_FILENO) == 1;
    progress->settled_at_start = -1;
    return progress;
}

static void erase(struct progress *progress)
{
    if (progress->drawn > 0)
        fprintf(stderr, "\r\033[%dA\033[J", progress->drawn);
    progress->drawn = 0;
}

void progress_free(struct progress *progress)
{
    if (!progress)
        return;
    erase(progress);
    if (progress->last[0])
        fprintf(stderr, "%s\n", progress->last);
    free(progress);
}

void progress_say(struct progress *progress, const char *fmt, ...)
{
    char text[SAY_BYTES];
    va_list ap;

    if (progress->quiet)
        return;
    erase(progress);
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    fprintf(stderr, "%s\n", terminal_clean(text, true));
}

static void put_time(double s, char *out, size_t size)
{
    long t = (long)(s + 0.5);

    if (t >= 3600)
        snprintf(out, size, "%ld:%02ld:%02ld", t / 3600, t / 60 % 60, t % 60);
    else
        snprintf(out, size, "%ld:%02ld", t / 60, t % 60);
}

void progress_line(const struct progress_facts *f, int64_t elapsed_ns,
                   double per_s, char *out, size_t size)
{
    char elapsed[32], left[48] = "", usd[32] = "";

    put_time((double)elapsed_ns / (double)NS_PER_S, elapsed, sizeof(elapsed));
    if (per_s > 0 && f->settled < f->total) {
        char t[32];

        put_time((f->total - f->settled) / per_s, t, sizeof(t));
        snprintf(left, sizeof(left), ", about %s left", t);
    }
    if (!isnan(f->usd))
        snprintf(usd, sizeof(usd), "  $%.4f", f->usd);
    if (f->builds_only)
        snprintf(out, size, "%d/%d built  %d failed  %d building  %s%s",
                 f->correct, f->total, f->settled - f->correct, f->building,
                 elapsed, left);
    else
        snprintf(out, size,
                 "%d/%d measured  %d correct  %d failed  %d building  "
                 "%d measuring  %d/%d hosts%s  %s%s",
                 f->settled, f->total, f->correct, f->settled - f->correct,
                 f->building, f->measuring, f->hosts_ready, f->hosts, usd,
                 elapsed, left);
}

static int width(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 2)
        return 80;
    return size.ws_col;
}

static void draw(struct progress *progress, const struct progress_facts *f,
                 const char *line)
{
    int columns = width() - 1;

    snprintf(progress->last, sizeof(progress->last), "%.*s", columns, line);
    erase(progress);
    fprintf(stderr, "%.*s\n", columns, line);
    progress->drawn = 1;
    for (size_t i = 0; i < f->n_lanes && i < LANES_MAX; i++) {
        char lane[LINE_BYTES];

        snprintf(lane, sizeof(lane), "  %-28.28s %-12.12s %s", f->lanes[i].host,
                 f->lanes[i].gpu, *f->lanes[i].text ? f->lanes[i].text : "-");
        fprintf(stderr, "%.*s\n", columns, lane);
        progress->drawn++;
    }
}

void progress_show(struct progress *progress, const struct progress_facts *f,
                   int64_t now_ns, bool force)
{
    int64_t every = progress->live ? LIVE_EVERY_NS : PLAIN_EVERY_NS;
    char line[LINE_BYTES];
    double per_s, elapsed;

    if (progress->settled_at_start < 0) {
        progress->settled_at_start = f->settled;
        progress->start_ns = progress->shown_ns = now_ns;
    }
    if (progress->quiet || (!force && now_ns - progress->shown_ns < every))
        return;
    progress->shown_ns = now_ns;
    elapsed = (double)(now_ns - progress->start_ns) / (double)NS_PER_S;
    per_s =
        elapsed > 1 ? (f->settled - progress->settled_at_start) / elapsed : 0;
    progress_line(f, now_ns - progress->start_ns, per_s, line, sizeof(line));
    if (progress->live)
        draw(progress, f, line);
    else
        fprintf(stderr, "%s\n", line);
}
