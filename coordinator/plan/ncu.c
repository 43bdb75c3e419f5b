#include "coordinator/plan/ncu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"

#define COLUMNS_MAX 4096
#define NAMES 3 /* names of one figure; they differ between GPUs */

#define OF_PEAK ".avg.pct_of_peak_sustained_elapsed"
#define OF_ACTIVE ".avg.pct_of_peak_sustained_active"

static const struct {
    const char *key, *text;
    const char *names[NAMES]; /* the first one that has a value is used */
} figures[NCU_FIGURES] = {
    [NCU_DURATION] = { "duration_s",
                       "time us",
                       { "gpu__time_duration.sum", "gpu__time_duration.avg" } },
    [NCU_SM] = { "sm_pct", "SM %", { "sm__throughput" OF_PEAK } },
    [NCU_TENSOR] = { "tensor_pct",
                     "tensor pipe %",
                     { "sm__pipe_tensor_cycles_active" OF_PEAK,
                       "sm__inst_executed_pipe_tensor" OF_PEAK,
                       "sm__inst_executed_pipe_tensor" OF_ACTIVE } },
    [NCU_XU] = { "xu_pct",
                 "exponentials (XU pipe) %",
                 { "sm__inst_executed_pipe_xu" OF_PEAK,
                   "sm__inst_executed_pipe_xu" OF_ACTIVE } },
    [NCU_DRAM] = { "dram_pct",
                   "DRAM %",
                   { "gpu__dram_throughput" OF_PEAK,
                     "dram__throughput" OF_PEAK } },
    [NCU_DRAM_BYTES] = { "dram_bytes", "DRAM bytes", { "dram__bytes.sum" } },
    [NCU_L2] = { "l2_pct", "L2 %", { "lts__throughput" OF_PEAK } },
    [NCU_L1] = { "l1_pct",
                 "L1 and shared memory %",
                 { "l1tex__throughput" OF_PEAK,
                   "l1tex__throughput" OF_ACTIVE } },
    [NCU_SHARED] = { "shared_pct",
                     "shared memory data %",
                     { "l1tex__data_pipe_lsu_wavefronts_mem_shared" OF_PEAK,
                       "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_"
                       "peak_sustained_elapsed",
                       "l1tex__data_pipe_lsu_wavefronts" OF_PEAK } },
    [NCU_SHARED_WAVEFRONTS] = { "shared_wavefronts",
                                "shared memory wavefronts",
                                { "l1tex__data_pipe_lsu_wavefronts_mem_shared."
                                  "sum" } },
    [NCU_BANK_CONFLICTS] = { "bank_conflicts",
                             "bank conflicts",
                             { "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"
                               ".sum" } },
    [NCU_OCCUPANCY] = { "occupancy_pct",
                        "occupancy achieved %",
                        { "sm__warps_active" OF_ACTIVE } },
    [NCU_OCCUPANCY_LIMIT] = { "occupancy_limit_pct",
                              "occupancy possible %",
                              { "sm__maximum_warps_per_active_cycle_pct" } },
    [NCU_REGISTERS] = { "registers",
                        "registers a thread",
                        { "launch__registers_per_thread" } },
    [NCU_ISSUE] = { "issue_pct",
                    "issue slots used %",
                    { "smsp__issue_active" OF_ACTIVE,
                      "sm__inst_issued" OF_ACTIVE } },
    [NCU_ELIGIBLE] = { "eligible_warps",
                       "eligible warps a scheduler",
                       { "smsp__warps_eligible.avg.per_cycle_active" } },
};

const char *ncu_key(enum ncu_figure figure)
{
    return figures[figure].key;
}

const char *ncu_text(enum ncu_figure figure)
{
    return figures[figure].text;
}

size_t ncu_command(const char *entry, bool flushed,
                   const char *out[NCU_ARGUMENTS_MAX])
{
    static const char *const sections[] = {
        "SpeedOfLight",
        "ComputeWorkloadAnalysis",
        "MemoryWorkloadAnalysis",
        "MemoryWorkloadAnalysis_Tables",
        "Occupancy",
        "LaunchStats",
        "SchedulerStats",
        "WarpStateStats",
    };
    static const char *const before[] = {
        "ncu",
        "--csv",
        "--page",
        "raw",
        "--print-units",
        "base",
        "--clock-control",
        "none", /* clocks as the sweep found them */
        "--launch-skip",
        "1", /* the first launch of a process is slower */
        "--launch-count",
        "1",
    };
    size_t n = 0;

    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
        out[n++] = before[i];
    out[n++] = "--cache-control";
    out[n++] = flushed ? "all" : "none";
    out[n++] = "--kernel-name";
    out[n++] = entry;
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        out[n++] = "--section";
        out[n++] = sections[i];
    }
    out[n++] = "{runner}";
    return n;
}

/* ---- CSV */

/* Take the next field of a line, in place; NULL after the last. */
static char *next_field(char **rest)
{
    char *from = *rest, *to, *out;
    bool quoted;

    if (!from)
        return NULL;
    quoted = *from == '"';
    from += quoted;
    out = to = from;
    while (*from && (quoted || *from != ',')) {
        if (quoted && *from == '"') {
            if (from[1] != '"') {
                from++;
                quoted = false;
                continue;
            }
            from++;
        }
        *to++ = *from++;
    }
    *rest = *from == ',' ? from + 1 : NULL;
    *to = '\0';
    return out;
}

static size_t split(char *line, char *fields[COLUMNS_MAX])
{
    size_t n = 0;

    while (n < COLUMNS_MAX && (fields[n] = next_field(&line)))
        n++;
    return n;
}

/* Parse "1,234.5"; NaN for "n/a" and "". */
static double number_of(const char *text)
{
    char digits[64];
    size_t n = 0;
    char *end;
    double number;

    for (; *text && n + 1 < sizeof(digits); text++)
        if (*text != ',')
            digits[n++] = *text;
    digits[n] = '\0';
    number = strtod(digits, &end);
    return n == 0 || *end || *text || !isfinite(number) ? (double)NAN : number;
}

/* Convert to seconds or bytes from the unit that was printed. */
static double scale_of(const char *unit)
{
    static const struct {
        const char *name;
        double scale;
    } units[] = {
        { "nsecond", 1e-9 }, { "ns", 1e-9 },      { "usecond", 1e-6 },
        { "us", 1e-6 },      { "msecond", 1e-3 }, { "ms", 1e-3 },
        { "Kbyte", 1e3 },    { "Mbyte", 1e6 },    { "Gbyte", 1e9 },
    };

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(units[i].name, unit) == 0)
            return units[i].scale;
    return 1;
}

/* ---- metrics */

/* Which metric name of each figure was found. */
struct reading {
    struct ncu_profile *out;
    int found[NCU_FIGURES];         /* 0: none yet, else 1 + the name's index */
    double dram_read, dram_written; /* bytes; NAN: unknown */
};

static void take_stall(struct ncu_profile *out, const char *name, double value)
{
    static const char before[] = "smsp__average_warps_issue_stalled_";
    static const char after[] = "_per_issue_active.ratio";
    size_t len = strlen(name), head = sizeof(before) - 1,
           tail = sizeof(after) - 1, at = out->n_stalls;
    struct ncu_stall stall = { .warps = value };

    if (len <= head + tail || memcmp(name, before, head) != 0 ||
        strcmp(name + len - tail, after) != 0 || strstr(name, "not_issued") ||
        len - head - tail >= sizeof(stall.reason) ||
        out->n_stalls == NCU_STALLS_MAX)
        return;
    memcpy(stall.reason, name + head, len - head - tail);
    for (; at > 0 && out->stalls[at - 1].warps < value; at--)
        out->stalls[at] = out->stalls[at - 1];
    out->stalls[at] = stall;
    out->n_stalls++;
}

static void take_metric(struct reading *reading, const char *name,
                        const char *unit, const char *text)
{
    double value = number_of(text) * scale_of(unit);

    if (isnan(value))
        return;
    for (int f = 0; f < NCU_FIGURES; f++)
        for (int i = 0; i < NAMES && figures[f].names[i]; i++)
            if (strcmp(figures[f].names[i], name) == 0 &&
                (reading->found[f] == 0 || i + 1 < reading->found[f])) {
                reading->found[f] = i + 1;
                reading->out->figures[f] = value;
            }
    if (strcmp(name, "dram__bytes_read.sum") == 0)
        reading->dram_read = value;
    if (strcmp(name, "dram__bytes_write.sum") == 0)
        reading->dram_written = value;
    take_stall(reading->out, name, value);
}

static char *next_line(char **rest)
{
    char *line = *rest, *end;

    if (!line || !*line)
        return NULL;
    end = strchr(line, '\n');
    *rest = end ? end + 1 : NULL;
    if (end)
        *end = '\0';
    line[strcspn(line, "\r")] = '\0';
    return line;
}

/* The table has one column for each metric: names, units, and one row for the
 * launch. */
static bool read_table(char *text, struct reading *reading)
{
    static const char head[] = "\"ID\",";
    char **names = mem_new(3 * COLUMNS_MAX, sizeof(*names));
    char **units = names + COLUMNS_MAX, **values = units + COLUMNS_MAX;
    size_t n = 0, n_units, n_values;
    bool whole = false;
    char *line;

    while ((line = next_line(&text)))
        if (strncmp(line, head, sizeof(head) - 1) == 0)
            break;
    if (line) {
        char *second = next_line(&text), *third = next_line(&text);

        n = split(line, names);
        n_units = second ? split(second, units) : 0;
        n_values = third ? split(third, values) : 0;
        whole = n > 0 && n_units == n && n_values == n;
    }
    for (size_t i = 0; whole && i < n; i++)
        take_metric(reading, names[i], units[i], values[i]);
    free(names);
    return whole;
}

static int without_table(const char *output, const char *log, struct err *err)
{
    if (strstr(output, "ERR_NVGPUCTRPERM") || strstr(log, "ERR_NVGPUCTRPERM"))
        return err_set(err, ERR_INPUT,
                       "the worker's user may not read the GPU's counters "
                       "(ERR_NVGPUCTRPERM): load the driver's module with "
                       "NVreg_RestrictProfilingToAdminUsers=0, or run the "
                       "worker as root (in a container with CAP_SYS_ADMIN)");
    if (strstr(output, "No kernels were profiled") ||
        strstr(log, "No kernels were profiled"))
        return err_set(err, ERR_INPUT,
                       "ncu saw no launch of the kernel; is the configuration "
                       "correct at this shape?");
    return err_set(err, ERR_INPUT, "ncu printed no table of metrics");
}

int ncu_read(const char *output, const char *log, struct ncu_profile *out,
             struct err *err)
{
    struct reading reading = {
        .out = out,
        .dram_read = (double)NAN,
        .dram_written = (double)NAN,
    };
    char *copy = mem_strdup(output);
    bool whole;

    *out = (struct ncu_profile){ .n_stalls = 0 };
    for (int f = 0; f < NCU_FIGURES; f++)
        out->figures[f] = (double)NAN;
    whole = read_table(copy, &reading);
    free(copy);
    if (!whole)
        return without_table(output, log, err);
    if (reading.found[NCU_DRAM_BYTES] == 0) /* NAN unless both are known */
        out->figures[NCU_DRAM_BYTES] = reading.dram_read + reading.dram_written;
    if (reading.found[NCU_DURATION] == 0)
        return err_set(err, ERR_INPUT, "the table of ncu has no column %s",
                       figures[NCU_DURATION].names[0]);
    return 0;
}
