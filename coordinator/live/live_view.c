#include "coordinator/live/live_view.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "coordinator/live/live_frame.h"
#include "coordinator/live/live_text.h"
#include "coordinator/live/progress_facts.h"
#include "coordinator/text/terminal.h"

#define BAR_LEAST 8
#define BAR_MOST 40
#define KEY_DIGITS 8
#define PIECE_BYTES 512
#define LINE_BYTES 4096

static const char *const words[] = {
    [PROGRESS_TRIED] = "tried",
    [PROGRESS_CHECKED] = "checked",
    [PROGRESS_BUILT] = "built",
    [PROGRESS_MEASURED] = "measured",
};

/* For builds, those that failed are no part of it. */
static int done_of(const struct progress_facts *f)
{
    return f->kind == PROGRESS_BUILT ? f->correct : f->settled;
}

static bool counts_correct(const struct progress_facts *f)
{
    return f->kind == PROGRESS_TRIED || f->kind == PROGRESS_CHECKED;
}

/* ---- pieces of text, as many in a line as fit ---- */

__attribute__((format(printf, 4, 5))) static void
put_piece(struct live_frame *frame, enum screen_style style,
          const char *separator, const char *fmt, ...)
{
    char text[PIECE_BYTES];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (frame->lines[frame->n - 1].columns == 0)
        separator = "";
    else if (terminal_width(text) + strlen(separator) >
             live_frame_room(frame)) {
        live_frame_line(frame);
        separator = "  ";
    }
    live_frame_put(frame, SCREEN_PLAIN, "%s", separator);
    live_frame_put(frame, style, "%s", text);
}

static void put_bar(const struct progress_facts *f, struct live_frame *frame)
{
    size_t width = frame->columns / 4, full;
    double share = f->total > 0 ? (double)done_of(f) / f->total : 0;
    char bar[BAR_MOST + 1];

    width = width < BAR_LEAST ? BAR_LEAST : width > BAR_MOST ? BAR_MOST : width;
    full = (size_t)(share * (double)width);
    if (full > width)
        full = width;
    memset(bar, '-', width);
    memset(bar, '#', full);
    bar[width] = '\0';
    put_piece(frame, SCREEN_PLAIN, "  ", "[%s]", bar);
    put_piece(frame, SCREEN_PLAIN, "  ", "%d of %d %s, %.0f %%", done_of(f),
              f->total, words[f->kind], floor(100 * share));
}

static void put_counts(const struct progress_facts *f, struct live_frame *frame)
{
    int failed = f->settled - f->correct;

    live_frame_line(frame);
    if (counts_correct(f))
        put_piece(frame, SCREEN_PLAIN, ", ", "%d correct", f->correct);
    if (f->kind != PROGRESS_MEASURED)
        put_piece(frame, failed ? SCREEN_BAD : SCREEN_PLAIN, ", ", "%d failed",
                  failed);
    if (f->hosts == 0)
        return; /* it has ended */
    put_piece(frame, SCREEN_PLAIN, ", ", "%d building", f->building);
    if (f->kind != PROGRESS_BUILT)
        put_piece(frame, SCREEN_PLAIN, ", ", "%d measuring", f->measuring);
    put_piece(frame, SCREEN_PLAIN, ", ", "%d of %d host%s ready",
              f->hosts_ready, f->hosts, f->hosts == 1 ? "" : "s");
}

static void put_best(const struct progress_best *best, struct live_frame *frame)
{
    char time[LIVE_TEXT_BYTES];

    live_frame_line(frame);
    if (isnan(best->s)) {
        live_frame_put(frame, SCREEN_FAINT, "no time yet");
        return;
    }
    live_frame_put(frame, SCREEN_PLAIN, "best ");
    live_frame_put(frame, SCREEN_STRONG, "%s", live_text_time(best->s, time));
    if (best->baseline_s > 0)
        live_frame_put(frame, SCREEN_PLAIN, ", %.3fx baseline",
                       best->baseline_s / best->s);
    put_piece(frame, SCREEN_PLAIN, ": ", "%s", best->text);
}

static const char *left_usd(const struct progress_facts *f,
                            char out[LIVE_TEXT_BYTES])
{
    double rate = f->money.usd_per_h / 3600;
    const struct estimate_range usd = { f->left_s.low * rate,
                                        f->left_s.likely * rate,
                                        f->left_s.high * rate };

    return live_text_left_usd(&usd, out);
}

static void put_money(const struct progress_facts *f, struct live_frame *frame)
{
    const struct progress_money *money = &f->money;
    char usd[LIVE_TEXT_BYTES];

    if (isnan(money->usd)) {
        put_piece(frame, SCREEN_PLAIN, "; ", "unpriced");
        return;
    }
    put_piece(frame, SCREEN_PLAIN, "; ", "%s spent",
              live_text_usd(money->usd, usd));
    if (!isnan(f->left_s.likely))
        put_piece(frame, SCREEN_PLAIN, ", ", "%s%s to come",
                  estimate_is_narrow(&f->left_s) ? "about " : "",
                  left_usd(f, usd));
    if (money->unpriced > 0)
        put_piece(frame, SCREEN_PLAIN, ", ", "%d host%s unpriced",
                  money->unpriced, money->unpriced == 1 ? "" : "s");
}

static void put_time(const struct progress_facts *f, struct live_frame *frame)
{
    char text[LIVE_TEXT_BYTES];

    live_frame_line(frame);
    put_piece(frame, SCREEN_PLAIN, "", "%s",
              live_text_duration(f->elapsed_s, text));
    if (!isnan(f->left_s.likely))
        put_piece(frame, SCREEN_PLAIN, ", ", "%s to go",
                  live_text_left(&f->left_s, text));
    put_money(f, frame);
}

/* ---- lanes ---- */

static const struct {
    const char *word;
    enum screen_style style;
} states[] = {
    [PROGRESS_LANE_AWAY] = { "connecting", SCREEN_DOUBT },
    [PROGRESS_LANE_WAITS] = { "waiting", SCREEN_DOUBT },
    [PROGRESS_LANE_SETUP] = { "preparing", SCREEN_PLAIN },
    [PROGRESS_LANE_IDLE] = { "idle", SCREEN_FAINT },
    [PROGRESS_LANE_MEASURES] = { "measuring", SCREEN_PLAIN },
    [PROGRESS_LANE_LOST] = { "lost", SCREEN_BAD },
    [PROGRESS_LANE_FAILED] = { "not used", SCREEN_BAD },
};

enum {
    N_STATES = sizeof(states) / sizeof(states[0])
};

static void put_measuring(const struct progress_lane *lane,
                          struct live_frame *frame)
{
    char text[LIVE_TEXT_BYTES];

    live_frame_put(frame, SCREEN_PLAIN, "measuring %.*s%sfor %s", KEY_DIGITS,
                   lane->key, *lane->key ? " " : "",
                   live_text_duration(lane->measured_s, text));
    if (lane->building > 0)
        live_frame_put(frame, SCREEN_PLAIN, ", building %d", lane->building);
    live_frame_put(frame, SCREEN_FAINT, ": %s", lane->text);
}

static void put_lane(const struct progress_lane *lane, size_t host_columns,
                     struct live_frame *frame)
{
    bool idle = lane->state == PROGRESS_LANE_IDLE;
    int taken = (int)terminal_width(lane->host);
    int host = (int)host_columns;

    live_frame_line(frame);
    if (taken > host)
        live_frame_put(frame, SCREEN_PLAIN, "  %.*s..", host - 2, lane->host);
    else
        live_frame_put(frame, SCREEN_PLAIN, "  %s%*s", lane->host, host - taken,
                       "");
    if (lane->gpu >= 0)
        live_frame_put(frame, SCREEN_PLAIN, "  GPU %-2d  ", lane->gpu);
    else
        live_frame_put(frame, SCREEN_PLAIN, "  %-6s  ", "-");
    if (lane->state == PROGRESS_LANE_MEASURES) {
        put_measuring(lane, frame);
        return;
    }
    if (!idle || lane->building == 0)
        live_frame_put(frame, states[lane->state].style, "%s%s%s",
                       states[lane->state].word,
                       *lane->text && !idle ? ": " : "",
                       idle ? "" : lane->text);
    if (lane->building > 0)
        live_frame_put(frame, SCREEN_PLAIN, "%sbuilding %d", idle ? "" : ", ",
                       lane->building);
}

/* Lanes of one host stand together. */
static void put_rest(const struct progress_lane *lanes, size_t n,
                     struct live_frame *frame)
{
    int of[N_STATES] = { 0 }, building = 0, hosts = 0;

    for (size_t i = 0; i < n; i++) {
        of[lanes[i].state]++;
        building += lanes[i].building;
        hosts += i == 0 || strcmp(lanes[i].host, lanes[i - 1].host) != 0;
    }
    live_frame_line(frame);
    live_frame_put(frame, SCREEN_PLAIN, "  and %zu more on %d host%s", n, hosts,
                   hosts == 1 ? "" : "s");
    for (int i = 0, first = 1; i < N_STATES; i++)
        if (of[i] > 0) {
            live_frame_put(frame, states[i].style, "%s%d %s",
                           first ? ": " : ", ", of[i], states[i].word);
            first = 0;
        }
    if (building > 0)
        live_frame_put(frame, SCREEN_PLAIN, ", building %d", building);
}

static size_t host_columns_of(const struct progress_lane *lanes, size_t n,
                              size_t columns)
{
    size_t most = columns / 3, widest = 3;

    for (size_t i = 0; i < n; i++)
        if (terminal_width(lanes[i].host) > widest)
            widest = terminal_width(lanes[i].host);
    return widest < most ? widest : most < 3 ? 3 : most;
}

static void put_lanes(const struct progress_facts *f, size_t room,
                      struct live_frame *frame)
{
    size_t shown = f->n_lanes <= room ? f->n_lanes : room - 1, host;

    host = host_columns_of(f->lanes, shown, frame->columns);
    for (size_t i = 0; i < shown; i++)
        put_lane(&f->lanes[i], host, frame);
    if (shown < f->n_lanes)
        put_rest(&f->lanes[shown], f->n_lanes - shown, frame);
}

void live_view_frame(const struct progress_facts *facts, size_t rows,
                     struct live_frame *out)
{
    live_frame_line(out);
    put_piece(out, SCREEN_STRONG, "", "%s", facts->name);
    put_bar(facts, out);
    put_counts(facts, out);
    if (facts->kind == PROGRESS_TRIED ||
        (facts->kind == PROGRESS_MEASURED && !isnan(facts->best.s)))
        put_best(&facts->best, out);
    put_time(facts, out);
    live_frame_keep(out, rows > 1 ? rows - 1 : 1);
    out->head = out->n;
    if (rows > out->n + 1)
        put_lanes(facts, rows - out->n - 1, out);
}

/* ---- one line ---- */

static void line_of_counts(const struct progress_facts *f, struct buf *line)
{
    int failed = f->settled - f->correct;

    buf_printf(line, "%d/%d %s", done_of(f), f->total, words[f->kind]);
    if (counts_correct(f))
        buf_printf(line, "  %d correct", f->correct);
    if (f->kind != PROGRESS_MEASURED)
        buf_printf(line, "  %d failed", failed);
    if (f->hosts == 0)
        return; /* it has ended */
    buf_printf(line, "  %d building", f->building);
    if (f->kind != PROGRESS_BUILT)
        buf_printf(line, "  %d measuring  %d/%d hosts", f->measuring,
                   f->hosts_ready, f->hosts);
}

void live_view_line(const struct progress_facts *f, char *out, size_t size)
{
    char text[LIVE_TEXT_BYTES];
    struct buf line;

    buf_init(&line, LINE_BYTES);
    line_of_counts(f, &line);
    if (!isnan(f->best.s))
        buf_printf(&line, "  best %s", live_text_time(f->best.s, text));
    if (!isnan(f->best.s) && f->best.baseline_s > 0)
        buf_printf(&line, " (%.3fx baseline)", f->best.baseline_s / f->best.s);
    if (!isnan(f->money.usd))
        buf_printf(&line, "  %s", live_text_usd(f->money.usd, text));
    buf_printf(&line, "  %s", live_text_duration(f->elapsed_s, text));
    if (!isnan(f->left_s.likely)) {
        buf_printf(&line, ", %s", live_text_left(&f->left_s, text));
        if (!isnan(f->money.usd))
            buf_printf(&line, " and %s", left_usd(f, text));
        buf_printf(&line, " left");
    }
    snprintf(out, size, "%s", buf_text(&line));
    buf_fini(&line);
}
