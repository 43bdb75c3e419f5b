#include "common/mem.h"
#include "worker/runner/input_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 3, 4))) static int
fail(struct device_err *err, const struct wire_arg *arg, const char *fmt, ...)
{
    va_list args;
    int n =
        snprintf(err->text, sizeof(err->text), "the file of '%s': ", arg->name);

    va_start(args, fmt);
    vsnprintf(err->text + n, sizeof(err->text) - (size_t)n, fmt, args);
    va_end(args);
    return DEVICE_BROKEN;
}

/* As many bytes as the buffer has, and no more. */
static int read_bytes(FILE *file, const struct wire_arg *arg, void *bytes,
                      size_t len, struct device_err *err)
{
    size_t n = fread(bytes, 1, len, file);

    if (ferror(file))
        return fail(err, arg, "%s", strerror(errno));
    if (n < len)
        return fail(err, arg, "%zu bytes instead of %zu", n, len);
    if (fgetc(file) != EOF)
        return fail(err, arg, "more than %zu bytes", len);
    return 0;
}

int input_file_fill(struct device *device, const char *folder,
                    const struct wire_arg *arg, struct device_buffer *buffer,
                    struct device_err *err)
{
    const size_t len = (size_t)arg->count * element_bytes(arg->type);
    char path[WIRE_PATH_MAX + WIRE_NAME_MAX + 2];
    void *bytes;
    FILE *file;
    int rc;

    snprintf(path, sizeof(path), "%s/%s", folder, arg->file);
    file = fopen(path, "rb");
    if (!file)
        return fail(err, arg, "%.800s: %s", path, strerror(errno));
    bytes = mem_new(len, 1);
    rc = read_bytes(file, arg, bytes, len, err);
    if (rc == 0)
        rc = device_write(device, buffer, bytes, err);
    free(bytes);
    fclose(file);
    return rc;
}
