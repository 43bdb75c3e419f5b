#include "coordinator/live/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/mem.h"
#include "coordinator/estimate/estimate_course.h"
#include "coordinator/live/live_frame.h"
#include "coordinator/live/live_view.h"
#include "coordinator/live/patient_stdio.h"
#include "coordinator/print/screen.h"
#include "coordinator/text/terminal.h"

#define PLAIN_EVERY_NS (10 * NS_PER_S)
#define BEST_EVERY_NS (2 * NS_PER_S)
#define LOOK_EVERY_NS NS_PER_S /* for a new best */
#define LIVE_EVERY_NS (200 * NS_PER_MS)
#define LINE_BYTES 512
#define RATE_LEAST 8 /* results that make a rate */
#define SAY_BYTES 2048
#define OUTPUT_MAX (1 << 20)

struct progress {
    bool quiet;
    bool live;
    struct live_frame drawn; /* on the terminal now; empty: nothing */
    bool began;
    int64_t start_ns, shown_ns, wanted_ns;
    int settled_at_start;
    struct estimate_course course; /* since the first work was seen */
    bool works;                    /* it was */
    bool is_late;                  /* with a first result */
    double best_s;                 /* that was shown last; NaN: none */
};

struct progress *progress_new(bool quiet)
{
    struct progress *progress = mem_new(1, sizeof(*progress));

    progress->quiet = quiet;
    progress->live = screen_is_live(stderr);
    progress->best_s = (double)NAN;
    return progress;
}

bool progress_is_live(const struct progress *progress)
{
    return progress->live;
}

/* In one piece, so that no half of it is seen. */
static void write_out(struct buf *out)
{
    fwrite(buf_text(out), 1, out->len, stderr);
    fflush(stderr);
    buf_fini(out);
}

static size_t columns_now(void)
{
    size_t columns, rows;

    screen_size(stderr, &columns, &rows);
    return columns;
}

void progress_free(struct progress *progress)
{
    struct buf out;

    if (!progress)
        return;
    buf_init(&out, OUTPUT_MAX);
    live_frame_end(&progress->drawn, columns_now(), &out);
    write_out(&out);
    live_frame_fini(&progress->drawn);
    free(progress);
}

static void print_plain(const char *text)
{
    char now[CLOCK_ISO_BYTES];

    clock_iso(clock_utc_ns(), now);
    fprintf(stderr, "%.19sZ %s\n", now, text);
}

void progress_say(struct progress *progress, const char *fmt, ...)
{
    char text[SAY_BYTES];
    struct buf out;
    va_list ap;

    if (progress->quiet)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    terminal_clean(text, true);
    if (!progress->live) {
        print_plain(text);
        return;
    }
    buf_init(&out, OUTPUT_MAX);
    live_frame_say(&progress->drawn, columns_now(), text, &out);
    write_out(&out);
}

static void draw(struct progress *progress, const struct progress_facts *facts)
{
    struct live_frame next;
    size_t columns, rows;
    struct buf out;

    if (!patient_stdio_is_clear())
        return; /* the next frame has all of it */
    screen_size(stderr, &columns, &rows);
    live_frame_init(&next, columns, true);
    live_view_frame(facts, rows, &next);
    buf_init(&out, OUTPUT_MAX);
    live_frame_turn(&progress->drawn, &next, &out);
    write_out(&out);
    live_frame_fini(&progress->drawn);
    progress->drawn = next;
}

void progress_put(struct progress *progress, const struct progress_facts *facts)
{
    char line[LINE_BYTES];

    if (progress->quiet)
        return;
    if (progress->live) {
        draw(progress, facts);
        return;
    }
    live_view_line(facts, line, sizeof(line));
    print_plain(line);
}

static double seconds_at(int64_t ns)
{
    return (double)ns / (double)NS_PER_S;
}

/* The course is that since hosts are there: the time until then will not come
 * again. */
static void follow(struct progress *progress,
                   const struct progress_facts *facts, int64_t now_ns)
{
    bool any = facts->settled > progress->settled_at_start;

    if (!progress->works && (any || facts->building + facts->measuring > 0)) {
        progress->works = true;
        progress->is_late = any;
        estimate_course_begin(&progress->course, seconds_at(now_ns),
                              facts->settled);
    }
    estimate_course_add(&progress->course, seconds_at(now_ns), facts->settled);
}

/* It has lasted more than a second: then the course of this run says what is
 * left.  One that was seen after its first result says nothing until it has
 * more.  A cap may end it sooner. */
static struct estimate_range left_of(const struct progress *progress,
                                     const struct progress_facts *facts,
                                     double elapsed_s, int64_t now_ns)
{
    const struct estimate_moment now = { .s = seconds_at(now_ns),
                                         .done = facts->settled,
                                         .out =
                                             facts->building + facts->measuring,
                                         .all = facts->total };
    struct estimate_course course = progress->course;
    struct estimate_range left = { NAN, NAN, NAN };

    if (elapsed_s <= 1)
        return left;
    if (progress->is_late && now.done - course.marks[0].done < RATE_LEAST)
        estimate_course_begin(&course, seconds_at(progress->start_ns),
                              progress->settled_at_start);
    left = estimate_course_left(&course, &now);
    if (facts->cap_s > 0 && !isnan(left.likely))
        left = (struct estimate_range){ fmin(left.low, facts->cap_s),
                                        fmin(left.likely, facts->cap_s),
                                        fmin(left.high, facts->cap_s) };
    return left;
}

static bool is_due(const struct progress *progress,
                   const struct progress_facts *facts, int64_t now_ns)
{
    int64_t passed = now_ns - progress->shown_ns;
    bool better = !isnan(facts->best.s) && !(facts->best.s >= progress->best_s);

    if (progress->live)
        return passed >= LIVE_EVERY_NS;
    return passed >= PLAIN_EVERY_NS || (better && passed >= BEST_EVERY_NS);
}

bool progress_wants(struct progress *progress, int64_t now_ns, bool force)
{
    int64_t passed = now_ns - progress->shown_ns;
    bool best_may_be_due = passed >= BEST_EVERY_NS &&
                           now_ns - progress->wanted_ns >= LOOK_EVERY_NS;

    if (progress->quiet)
        return false;
    if (force || !progress->began)
        return true;
    if (progress->live)
        return passed >= LIVE_EVERY_NS;
    if (passed < PLAIN_EVERY_NS && !best_may_be_due)
        return false;
    progress->wanted_ns = now_ns;
    return true;
}

void progress_show(struct progress *progress,
                   const struct progress_facts *facts, int64_t now_ns,
                   bool force)
{
    struct progress_facts timed = *facts;

    if (!progress->began) {
        progress->began = true;
        progress->settled_at_start = facts->settled;
        progress->start_ns = progress->shown_ns = now_ns;
    }
    follow(progress, facts, now_ns);
    if (progress->quiet || (!force && !is_due(progress, facts, now_ns)))
        return;
    progress->shown_ns = now_ns;
    progress->best_s = facts->best.s;
    timed.elapsed_s = seconds_at(now_ns - progress->start_ns);
    timed.left_s = left_of(progress, facts, timed.elapsed_s, now_ns);
    progress_put(progress, &timed);
}
