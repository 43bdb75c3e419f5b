#include "coordinator/live/live_frame.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/text/terminal.h"

#define LINE_MAX_BYTES 4096
#define PUT_BYTES 1024

void live_frame_init(struct live_frame *frame, size_t columns, bool colours)
{
    *frame = (struct live_frame){ .columns = columns, .colours = colours };
}

void live_frame_fini(struct live_frame *frame)
{
    for (size_t i = 0; i < frame->n; i++)
        buf_fini(&frame->lines[i].text);
    free(frame->lines);
    frame->lines = NULL;
    frame->n = 0;
}

void live_frame_keep(struct live_frame *frame, size_t n)
{
    while (frame->n > n)
        buf_fini(&frame->lines[--frame->n].text);
}

void live_frame_line(struct live_frame *frame)
{
    struct live_line *line;

    frame->lines = mem_grow(frame->lines, frame->n + 1, sizeof(*frame->lines));
    line = &frame->lines[frame->n++];
    *line = (struct live_line){ .columns = 0 };
    buf_init(&line->text, LINE_MAX_BYTES);
}

size_t live_frame_room(const struct live_frame *frame)
{
    const struct live_line *line = &frame->lines[frame->n - 1];
    size_t most = frame->columns - 1;

    return line->full || line->columns >= most ? 0 : most - line->columns;
}

static bool is_inside(unsigned char c) /* of a UTF-8 sequence */
{
    return (c & 0xc0) == 0x80;
}

/* The bytes of the first columns. */
static size_t bytes_of(const char *text, size_t columns)
{
    size_t at = 0;

    for (size_t i = 0; i < columns && text[at]; i++)
        for (at++; is_inside((unsigned char)text[at]);)
            at++;
    return at;
}

void live_frame_put(struct live_frame *frame, enum screen_style style,
                    const char *fmt, ...)
{
    struct live_line *line = &frame->lines[frame->n - 1];
    size_t room = live_frame_room(frame), width;
    bool styled = frame->colours && style != SCREEN_PLAIN;
    char text[PUT_BYTES];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    terminal_clean(text, false);
    width = terminal_width(text);
    if (room == 0 || width == 0)
        return;
    if (width > room) {
        line->full = true;
        width = room;
        snprintf(text + bytes_of(text, room > 2 ? room - 2 : 0), 3, "%.*s",
                 (int)(room < 2 ? room : 2), "..");
    }
    if (styled)
        buf_printf(&line->text, "\033[%sm", screen_code(style));
    buf_str(&line->text, text);
    if (styled)
        buf_str(&line->text, "\033[0m");
    line->columns += width;
}

/* ---- on the terminal ---- */

/* Rows that its lines from 'first' on take on a terminal of this width. */
static size_t rows_of(const struct live_frame *frame, size_t first,
                      size_t columns)
{
    size_t rows = 0;

    for (size_t i = first; i < frame->n; i++) {
        size_t taken = frame->lines[i].columns;

        rows += taken <= columns ? 1 : (taken + columns - 1) / columns;
    }
    return rows;
}

static void up(size_t rows, struct buf *out)
{
    if (rows > 0)
        buf_printf(out, "\r\033[%zuA", rows);
}

/* Bytes at the beginning that both have, without codes, and at least some. */
static size_t same_bytes(const char *a, const char *b)
{
    size_t n = 0;

    while (a[n] && a[n] == b[n] && a[n] != '\033')
        n++;
    while (n > 0 &&
           (is_inside((unsigned char)a[n]) || is_inside((unsigned char)b[n])))
        n--;
    return n;
}

static void put_change(const struct live_line *was, const struct live_line *is,
                       struct buf *out)
{
    const char *text = buf_text(&is->text);
    size_t same = same_bytes(buf_text(&was->text), text), columns = 0;

    for (size_t i = 0; i < same; i++)
        columns += !is_inside((unsigned char)text[i]);
    if (columns > 4) /* a code takes as many bytes */
        buf_printf(out, "\033[%zuC", columns);
    else
        same = 0;
    buf_str(out, text + same);
    if (is->columns < was->columns)
        buf_str(out, "\033[K");
}

static bool is_same(const struct live_line *a, const struct live_line *b)
{
    return strcmp(buf_text(&a->text), buf_text(&b->text)) == 0;
}

static void put_all(const struct live_frame *frame, struct buf *out)
{
    for (size_t i = 0; i < frame->n; i++)
        buf_printf(out, "%s\n", buf_text(&frame->lines[i].text));
}

static void erase_from(const struct live_frame *frame, size_t first,
                       size_t columns, struct buf *out)
{
    if (frame->n == 0)
        return;
    up(rows_of(frame, first, columns), out);
    buf_str(out, "\r\033[J");
}

void live_frame_say(const struct live_frame *frame, size_t columns,
                    const char *text, struct buf *out)
{
    erase_from(frame, 0, columns, out);
    buf_printf(out, "%s\n", text);
    put_all(frame, out);
}

void live_frame_end(const struct live_frame *frame, size_t columns,
                    struct buf *out)
{
    erase_from(frame, frame->head, columns, out);
}

void live_frame_turn(const struct live_frame *from, const struct live_frame *to,
                     struct buf *out)
{
    size_t first = 0;

    if (from->n > 0 && from->columns != to->columns) {
        erase_from(from, 0, to->columns, out);
        put_all(to, out);
        return;
    }
    while (first < from->n && first < to->n &&
           is_same(&from->lines[first], &to->lines[first]))
        first++;
    if (first == from->n && first == to->n)
        return;
    up(from->n - first, out);
    for (size_t i = first; i < to->n; i++) {
        if (i >= from->n)
            buf_str(out, buf_text(&to->lines[i].text));
        else if (!is_same(&from->lines[i], &to->lines[i]))
            put_change(&from->lines[i], &to->lines[i], out);
        buf_str(out, "\n");
    }
    if (from->n > to->n)
        buf_str(out, "\033[J");
}
