#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "coordinator/problem/t1.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Any file gives a sweep file or one error. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct t1 *problem;
    struct err err = { "" };
    struct buf text;
    char path[64];
    int fd = memfd_create("t1.json", MFD_CLOEXEC);

    assert(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    (void)t1_is(path);
    if (t1_load(path, len % 2, &problem, &err) == 0) {
        buf_init(&text, 1 << 20);
        t1_sweep_text(problem, &text);
        assert(text.len > 0 && t1_points(problem) > 0);
        buf_fini(&text);
        t1_free(problem);
    } else {
        assert(err.text[0]);
    }
    close(fd);
    return 0;
}
