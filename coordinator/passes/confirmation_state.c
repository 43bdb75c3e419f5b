/* What the files of a confirmation share: its cards, dropped candidates, and
 * why it has failed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/passes/confirmation_internal.h"
#include "coordinator/state/records.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/shell_word.h"

int confirmation_state_card(struct confirmation_pass *c, const char *uuid)
{
    for (int i = 0; i < c->n_cards; i++)
        if (strcmp(c->cards[i].uuid, uuid) == 0)
            return i;
    c->cards = mem_grow(c->cards, (size_t)c->n_cards + 1, sizeof(*c->cards));
    c->cards[c->n_cards] = (struct card){ .host = -1 };
    snprintf(c->cards[c->n_cards].uuid, sizeof(c->cards[0].uuid), "%s", uuid);
    return c->n_cards++;
}

void confirmation_state_out(struct sweep *sweep, struct confirmation_pass *c,
                            int candidate, const char *reason)
{
    char name[160];
    struct err err;

    block_schedule_out(c->confirm, candidate);
    if (confirmation_put_out(sweep->mail.store, c->is, (size_t)candidate,
                             reason, &err) < 0)
        reactor_fail(sweep, EXIT_DATABASE, &err);
    records_dirty(sweep);
    plan_display(sweep->work.plan, c->units[candidate], name, sizeof(name));
    progress_say(sweep->reactor.progress, "%s is out: %s", name, reason);
}

static bool all_others_are_out(const struct confirmation_pass *c)
{
    for (size_t i = 1; i < c->is->n_running; i++)
        if (!block_schedule_is_out(c->confirm, (int)i))
            return false;
    return true;
}

int confirmation_state_failure(const struct confirmation_pass *c,
                               const char *db, struct err *err)
{
    const char *name =
        c->is->kind == CONFIRMATION_BENCH ? "bench" : "confirmation";
    const char *command =
        c->is->kind == CONFIRMATION_BENCH ? "bench --db" : "confirm";
    char *word;

    if (block_schedule_is_out(c->confirm, 0))
        return err_set(err, ERR_DEVICE,
                       "the %s has no answer, because the baseline is out: "
                       "%.90s; mend it or choose another baseline, and run "
                       "'fa-coord sweep' again",
                       name, c->is->candidates[0].reason);
    word = shell_word(db);
    if (all_others_are_out(c))
        (void)err_set(err, ERR_DEVICE,
                      "the %s has no answer: all but the baseline are out, as "
                      "said above; repair the kernel and run 'fa-coord sweep' "
                      "again, or try again unchanged: fa-coord %s %s",
                      name, command, word);
    else
        (void)err_set(err, ERR_DEVICE,
                      "the %s has no answer: %d blocks lost a measurement, and "
                      "%d of %d are complete; when hosts and processes live, "
                      "begin it again: fa-coord %s %s",
                      name, block_schedule_broke(c->confirm),
                      block_schedule_complete(c->confirm),
                      confirmation_blocks_max(c->is), command, word);
    free(word);
    return ERR_DEVICE;
}
