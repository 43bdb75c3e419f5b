#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/err.h"
#include "coordinator/replay/replay.h"
#include "coordinator/spec/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Every configuration of the sweep has a record. */
static void look_at(struct replay *replay, const struct spec *spec)
{
    struct value values[SPEC_AXES_MAX];
    struct buf text;
    struct err err;

    buf_init(&text, 1 << 20);
    assert(replay_size(replay) > 0 && spec->space.n_axes <= SPEC_AXES_MAX);
    for (int i = 0; i < replay_size(replay); i++) {
        replay_values(replay, i, values);
        assert(replay_record(replay, values, &text, &err) == 0);
    }
    buf_fini(&text);
}

/* Any file gives a record or one error.  A record gives a sweep file that
 * matches it, unless it exceeds the limits of sweep files. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct replay_options options = { .speed_up = 1 };
    struct landscape *land;
    struct replay *replay = NULL;
    struct spec *spec = NULL;
    struct err err = { "" };
    char path[64];
    int fd = memfd_create("cache.json", MFD_CLOEXEC);

    assert(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    options.file = path;
    if (landscape_load(options.file, &land, &err) == 0 &&
        replay_open(&options, &land, &replay, &err) == 0) {
        if (replay_spec(replay, NULL, &spec, &err) == 0)
            look_at(replay, spec);
        else
            assert(err.text[0]);
        spec_free(spec);
        replay_close(replay);
    } else {
        assert(err.text[0]);
    }
    close(fd);
    return 0;
}
