#include "coordinator/page/page_data.h"

#include "common/device_kind.h"
#include "common/err.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_print.h"
#include "coordinator/lessons/lessons.h"
#include "coordinator/lessons/lessons_print.h"
#include "coordinator/page/page_history.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/text/json_out.h"

enum {
    PAIRS_SHOWN = 20 /* of tunables, the strongest */
};

static void put_named(struct json_out *out, const struct spec_named *named)
{
    json_out_open(out, NULL, '{');
    json_out_text(out, "name", named->name);
    json_out_text(out, "rule", named->rule.text);
    json_out_close(out);
}

/* What rules may name beside tunables, so that the page can evaluate them.
 * Nothing if the stored sweep file cannot be read any more. */
static void put_names(struct json_out *out, const struct report *report)
{
    struct stored_spec stored;
    struct err err;

    bool known = false;

    json_out_open(out, "derived", '[');
    if (stored_spec_open(report, &stored, &err) == 0) {
        for (size_t i = 0; i < stored.spec->space.n_derived; i++)
            put_named(out, &stored.spec->space.derived[i]);
        stored_spec_close(&stored);
        known = true;
    }
    json_out_close(out);
    json_out_raw(out, "facts", known ? report->sweep.facts : "{}");
}

/* With forty tunables, all pairs would be an eighth of the page, which asks for
 * the first one. */
static void put_lessons(struct json_out *out, const struct lessons *lessons)
{
    struct lessons shown = *lessons;

    if (shown.importance.n_pairs > PAIRS_SHOWN)
        shown.importance.n_pairs = PAIRS_SHOWN;
    lessons_json(&shown, out, "lessons");
}

void page_data_json(const struct report_view *view,
                    const struct page_history *history, FILE *to)
{
    const struct report *report = view->report;
    struct json_out out;

    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    report_put_sweep(&out, report);
    report_put_counts(&out, report);
    report_put_shapes(&out, report);
    report_put_gpus(&out, report);
    put_names(&out, report);
    page_configs_json(report, history, &out);
    conclusion_json(view->conclusion, &out, "verdict");
    if (view->lessons)
        put_lessons(&out, view->lessons);
    report_put_cost(&out, report, view->cost);
    page_history_json(history, &out);
    json_out_close(&out);
}
