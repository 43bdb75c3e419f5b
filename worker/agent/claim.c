#include "worker/agent/claim.h"

#include <stddef.h>
#include <string.h>

/* Leaves room in an error text for the host and the consequences. */
#define OWNER_SHOWN_BYTES 132

int claim_check(const struct invite *now, int64_t silent_ns, bool attached,
                const struct invite *newcomer, struct err *err)
{
    char owner[OWNER_SHOWN_BYTES];

    if (!now || silent_ns >= (attached ? CLAIM_SILENCE_NS : CLAIM_GONE_NS))
        return 0;
    if (strcmp(now->owner.id, newcomer->owner.id) == 0 &&
        newcomer->epoch < now->epoch)
        return err_set(err, ERR_AUTH, "the worker refuses: older epoch");
    if (owner_is_same(&now->owner, &newcomer->owner))
        return 0;
    owner_text(&now->owner, owner, sizeof(owner));
    return err_set(err, attached ? ERR_AUTH : ERR_NETWORK,
                   "its worker serves another sweep: %s; wait for it, or give "
                   "this sweep another workdir=",
                   owner);
}
