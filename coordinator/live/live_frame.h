/* live_frame.h - lines of a terminal that are drawn again in place
 *
 * A frame is a block of lines; the cursor stands at the beginning of the line
 * below it.  No line reaches the last column, so that none wraps.  Lines that
 * changed are written again, from the column where they differ.
 * Pure.
 */
#ifndef FA_COORDINATOR_LIVE_LIVE_FRAME_H
#define FA_COORDINATOR_LIVE_LIVE_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "coordinator/print/screen.h"

struct live_line {
    struct buf text; /* with the codes of colours */
    size_t columns;  /* that it takes */
    bool full;       /* something was cut off */
};

struct live_frame {
    struct live_line *lines;
    size_t n;
    size_t head;    /* lines that stay when nothing more is drawn */
    size_t columns; /* of the terminal */
    bool colours;
};

void live_frame_init(struct live_frame *frame, size_t columns, bool colours);
void live_frame_fini(struct live_frame *frame);

/* Begin a line.  Text goes to the last one. */
void live_frame_line(struct live_frame *frame);
void live_frame_keep(struct live_frame *frame, size_t n); /* drop the others */
/* What does not fit is cut off, which ".." shows. */
void live_frame_put(struct live_frame *frame, enum screen_style style,
                    const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Columns that are left in the last line. */
size_t live_frame_room(const struct live_frame *frame);

/* ---- the bytes for a terminal */
/* Turn one frame into another.  If the width of the terminal has changed, the
 * old lines are taken to be wrapped at the new one; so below. */
void live_frame_turn(const struct live_frame *from, const struct live_frame *to,
                     struct buf *out);
/* Print text above the frame, which is drawn again below it. */
void live_frame_say(const struct live_frame *frame, size_t columns,
                    const char *text, struct buf *out);
/* Leave the head of the frame for good. */
void live_frame_end(const struct live_frame *frame, size_t columns,
                    struct buf *out);

#endif
