#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* fopencookie() */
#endif
#include "coordinator/live/patient_stdio.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "coordinator/live/patient_out.h"

struct stream {
    FILE **where;
    int fd;
    FILE *plain; /* NULL: it is not replaced */
    struct patient_out *out;
};

static struct stream streams[] = { { .where = &stdout, .fd = STDOUT_FILENO },
                                   { .where = &stderr, .fd = STDERR_FILENO } };

enum {
    STDERR = 1,
    STREAMS = 2
};

static ssize_t put(void *out, const char *text, size_t len)
{
    if (patient_out_write(out, text, len))
        return (ssize_t)len;
    errno = EPIPE;
    return 0; /* an error, for the stream */
}

static void begin(struct stream *stream)
{
    FILE *file = NULL;

    if (stream->plain)
        return;
    stream->out = patient_out_new(stream->fd);
    if (stream->out)
        file = fopencookie(stream->out, "w",
                           (cookie_io_functions_t){ .write = put });
    if (!file) {
        patient_out_free(stream->out, 0);
        stream->out = NULL;
        return;
    }
    setvbuf(file, NULL, stream->fd == STDERR_FILENO ? _IONBF : _IOLBF, 0);
    fflush(*stream->where);
    stream->plain = *stream->where;
    *stream->where = file;
}

void patient_stdio_begin(void)
{
    for (int i = 0; i < STREAMS; i++)
        begin(&streams[i]);
}

bool patient_stdio_is_clear(void)
{
    return !streams[STDERR].plain || patient_out_is_clear(streams[STDERR].out);
}

/* Without a reader the error goes on with the stream that was there before. */
static void end(struct stream *stream)
{
    FILE *file = *stream->where;
    bool failed = fflush(file) != 0 || ferror(file);

    fclose(file);
    *stream->where = stream->plain;
    stream->plain = NULL;
    patient_out_free(stream->out, -1);
    stream->out = NULL;
    if (failed) {
        fputc('\n', *stream->where);
        fflush(*stream->where);
    }
}

void patient_stdio_end(void)
{
    for (int i = 0; i < STREAMS; i++)
        if (streams[i].plain)
            end(&streams[i]);
}
