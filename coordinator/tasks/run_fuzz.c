/* The fuzz proof: checks the selected configurations, in a database of its own.
 */
#include "coordinator/tasks/run.h"

#include <stdlib.h>

#include "common/err.h"
#include "coordinator/plan/plan.h"
#include "coordinator/reactor/sweep.h"
#include "coordinator/result/fuzz.h"
#include "coordinator/spec/spec.h"

struct judging {
    const struct spec *spec;
    struct fuzz *out;
    bool *judged;
};

static int judge(void *arg, const struct plan *plan, struct store *store,
                 struct err *err)
{
    struct judging *judging = arg;
    int rc = fuzz_collect(plan, judging->spec, store, judging->out, err);

    *judging->judged = rc == 0;
    return rc;
}

int run_fuzz(struct run *run, const struct plan_ask *ask, double usd_before,
             struct fuzz *out, bool *judged)
{
    struct judging judging = { run->spec, out, judged };
    const struct sweep_options options = {
        .command = "fuzz",
        .ask = ask,
        .dial.db = run->db, /* the invitations are those of the command */
        .caps.usd_before = usd_before,
        .done = { judge, &judging },
    };
    const struct spec_measure measure = run->spec->measure;
    char *db = run->db;
    struct err err;
    int code;

    run->spec->measure.least = 1; /* only correctness matters */
    run->spec->measure.most = 1;
    run->spec->measure.warmups = 0;
    run->spec->measure.proof = true;
    run->db = run_fuzz_path(db);
    code = run_engine(run, &options, &err);
    free(run->db);
    run->db = db;
    run->spec->measure = measure;
    return code;
}
