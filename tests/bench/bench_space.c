/* bench_space - how long it takes to construct a space
 *
 * For each sweep file named (by default those of tests/bench/space), the bench
 * opens the space and walks all points that pass, and takes the best of five
 * times.  JSON goes to stdout; the figure comes last, to stderr.  The table has
 * the targets.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "coordinator/space/space.h"
#include "coordinator/text/json_out.h"

#define ROUNDS 5

struct figure {
    int64_t size, passed;
    double seconds;
};

static double seconds_since(int64_t start_ns)
{
    return (double)(clock_boot_ns() - start_ns) / (double)NS_PER_S;
}

static int walk(const char *path, struct figure *out, struct err *err)
{
    const struct gpu_arch_facts *facts = gpu_arch_find(GPU_ARCH_DEFAULT);
    int64_t start_ns = clock_boot_ns();
    struct space_point point;
    struct space *space = NULL;
    struct spec *spec;
    int rc = spec_load(path, &spec, err);

    if (rc < 0)
        return rc;
    rc = space_open(spec, facts, "cuda", NULL, &space, err);
    out->passed = 0;
    while (rc == 0 && (rc = space_next(space, &point, err)) > 0) {
        out->passed++;
        rc = 0;
        continue;
    }
    out->seconds = seconds_since(start_ns);
    out->size = rc < 0 ? 0 : space_size(space);
    space_close(space);
    spec_free(spec);
    return rc;
}

int main(int argc, char *argv[])
{
    static const char *const files[] = {
        FA_SOURCE_DIR "/tests/bench/space/gemm.json",
        FA_SOURCE_DIR "/tests/bench/space/hotspot.json",
    };
    int n = argc > 1 ? argc - 1 : 2;
    struct figure best = { 0 }, figure;
    struct json_out out;
    struct err err;

    if (hash_setup(&err) < 0)
        return 1;
    json_out_init(&out, stdout);
    json_out_open(&out, NULL, '[');
    for (int i = 0; i < n; i++) {
        const char *path = argc > 1 ? argv[1 + i] : files[i];

        for (int round = 0; round < ROUNDS; round++) {
            if (walk(path, &figure, &err) < 0) {
                fprintf(stderr, "%s\n", err.text);
                return 1;
            }
            if (round == 0 || figure.seconds < best.seconds)
                best = figure;
        }
        json_out_open(&out, NULL, '{');
        json_out_text(&out, "file", path);
        json_out_int(&out, "points", best.size);
        json_out_int(&out, "passed", best.passed);
        json_out_real(&out, "seconds", best.seconds);
        json_out_close(&out);
    }
    json_out_close(&out);
    fprintf(stderr, "%lld points, %lld pass, %.3f s (target 0.4)\n",
            (long long)best.size, (long long)best.passed, best.seconds);
    return 0;
}
