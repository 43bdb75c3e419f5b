#include "worker/runner/device/record.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/outcome.h"

#define WAIT_MAX_S 1e6 /* real time; longer waits are killed before */
#define LEAST_S 1e-9   /* shorter times cannot be measured, so do not wait */

static bool read_outcome(const char *text, struct record *out)
{
    out->reference = strcmp(text, "reference") == 0;
    return out->reference || (outcome_read(text, &out->outcome) &&
                              out->outcome <= OUTCOME_TIMEOUT);
}

static bool read_seconds(const char *text, double *out)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !isfinite(value) || value < 0)
        return false;
    *out = value;
    return true;
}

static bool read_sample(const char *text, struct record *out)
{
    double *sample = &out->samples[out->n_samples];

    if (out->n_samples == RECORD_SAMPLES_MAX || !read_seconds(text, sample) ||
        *sample == 0)
        return false;
    out->n_samples++;
    return true;
}

static bool read_line(char *line, struct record *out)
{
    char *value = strchr(line, ' ');

    if (!value)
        return false;
    *value++ = '\0';
    if (strcmp(line, "config") == 0)
        return true; /* it makes the artifact unique */
    if (strcmp(line, "outcome") == 0)
        return read_outcome(value, out);
    if (strcmp(line, "build_s") == 0)
        return read_seconds(value, &out->build_s);
    if (strcmp(line, "verify_s") == 0)
        return read_seconds(value, &out->verify_s);
    if (strcmp(line, "bench_s") == 0)
        return read_seconds(value, &out->bench_s);
    if (strcmp(line, "sample") == 0)
        return read_sample(value, out);
    if (strcmp(line, "reason") != 0)
        return false;
    snprintf(out->reason, sizeof(out->reason), "%s", value);
    return true;
}

static int read_lines(FILE *file, struct record *out, char why[RECORD_WHY_MAX])
{
    char line[RECORD_LINE_MAX];

    for (int number = 1; fgets(line, sizeof(line), file); number++) {
        bool head = number == 1;

        line[strcspn(line, "\n")] = '\0';
        if (head ? strcmp(line, "record 1") != 0 : !read_line(line, out)) {
            snprintf(why, RECORD_WHY_MAX,
                     "line %d is not a line of a record: %.80s", number, line);
            return -1;
        }
    }
    if (out->outcome == OUTCOME_CORRECT && !out->reference &&
        out->n_samples == 0) {
        snprintf(why, RECORD_WHY_MAX, "the record has no sample");
        return -1;
    }
    return 0;
}

int record_read(const char *path, struct record *out, char why[RECORD_WHY_MAX])
{
    FILE *file = fopen(path, "re");
    int rc;

    memset(out, 0, sizeof(*out));
    if (!file) {
        snprintf(why, RECORD_WHY_MAX, "%s", strerror(errno));
        return -1;
    }
    rc = read_lines(file, out, why);
    fclose(file);
    return rc;
}

void record_wait(double seconds, double speed_up)
{
    double wait = fmin(seconds / speed_up, WAIT_MAX_S);
    struct timespec left = { 0 };

    if (!(wait > LEAST_S))
        return;
    left.tv_sec = (time_t)wait;
    left.tv_nsec = (long)((wait - floor(wait)) * 1e9);
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}
