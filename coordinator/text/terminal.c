#include "coordinator/text/terminal.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "coordinator/text/utf8.h"

#define ALL(byte) (UINT64_MAX / 255 * (byte)) /* eight of them */

/* The length of the printable ASCII at the beginning, which is nearly always
 * the whole text.  Eight bytes at a time: the top bit of one is set if it is
 * below 0x20 (a borrow), if it is 0x7f (a carry) or if it was set. */
static size_t printable(const char *text)
{
    size_t len = strlen(text), n = 0;

    for (uint64_t word; n + sizeof(word) <= len; n += sizeof(word)) {
        memcpy(&word, text + n, sizeof(word));
        if (((word - ALL(0x20)) | (word + ALL(1)) | word) & ALL(0x80))
            break;
    }
    while (text[n] >= 0x20 && text[n] < 0x7f)
        n++;
    return n;
}

char *terminal_clean(char *text, bool lines)
{
    unsigned char *from = (unsigned char *)text + printable(text), *to = from;

    while (*from) {
        size_t n;
        bool c1;

        if (*from >= 0x20 && *from < 0x7f) {
            *to++ = *from++;
            continue;
        }
        n = utf8_sequence((const char *)from);
        c1 = n == 2 && from[0] == 0xc2 && from[1] < 0xa0;
        if (*from == '\t') {
            *to++ = ' ';
            from++;
        } else if (n == 0 || c1 || *from == 0x7f ||
                   (*from < 0x20 && !(lines && *from == '\n'))) {
            *to++ = '?';
            from += n ? n : 1;
        } else {
            memmove(to, from, n);
            to += n;
            from += n;
        }
    }
    *to = '\0';
    return text;
}

size_t terminal_width(const char *text)
{
    size_t width = 0;

    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* Is it a pipe that nobody reads any more?  A stream that stands for standard
 * output or error has no descriptor of its own (patient_stdio.h). */
static bool is_left(FILE *to)
{
    int fd = to == stdout   ? STDOUT_FILENO
             : to == stderr ? STDERR_FILENO
                            : fileno(to);
    struct pollfd end = { .fd = fd, .events = POLLOUT };

    return poll(&end, 1, 0) == 1 && (end.revents & POLLERR) != 0;
}

int terminal_flush(FILE *to, struct err *err)
{
    int why;

    errno = 0;
    why = fflush(to) == 0 ? 0 : errno;
    if (!why && !ferror(to))
        return 0;
    /* an earlier call noticed it where there is no reason any more */
    if (why == EPIPE || (!why && is_left(to))) {
        clearerr(to);
        return 0;
    }
    return err_set(err, ERR_SYSTEM, "output: %s",
                   why ? strerror(why)
                       : "not all of it could be written; is the disk full?");
}
