#include "worker/tool/tool_line.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/mem.h"
#include "worker/process/child.h"

#define READ_BYTES 16384

void tool_line_init(struct tool_line *line, size_t max)
{
    *line = (struct tool_line){ .ended = true };
    buf_init(&line->text, max);
}

void tool_line_fini(struct tool_line *line)
{
    buf_fini(&line->text);
}

bool tool_line_ask(struct tool_line *line, const struct child *child,
                   const char *question)
{
    size_t max = line->text.max, len = strlen(question);
    char end[] = "\n", stray;
    struct iovec parts[] = { { mem_strdup(question), len }, { end, 1 } };
    bool silent = !line->more && read(child_out(child), &stray, 1) < 0;
    ssize_t n = silent ? writev(child_in(child), parts, 2) : -1;

    free(parts[0].iov_base);
    buf_fini(&line->text);
    *line = (struct tool_line){ .ended = false };
    buf_init(&line->text, max);
    return n == (ssize_t)len + 1;
}

void tool_line_read(struct tool_line *line, const struct child *child)
{
    char bytes[READ_BYTES];
    ssize_t n;

    while (!line->ended && !line->flooded &&
           (n = read(child_out(child), bytes, sizeof(bytes))) > 0) {
        const char *end = memchr(bytes, '\n', (size_t)n);
        size_t len = end ? (size_t)(end - bytes) : (size_t)n;

        line->flooded = !buf_add(&line->text, bytes, len);
        line->ended = end != NULL;
        line->more = end && len + 1 < (size_t)n;
    }
}
