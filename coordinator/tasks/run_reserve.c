#include "coordinator/tasks/run_reserve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/device_kind.h"
#include "common/err.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/replay/replay.h"
#include "coordinator/schedule/bill.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/spec/spec.h"
#include "coordinator/store/dbfile.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_held.h"
#include "coordinator/stored/stored_times.h"
#include "coordinator/stored/stored_work.h"
#include "coordinator/tasks/run.h"
#include "coordinator/tasks/run_budget.h"

/* For the cpu device: enough to test the whole pipeline. */
#define EMULATED_BLOCKS 3
#define EMULATED_FINALISTS 3

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool is_emulated(const struct run *run)
{
    return device_kind_is(run->set.device, DEVICE_KIND_CPU);
}

int64_t run_reserve_finalists(const struct run *run)
{
    int64_t most = run->spec->confirm.finalists_max;

    return is_emulated(run) ? less(most, EMULATED_FINALISTS) : most;
}

int64_t run_reserve_blocks(const struct run *run)
{
    int64_t blocks = run->spec->confirm.blocks;

    return is_emulated(run) ? less(blocks, EMULATED_BLOCKS) : blocks;
}

/* So many measurements of a contestant are its proof. */
static int64_t proofs_of(const struct run *run)
{
    size_t shapes;

    if (run->spec->confirm.unproved || run->replay)
        return 0;
    spec_fuzz_shapes(run->spec, run->set.device, &shapes);
    return (int64_t)shapes * run->spec->measure.proof_seeds;
}

void run_reserve_pass(const struct run *run, struct reserve_pass *out)
{
    const struct spec_confirm *spec = &run->spec->confirm;
    bool looks = !is_emulated(run) && spec->blocks_group > 0;
    int slots, gpus;
    size_t shapes;

    spec_shapes(run->spec, run->set.device, &shapes);
    search_settings_hosts(&run->hosts, &slots, &gpus);
    *out = (struct reserve_pass){
        .contestants = 1 + less(run_reserve_finalists(run), RESERVE_FINALISTS),
        .shapes = (int64_t)shapes,
        .blocks = looks ? spec->blocks_max : run_reserve_blocks(run),
        .proofs = proofs_of(run),
        .externals = (int64_t)run->spec->externals.n,
        .gpus = gpus,
    };
    out->external_blocks = out->blocks;
}

static void add_held(void *arg, const struct store_held *held)
{
    bill_add(arg, held->end_ns - held->start_ns, held->rate_usd_per_h);
}

/* How long the hosts may still be held; infinite without a cap. */
static double left_s(const struct run *run, double usd)
{
    struct reserve_caps caps = {
        .max_s = run->set.max_hours * 3600,
        .used_s = (double)(clock_boot_ns() - run->began_ns) / (double)NS_PER_S,
        .max_usd = run->set.budget_usd > 0
                       ? run->set.budget_usd + run_budget_more()
                       : 0,
        .used_usd = usd,
    };

    for (size_t i = 0; i < run->hosts.n; i++)
        if (run->hosts.list[i].has_rate)
            caps.usd_per_h += run->hosts.list[i].rate;
    return reserve_left_s(&caps);
}

static struct reserve_times times_of(const struct stored_times *was)
{
    return (struct reserve_times){ was->start_s, was->build_s, was->measure_s,
                                   was->external_s };
}

int run_reserve_learnt(const struct run *run, struct reserve_times *out,
                       struct err *err)
{
    const char *db = run->set.times;
    struct stored_times was = { .device = "" };
    struct store *store = NULL;
    int rc;

    *out = RESERVE_TIMES_UNKNOWN;
    if (!db)
        return 0;
    rc = store_open(db, STORE_READ, &store, err);
    if (rc == 0)
        rc = stored_times_load(store, &was, err);
    store_close(store);
    if (rc < 0)
        return rc;
    if (strcmp(was.device, run->set.device) != 0)
        return err_set(err, ERR_INPUT,
                       "--times=%s: %s%s, which says nothing about device %s",
                       db, was.device[0] ? "a sweep on device " : "no sweep",
                       was.device, run->set.device);
    *out = times_of(&was);
    return 0;
}

/* What run->db knows. */
static int past_of(const struct run *run, struct reserve_times *out,
                   struct bill *bill, struct err *err)
{
    struct stored_times was = { .device = "" };
    struct store *store = NULL;
    int rc;

    *out = RESERVE_TIMES_UNKNOWN;
    if (dbfile_is_new(run->db))
        return 0;
    rc = store_open(run->db, STORE_READ, &store, err);
    if (rc == 0)
        rc = stored_times_load(store, &was, err);
    if (rc == 0)
        rc = stored_work_held(store, add_held, bill, err);
    if (rc == 0)
        *out = times_of(&was);
    store_close(store);
    return rc;
}

int run_reserve_past(const struct run *run, struct run_reserve_past *out,
                     struct err *err)
{
    double speed_up = run->replay ? replay_speed_up(run->replay) : 1;
    struct reserve_times was = RESERVE_TIMES_UNKNOWN, learnt, usual;
    struct bill bill = { 0 };
    int rc = run_reserve_learnt(run, &learnt, err);

    *out = (struct run_reserve_past){ .left_s = 0 };
    if (rc == 0)
        rc = past_of(run, &was, &bill, err);
    if (rc < 0)
        return rc;
    was = reserve_times_or(was, &learnt);
    usual = reserve_times_default(hosts_are_local(&run->hosts));
    out->times = reserve_times_or(was, &usual);
    out->builds = !isnan(was.build_s);
    out->times.build_s /= speed_up;
    out->times.measure_s /= speed_up;
    out->used_usd = bill.priced_usd;
    out->left_s = left_s(run, bill.priced_usd);
    return 0;
}

/* Says a cap that buys no verdict, before anything is held. */
static void say_too_little(const struct run *run, double left, double need)
{
    double usd_per_s = 0;

    for (size_t i = 0; i < run->hosts.n; i++)
        if (run->hosts.list[i].has_rate)
            usd_per_s += run->hosts.list[i].rate / 3600;
    if (run->set.budget_usd > 0 && usd_per_s > 0)
        fprintf(stderr,
                "$%.2g of the budget are left, and the baseline and a "
                "confirmation take about $%.2g: there may be no verdict; raise "
                "--budget, or do without with \"confirm\": false\n",
                fmax(left, 0) * usd_per_s, need * usd_per_s);
    else
        fprintf(stderr,
                "%.2g s are left, and the baseline and a confirmation take "
                "about %.2g s: there may be no verdict; raise --max-hours, or "
                "do without with \"confirm\": false\n",
                fmax(left, 0), need);
}

int run_reserve_say(const struct run *run, const struct reserve_pass *reserve,
                    struct err *err)
{
    struct run_reserve_past past;
    double need_s;
    int rc = run_reserve_past(run, &past, err);

    if (rc < 0)
        return rc;
    need_s = past.times.start_s + reserve_committed_s(&past.times) +
             reserve_s(reserve, &past.times);
    if (past.left_s < need_s && !run->set.quiet)
        say_too_little(run, past.left_s, need_s);
    return 0;
}
