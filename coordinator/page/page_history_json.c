#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "coordinator/page/page_data.h"
#include "coordinator/page/page_history.h"
#include "coordinator/text/json_out.h"

static void put_bins(struct json_out *out, const char *key, const double *bins,
                     int digits)
{
    bool any = false;

    for (size_t b = 0; b < PAGE_HISTORY_BINS; b++)
        any = any || (isfinite(bins[b]) && bins[b] != 0);
    if (!any)
        return;
    json_out_open(out, key, '[');
    for (size_t b = 0; b < PAGE_HISTORY_BINS; b++)
        page_data_real(out, NULL, bins[b], digits);
    json_out_close(out);
}

static void put_runs(struct json_out *out, const struct page_history *history)
{
    json_out_open(out, "runs", '[');
    for (size_t i = 0; i < history->n_runs; i++) {
        const struct page_run *run = &history->runs[i];

        json_out_open(out, NULL, '{');
        json_out_text(out, "command", run->command);
        json_out_utc(out, "start", run->start_utc);
        page_data_real(out, "offset_s", run->offset_s, 9);
        page_data_real(out, "seconds", run->seconds, 9);
        json_out_close(out);
    }
    json_out_close(out);
}

static void put_hosts(struct json_out *out, const struct page_history *history)
{
    json_out_open(out, "hosts", '[');
    for (size_t i = 0; i < history->n_hosts; i++) {
        json_out_open(out, NULL, '{');
        json_out_text(out, "host", history->hosts[i].name);
        for (int c = 0; c <= LEDGER_LOST; c++)
            put_bins(out, ledger_category_name((enum ledger_category)c),
                     history->hosts[i].seconds[c], 4);
        json_out_close(out);
    }
    json_out_close(out);
}

static void put_gpus(struct json_out *out, const struct page_history *history)
{
    static const char *const names[] = { "screen", "canary", "confirm" };

    json_out_open(out, "gpus", '[');
    for (size_t i = 0; i < history->n_gpus; i++) {
        const struct page_gpu *gpu = &history->gpus[i];

        json_out_open(out, NULL, '{');
        json_out_text(out, "gpu", gpu->uuid);
        for (int u = 0; u < PAGE_USES; u++)
            put_bins(out, names[u], gpu->seconds[u], 4);
        put_bins(out, "clock_mhz", gpu->clock_mhz, 5);
        put_bins(out, "temp_c", gpu->temp_c, 4);
        put_bins(out, "power_w", gpu->power_w, 4);
        json_out_close(out);
    }
    json_out_close(out);
}

static void put_canaries(struct json_out *out,
                         const struct page_history *history)
{
    json_out_open(out, "canaries", '[');
    for (size_t i = 0; i < history->n_canaries; i++) {
        json_out_open(out, NULL, '[');
        json_out_int(out, NULL, (int64_t)history->canaries[i].gpu);
        page_data_real(out, NULL, history->canaries[i].at_s, 6);
        page_data_real(out, NULL, history->canaries[i].seconds, 6);
        json_out_close(out);
    }
    json_out_close(out);
}

void page_history_json(const struct page_history *history, struct json_out *out)
{
    json_out_open(out, "history", '{');
    page_data_real(out, "total_s", history->total_s, 9);
    json_out_int(out, "bins", PAGE_HISTORY_BINS);
    put_runs(out, history);
    put_hosts(out, history);
    put_gpus(out, history);
    put_canaries(out, history);
    json_out_close(out);
}
