#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_gpus.h"
#include "coordinator/text/json_out.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/table.h"

static void canary_cells(struct table *table,
                         const struct canary_calibration_gpu *canary)
{
    bool any = canary->n_canaries > 0;
    const double shares[] = { canary->offset, canary->fastest, canary->slowest,
                              canary->trend, canary->noise };

    table_cell(table, "%zu", canary->n_canaries);
    table_number(table, 2, any ? 1e6 * canary->level_s : (double)NAN);
    for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++)
        table_number(table, 1, any ? 100 * shares[i] : (double)NAN);
}

static void agreement_cell(struct table *table,
                           const struct gpu_agreement *agreement)
{
    if (agreement->n_shared == 0)
        table_cell(table, "-");
    else if (isinf(agreement->hi))
        table_cell(table, "%+.1f of %zu", 100 * agreement->offset,
                   agreement->n_shared);
    else
        table_cell(table, "%+.1f [%+.1f, %+.1f] of %zu",
                   100 * agreement->offset, 100 * agreement->lo,
                   100 * agreement->hi, agreement->n_shared);
}

static void print_findings(const struct report *report, FILE *to)
{
    static const struct canary_calibration_rules rules =
        CANARY_CALIBRATION_RULES;

    for (size_t i = 0; i < report->n_gpus; i++) {
        const struct report_gpu *gpu = &report->gpus[i];

        if (gpu->quarantined)
            fprintf(to, "%s was quarantined: %s\n", gpu->uuid,
                    gpu->quarantined);
        if (gpu->canary.drifts)
            paragraph_print(
                to, 0,
                "%s drifts: its canary differs from its own level by more "
                "than %.0f %%",
                gpu->uuid, 100 * rules.drift);
        if (gpu->agreement.disagrees)
            paragraph_print(
                to, 0,
                "%s disagrees with the other GPUs by more than the canary "
                "explains; which one is right is unknown",
                gpu->uuid);
        if (report->normalised && gpu->canary.n_canaries == 0)
            fprintf(to, "%s has no canary: its times are as measured\n",
                    gpu->uuid);
    }
}

bool report_gpus_has(const struct report *report)
{
    for (size_t i = 0; i < report->n_gpus; i++)
        if (report->gpus[i].quarantined)
            return true;
    return report->normalised;
}

void report_gpus_table(const struct report *report, FILE *to)
{
    struct table *table;

    if (!report_gpus_has(report))
        return;
    table = table_new();
    table_column(table, 'l', "host");
    table_column(table, 'l', "gpu");
    table_column(table, 'r', "measured");
    table_column(table, 'r', "repeated");
    table_column(table, 'r', "canaries");
    table_column(table, 'r', "us");
    table_column(table, 'r', "offset %");
    table_column(table, 'r', "fastest %");
    table_column(table, 'r', "slowest %");
    table_column(table, 'r', "trend %");
    table_column(table, 'r', "noise %");
    table_column(table, 'l', "off the others %");
    for (size_t i = 0; i < report->n_gpus; i++) {
        const struct report_gpu *gpu = &report->gpus[i];

        table_cell(table, "%s", gpu->host);
        table_cell(table, "%.12s", gpu->uuid);
        table_cell(table, "%" PRId64, gpu->measured);
        table_cell(table, "%" PRId64, gpu->repeated);
        canary_cells(table, &gpu->canary);
        agreement_cell(table, &gpu->agreement);
    }
    fputc('\n', to);
    table_print(table, to);
    table_free(table);
    paragraph_print(
        to, 0,
        "us: median of the GPU's canaries; offset: that median against "
        "the other GPUs, so that two GPUs show the same distance with both "
        "signs; fastest, "
        "slowest, trend: its canaries against their own level, over the sweep; "
        "off the others: by what all measured");
    print_findings(report, to);
}

static void put_canary(struct json_out *out,
                       const struct canary_calibration_gpu *canary)
{
    struct canary_calibration_gpu is = *canary;

    if (is.n_canaries == 0)
        is.level_s = is.offset = is.fastest = is.slowest = is.trend = is.noise =
            (double)NAN;
    json_out_int(out, "canaries", (int64_t)is.n_canaries);
    json_out_real(out, "canary_s", is.level_s);
    json_out_real(out, "offset", is.offset);
    json_out_real(out, "fastest", is.fastest);
    json_out_real(out, "slowest", is.slowest);
    json_out_real(out, "trend", is.trend);
    json_out_real(out, "noise", is.noise);
    json_out_bool(out, "drifts", is.drifts);
}

static void put_agreement(struct json_out *out,
                          const struct gpu_agreement *agreement)
{
    if (agreement->n_shared == 0) {
        json_out_null(out, "agreement");
        return;
    }
    json_out_open(out, "agreement", '{');
    json_out_int(out, "shared", (int64_t)agreement->n_shared);
    json_out_real(out, "offset", agreement->offset);
    json_out_real(out, "lo", agreement->lo);
    json_out_real(out, "hi", agreement->hi);
    json_out_bool(out, "disagrees", agreement->disagrees);
    json_out_close(out);
}

void report_put_gpus(struct json_out *out, const struct report *report)
{
    json_out_bool(out, "normalised", report->normalised);
    json_out_open(out, "gpus", '[');
    for (size_t i = 0; i < report->n_gpus; i++) {
        const struct report_gpu *gpu = &report->gpus[i];

        json_out_open(out, NULL, '{');
        json_out_text(out, "gpu", gpu->uuid);
        json_out_text(out, "gpu_name", gpu->name);
        json_out_text(out, "host", gpu->host);
        json_out_int(out, "measured", gpu->measured);
        json_out_int(out, "repeated", gpu->repeated);
        put_canary(out, &gpu->canary);
        put_agreement(out, &gpu->agreement);
        if (gpu->quarantined)
            json_out_text(out, "quarantined", gpu->quarantined);
        else
            json_out_null(out, "quarantined");
        json_out_close(out);
    }
    json_out_close(out);
}
