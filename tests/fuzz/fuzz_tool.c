#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/plan/external_baseline.h"
#include "coordinator/plan/ncu.h"
#include "coordinator/plan/sanitizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check_external(const char *text)
{
    struct external_baseline_output output;
    struct err err = { "" };

    if (external_baseline_read(text, strlen(text), 1, &output, &err) < 0) {
        assert(err.text[0] && !strchr(err.text, '\n') && !output.samples);
        return;
    }
    assert(output.n > 0);
    for (size_t i = 0; i < output.n; i++)
        assert(output.samples[i] > 0 && output.samples[i] < 2);
    external_baseline_output_fini(&output);
}

static void check_profile(const char *text)
{
    struct ncu_profile profile;
    struct err err = { "" };

    if (ncu_read(text, "", &profile, &err) < 0) {
        assert(err.text[0]);
        return;
    }
    assert(isfinite(profile.figures[NCU_DURATION]));
    for (size_t i = 1; i < profile.n_stalls; i++)
        assert(profile.stalls[i].warps <= profile.stalls[i - 1].warps);
}

static void check_sanitizer(const char *text)
{
    struct sanitizer_report report;
    struct err err = { "" };
    int rc = sanitizer_read(text, text, &report, &err);

    assert((rc < 0) == (report.errors < 0) && (rc == 0 || err.text[0]));
    assert(report.n <= SANITIZER_FINDINGS_MAX);
    for (size_t i = 0; i < report.n; i++) {
        const struct sanitizer_finding *finding = &report.findings[i];

        assert(finding->count > 0);
        assert(finding->where[0] || finding->thread[0] || finding->block[0]);
        assert(!strchr(finding->kind, '\n') && !strchr(finding->where, '\n'));
    }
}

/* Any output of a command gives a result or one error. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text = mem_dup(bytes, len);

    check_external(text);
    check_profile(text);
    check_sanitizer(text);
    free(text);
    return 0;
}
