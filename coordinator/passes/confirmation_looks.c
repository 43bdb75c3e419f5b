/* Looks at a confirmation: its stored results say how it continues. */
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/confirm/confirmation_replay.h"
#include "coordinator/confirm/sequential.h"
#include "coordinator/passes/confirmation_internal.h"
#include "coordinator/passes/confirmation_looks.h"
#include "coordinator/plan/external_times.h"
#include "coordinator/text/exit_code.h"

static int number_of(void *arg, const char *uuid)
{
    return confirmation_state_card(arg, uuid);
}

int confirmation_looks_replay(struct sweep *sweep, struct confirmation_pass *c,
                              bool *out, const struct sequential **found,
                              struct err *err)
{
    return confirmation_replay_on(
        sweep->mail.store, c->is,
        &(struct confirmation_replay_ask){ number_of, c, external_times },
        &c->course, out, found, err);
}

void confirmation_looks_apply(struct confirmation_pass *c,
                              const struct sequential *found)
{
    int complete = block_schedule_complete(c->confirm), steps = 0;
    int more = found->next - found->complete;

    if (c->is->looks.group == 0)
        return;
    c->end = found->end;
    c->looks = found->looks;
    c->samples = found->samples;
    for (size_t i = 0; i < c->is->n_running; i++) {
        bool rests = found->candidates[i].dropped;

        block_schedule_rest(c->confirm, (int)i, rests);
        steps += !rests && !block_schedule_is_out(c->confirm, (int)i);
    }
    more = found->end == SEQUENTIAL_OPEN ? more : 0;
    block_schedule_want(c->confirm, complete + more);
    c->total = c->done + more * steps * (int)c->is->n_shapes;
}

static void say(struct sweep *sweep, const struct confirmation_pass *c,
                const struct sequential *found)
{
    int left = 0;

    for (size_t i = 1; i < c->is->n_running; i++)
        left += !found->candidates[i].dropped &&
                !block_schedule_is_out(c->confirm, (int)i);
    if (found->end != SEQUENTIAL_OPEN)
        progress_say(sweep->reactor.progress, "%d of at most %d blocks: %s",
                     found->used, found->most,
                     sequential_end_words(found->end));
    else if (found->looks > 0)
        progress_say(sweep->reactor.progress,
                     "after %d of at most %d blocks, %d of %zu finalists can "
                     "still be the best%s",
                     found->used, found->most, left, c->is->n_running - 1,
                     found->noise.noticed ? "; processes differ by more than "
                                            "their samples"
                                          : "");
}

void confirmation_looks_take(struct sweep *sweep, struct confirmation_pass *c)
{
    bool *out = mem_new(c->is->n_running, sizeof(*out));
    const struct sequential *found;
    struct err err;
    int looks = c->looks;

    (void)confirmation_looks_replay(sweep, c, out, &found, &err);
    if (!found) {
        reactor_fail(sweep, EXIT_DATABASE, &err);
    } else {
        confirmation_looks_apply(c, found);
        if (found->looks != looks)
            say(sweep, c, found);
    }
    free(out);
}

void confirmation_looks_close(struct sweep *sweep, struct confirmation_pass *c)
{
    if (c->is->looks.group == 0) {
        progress_say(sweep->reactor.progress, "%d of %d blocks: %s",
                     block_schedule_complete(c->confirm), c->is->blocks,
                     sequential_end_words(SEQUENTIAL_BUDGET));
        return;
    }
    sequential_course_free(c->course); /* of a pass that goes on */
    c->course = NULL;
    c->looks = -1; /* say how it ended, also without a new look */
    confirmation_looks_take(sweep, c);
}
