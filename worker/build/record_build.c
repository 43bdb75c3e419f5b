#include "worker/build/record_build.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/outcome.h"
#include "worker/runner/device/record.h"

#define NO_PROGRAM 127 /* not the source's fault (child.h) */

static int hand_on(const char *from, const char *to)
{
    char bytes[65536];
    FILE *in = fopen(from, "re"), *out = fopen(to, "we");
    size_t n = in ? fread(bytes, 1, sizeof(bytes), in) : 0;
    int rc = in && out && fwrite(bytes, 1, n, out) == n ? 0 : -1;

    if (in)
        fclose(in);
    if (out && fclose(out) != 0)
        rc = -1;
    return rc;
}

int record_build(const char *record, const char *artifact, const char *speed_up)
{
    double speed = strtod(speed_up, NULL);
    char why[RECORD_WHY_MAX];
    struct record read;

    if (!(speed > 0) || !isfinite(speed)) {
        fprintf(stderr, "the speed-up '%s' is not a number above 0\n",
                speed_up);
        return NO_PROGRAM;
    }
    if (record_read(record, &read, why) < 0) {
        fprintf(stderr, "%s: %s\n", record, why);
        return NO_PROGRAM;
    }
    record_wait(read.build_s, speed);
    if (read.outcome == OUTCOME_COMPILE) {
        fputs(read.reason[0] ? read.reason : "recorded without a reason",
              stderr);
        return 1;
    }
    if (hand_on(record, artifact) < 0) {
        fprintf(stderr, "%s: %s\n", artifact, strerror(errno));
        return NO_PROGRAM;
    }
    return 0;
}
