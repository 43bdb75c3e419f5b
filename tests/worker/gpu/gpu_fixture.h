/* gpu_fixture.h - a folder, a GPU in it, and stand-ins for its fa-runner */
#ifndef FA_TESTS_WORKER_GPU_GPU_FIXTURE_H
#define FA_TESTS_WORKER_GPU_GPU_FIXTURE_H

#include <stdint.h>

#include "worker/gpu/gpu.h"

#define RUNNER FA_BINARY_DIR "/bin/fa-runner"
#define KERNELS FA_BINARY_DIR "/tests/fixtures/"

/* What a MEASURE message holds: no paths. */
#define REQUEST(entry)                                                        \
    "entry " entry "\n"                                                       \
    "grid 16 1 1\nblock 64 1 1\nsmem 0\n"                                     \
    "arg a fp32 buffer 1000 normal 1 in\n"                                    \
    "arg b fp32 buffer 1000 normal 1 in\n"                                    \
    "arg out fp32 buffer 1000 poison 1 out relative_l2 1e-6 max_error 1e-5\n" \
    "arg n int32 scalar 1000\n"                                               \
    "reference sum 16 1 1 64 1 1 0\n"                                         \
    "seed 1\ntrials 2\nwarmups 1\nsamples 5 5\nnoise 0.01\nmargin "           \
    "1.1\nincumbent_s 0\nl2 flush\n"                                          \
    "timeout_s 10\n"

/* Stand-ins for fa-runner: a shell script that answers each request. */
#define READ_REQUEST "while read -r line && [ \"$line\" ]; do :; done; "
#define SAY_OPEN READ_REQUEST "printf 'ok\\nfact uuid emulation\\n\\n'; "
#define PRINT_CORRECT                                                         \
    "printf 'outcome correct\\ndetail \\nrelative_l2 0\\nmax_error 0\\n"      \
    "max_at 0\\nargument out\\nsample 0.001\\nsampling fixed\\nl2 warm\\n"    \
    "checked 1 same\\nblocked 0\\nclock_mhz 1 1\\ntemp_c 1 1\\n"              \
    "power_w 1 1\\nthrottle 0x0 0x0\\nheld_s 0.1\\nregs 1\\nlocal_bytes 0\\n" \
    "static_smem 0\\npoisoned 0\\n\\n'; "
#define SAY_CORRECT READ_REQUEST PRINT_CORRECT

extern char gpu_fixture_dir[]; /* the worker's folder, once it is set up */

int gpu_fixture_set_up(void **state);
int gpu_fixture_tear_down(void **state);

/* A runner that is this shell script. */
const char *gpu_fixture_script(const char *text);
/* Another one, in a file of this name beside it. */
void gpu_fixture_write(const char *name, const char *text, char path[64]);

struct gpu *gpu_fixture_open(const char *runner);
struct gpu *gpu_fixture_open_cuda(const char *runner); /* a stand-in */
struct gpu *gpu_fixture_open_spares(const char *runner, size_t spares);
/* By a stand-in for fa-facts. */
struct gpu *gpu_fixture_open_facts(const char *facts);
void gpu_fixture_step(struct gpu *gpu);
/* Wait until it is KNOWN, IDLE or in TROUBLE. */
enum gpu_state gpu_fixture_settle(struct gpu *gpu);
struct gpu_result gpu_fixture_measure_job(struct gpu *gpu,
                                          const struct gpu_job *job);
struct gpu_result gpu_fixture_measure(struct gpu *gpu, const char *request,
                                      const char *artifact, int64_t limit_ns);

#define MEASURE(gpu, entry) \
    gpu_fixture_measure(gpu, REQUEST(entry), KERNELS entry ".so", 0)

#endif
