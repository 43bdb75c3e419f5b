#include "coordinator/plan/external_times.h"

#include <string.h>

#include "common/err.h"
#include "coordinator/confirm/confirmation.h"
#include "coordinator/plan/external_baseline.h"
#include "coordinator/stored/stored_contest.h"

struct telling {
    int64_t first;
    confirmation_replay_time_fn *fn;
    void *arg;
};

static void tell(void *arg, const struct stored_contest_output *row)
{
    const struct telling *telling = arg;
    struct external_baseline_output output;
    struct err why = { "" };

    if (external_baseline_read(row->output, strlen(row->output), row->seconds,
                               &output, &why) < 0)
        return;
    telling->fn(telling->arg, &(struct confirmation_replay_time){
                                  .shape = (size_t)row->shape,
                                  .block = (int)(row->round - telling->first),
                                  .gpu = row->gpu,
                                  .seconds = output.samples,
                                  .n = output.n });
    external_baseline_output_fini(&output);
}

int external_times(struct store *store, const struct confirmation *confirmation,
                   confirmation_replay_time_fn *fn, void *arg, struct err *err)
{
    struct telling telling = { confirmation_round(confirmation, 0), fn, arg };

    return stored_contest_outputs(
        store, confirmation->against, confirmation->pass, telling.first,
        telling.first + CONFIRMATION_ROUNDS, tell, &telling, err);
}
