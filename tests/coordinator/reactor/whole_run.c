#include "tests/coordinator/reactor/whole_run.h"

#include "common/clock.h"
#include "common/err.h"
#include "coordinator/reactor/sweep.h"

int whole_run(struct rig *rig, void (*turn)(struct rig *), double seconds,
              struct err *err)
{
    const struct sweep_io io = rig_io(rig);

    rig->turn = turn;
    rig->options.caps.max_hours = seconds / 3600;
    *err = (struct err){ "" };
    return sweep_run_with(&io, rig->sweep.work.spec, &rig->hosts,
                          rig->sweep.mail.store, &rig->options, err);
}

void whole_run_step(struct rig *rig)
{
    rig->now_ns = RIG_START_NS + rig->turns * WHOLE_RUN_STEP_NS;
}

void whole_run_step_with_host(struct rig *rig)
{
    whole_run_step(rig);
    if (rig->turns != 1)
        return;
    rig->news = (struct host_thread_news){ .event = HOST_THREADS_ATTACHED };
    rig->has_news = true;
    rig_queue(rig, 0, rig_hello(7));
    rig_queue(rig, 0, rig_gpu("GPU-0"));
    rig_queue(rig, 0, rig_is_ready());
}
