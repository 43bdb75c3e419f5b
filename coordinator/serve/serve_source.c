#include "coordinator/serve/serve_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/page/page.h"
#include "coordinator/page/page_history.h"
#include "coordinator/report/report_loaded.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/report_objective.h"
#include "coordinator/result/status.h"
#include "coordinator/store/store.h"
#include "coordinator/text/json_out.h"

static void clear(struct serve_summary *summary)
{
    free(summary->name);
    free(summary->device);
    free(summary->arch);
    free(summary->shape);
    free(summary->sentence);
    *summary = (struct serve_summary){ .best_s = (double)NAN,
                                       .baseline_s = (double)NAN,
                                       .usd = (double)NAN };
}

static void summarise(const struct report_loaded *loaded,
                      const struct status *status, struct serve_summary *out)
{
    const struct report *report = loaded->report;
    const struct report_config *baseline = report_baseline(report);
    int objective = report_objective(report);

    clear(out);
    out->name = mem_strdup(report->name);
    out->device = mem_strdup(report->device);
    out->arch = mem_strdup(report->arch);
    out->shape = mem_strdup(report_objective_name(report, objective));
    out->sentence = mem_strdup(loaded->conclusion->sentence);
    if (report->n_configs && report->configs[0].rank) {
        memcpy(out->best_key, report->configs[0].key, sizeof(out->best_key));
        out->best_s =
            report_objective_time(report, &report->configs[0], objective);
    }
    if (baseline && baseline->rank)
        out->baseline_s = report_objective_time(report, baseline, objective);
    out->hours = loaded->cost->total_hours;
    out->usd = loaded->cost->total_usd;
    out->settled = status->done;
    out->total = status->total;
}

static void make_page(struct serve_source *source,
                      const struct report_loaded *loaded,
                      const struct page_history *history)
{
    char seed[160];
    FILE *to;

    snprintf(seed, sizeof(seed), "%s %llu %lld %lld %lld %lld", source->version,
             (unsigned long long)source->stamp.file,
             (long long)source->stamp.bytes, (long long)source->stamp.log_bytes,
             (long long)serve_stamp_written_utc(&source->stamp),
             (long long)clock_boot_ns());
    hash_of(seed, strlen(seed), source->version);
    free(source->page);
    to = mem_stream(&source->page, &source->page_bytes);
    page_write(&loaded->view, history, source->version, to);
    mem_stream_close(to, &source->page);
}

static int read_store(struct store *store, struct serve_source *source,
                      struct err *err)
{
    struct report_loaded loaded;
    struct page_history history = { 0 };
    struct status status = { 0 };
    int rc = report_loaded_init(store, &(struct report_wanted){ .whole = true },
                                &loaded, err);

    if (rc == 0)
        rc = page_history_load(store, loaded.report, &history, err);
    if (rc == 0)
        rc = status_load(store, loaded.report, clock_utc_ns(), &status, err);
    if (rc == 0) {
        summarise(&loaded, &status, &source->summary);
        make_page(source, &loaded, &history);
    }
    status_fini(&status);
    page_history_fini(&history);
    report_loaded_fini(&loaded);
    return rc;
}

static int read_file(struct serve_source *source, struct err *err)
{
    struct store *store = NULL;
    int rc = store_open(source->path, STORE_WHOLE, &store, err);

    if (rc == 0)
        rc = read_store(store, source, err);
    store_close(store);
    return rc;
}

static void note_replaced(struct serve_source *source, int64_t utc_ns)
{
    char at[CLOCK_ISO_BYTES];

    clock_iso(utc_ns, at);
    err_set(&source->notice, 0,
            "%s was replaced by another file, which is shown since %s",
            source->path, at);
}

static int read_again(struct serve_source *source,
                      const struct serve_stamp *stamp, int64_t utc_ns)
{
    int64_t began = clock_boot_ns();
    struct err err = { "" };
    int rc;

    if (serve_stamp_is_replaced(&source->stamp, stamp))
        note_replaced(source, utc_ns);
    if (stamp->exists || !source->version[0])
        source->stamp = *stamp;
    else
        source->stamp.exists = source->stamp.running = false;
    if (!stamp->exists && source->version[0])
        rc = err_set(&err, ERR_STORE,
                     "%s was deleted or moved; this is what it held",
                     source->path);
    else
        rc = read_file(source, &err);
    source->problem = rc < 0 ? err : (struct err){ "" };
    source->turn.ended_ns = clock_boot_ns();
    source->turn.took_ns = source->turn.ended_ns - began;
    source->turn.recent = serve_stamp_is_recent(stamp, utc_ns);
    source->behind = source->turn.recent;
    return rc;
}

void serve_source_look(struct serve_source *source, int64_t now_ns,
                       int64_t utc_ns)
{
    struct serve_stamp stamp = serve_stamp_take(source->path);
    bool changed = !serve_stamp_is_same(&stamp, &source->stamp);

    if (serve_stamp_is_due(&source->turn, changed, now_ns))
        (void)read_again(source, &stamp, utc_ns); /* 'problem' has it */
    else
        source->behind = changed || source->turn.recent;
}

int serve_source_open(const char *path, struct serve_source *out,
                      struct err *err)
{
    struct serve_stamp stamp = serve_stamp_take(path);
    int rc;

    *out = (struct serve_source){ .path = mem_strdup(path) };
    clear(&out->summary);
    rc = read_again(out, &stamp, clock_utc_ns());
    if (rc == 0 || rc == ERR_INPUT)
        return 0;
    *err = out->problem;
    serve_source_close(out);
    return rc;
}

void serve_source_close(struct serve_source *source)
{
    clear(&source->summary);
    free(source->page);
    free(source->path);
    *source = (struct serve_source){ 0 };
}

char *serve_source_version_json(const struct serve_source *source)
{
    struct json_out out;
    char *text;
    size_t len;
    FILE *to = mem_stream(&text, &len);

    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    json_out_text(&out, "version", source->version);
    json_out_bool(&out, "running", source->stamp.running);
    json_out_bool(&out, "behind", source->behind);
    json_out_int(&out, "settled", source->summary.settled);
    json_out_int(&out, "total", source->summary.total);
    json_out_utc(&out, "written", serve_stamp_written_utc(&source->stamp));
    json_out_text(&out, "problem", source->problem.text);
    json_out_text(&out, "notice", source->notice.text);
    json_out_close(&out);
    mem_stream_close(to, &text);
    return text;
}
