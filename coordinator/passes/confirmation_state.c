/* What the files of a confirmation share: its cards, and dropped candidates. */
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/passes/confirmation_internal.h"
#include "coordinator/state/records.h"
#include "coordinator/text/exit_code.h"

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
