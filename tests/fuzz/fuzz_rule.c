#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/spec/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const char text[] =
    "{ \"name\": \"f\", \"kernel\": { \"source\": \"k.cu\", \"entry\": \"k\" },"
    "\"tunables\": { \"A\": [1, 2], \"B\": [0, 1], \"MODE\": [\"x\", \"y\"] },"
    "\"derived\": { \"T\": \"A * B\" },"
    "\"gates\": [ { \"name\": \"g\", \"reject\": \"A > 1\" } ],"
    "\"launch\": { \"grid\": [1], \"block\": [1] },"
    "\"shapes\": [ { \"name\": \"s\", \"N\": 7 } ],"
    "\"arguments\": [ { \"name\": \"o\", \"type\": \"fp32\", \"shape\": [1],"
    "\"output\": true } ], \"reference\": { \"source\": \"k.cu\","
    "\"entry\": \"k\", \"launch\": { \"grid\": [1], \"block\": [1] } },"
    "\"tolerance\": { \"relative_l2\": 1, \"max_error\": 1 },"
    "\"baseline\": { \"A\": 1, \"B\": 1, \"MODE\": \"x\" } }";

/* Any text, used as a rule, lets at most eight points pass or is refused with
 * one error, and has no other effect. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct space_gate_count count;
    struct space *space;
    struct spec *spec;
    struct err err;
    int64_t passed;

    if (memchr(bytes, '\0', len) ||
        spec_parse("/nonexistent", "f", text, sizeof(text) - 1, &spec, &err) <
            0)
        return 0;
    free(spec->space.gates[0].rule.text);
    spec->space.gates[0].rule.text = mem_dup(bytes, len);
    if (space_open(spec, gpu_arch_find(GPU_ARCH_DEFAULT), "cuda", NULL, &space,
                   &err) < 0) {
        assert(strncmp(err.text, "f:", 2) == 0);
    } else {
        if (space_count(space, &count, &passed, &err) == 0)
            assert(passed >= 0 && passed <= 8 &&
                   passed + count.rejected_first == 8);
        space_close(space);
    }
    spec_free(spec);
    return 0;
}
