#include "worker/agent/claim.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Leaves room in an error text for the host and the consequences. */
#define OWNER_SHOWN_BYTES 132

/* Whose it is, and what of the host it uses. */
static int refuse_other(const struct claim_owner *owner, struct err *err)
{
    char shown[OWNER_SHOWN_BYTES];
    int64_t ends_s = owner->ends_ns / NS_PER_S + 1;

    owner_text(&owner->invite->owner, shown, sizeof(shown));
    if (owner->attached || owner->kept)
        (void)err_set(err, ERR_NETWORK, OWNER_IS_HERE ": %s%s%s", shown,
                      owner->gpus[0] ? ", on GPU " : "", owner->gpus);
    else
        (void)err_set(err, ERR_NETWORK,
                      OWNER_IS_GONE ": %s; it is free in at most %lld s", shown,
                      (long long)(ends_s > 0 ? ends_s : 1));
    return CLAIM_BUSY;
}

static int check_epoch(const struct claim_owner *owner, int64_t epoch,
                       struct err *err)
{
    int64_t now = owner->invite->epoch;
    bool gone = owner->silent_ns >=
                (owner->attached ? CLAIM_SILENCE_NS : CLAIM_GONE_NS);

    if (epoch < now && !gone && !owner->dismissed)
        return err_set(err, ERR_AUTH, "the worker refuses: older epoch");
    if (epoch - now > owner->invited_ns + CLAIM_EPOCH_STEP_NS)
        return err_set(err, ERR_AUTH,
                       "the worker refuses: an epoch %.1f days after its own; "
                       "is the coordinator's clock right?",
                       (double)(epoch - now) / (double)CLAIM_EPOCH_STEP_NS);
    return 0;
}

int claim_check(const struct claim_owner *owner, const struct invite *newcomer,
                struct err *err)
{
    if (newcomer->epoch > CLAIM_EPOCH_MAX)
        return err_set(err, ERR_AUTH,
                       "the worker refuses: an epoch after the year 2100; is "
                       "the coordinator's clock right?");
    if (!owner->invite ||
        (owner->kept &&
         owner_is_same_command(&owner->invite->owner, &newcomer->owner)))
        return 0;
    if (!owner_is_same(&owner->invite->owner, &newcomer->owner))
        return refuse_other(owner, err);
    return check_epoch(owner, newcomer->epoch, err);
}

static bool is_over(const struct claim_owner *owner, const struct invite *next)
{
    return owner->silent_ns >= CLAIM_GONE_NS ||
           (owner->kept &&
            owner_is_same_command(&owner->invite->owner, &next->owner));
}

int claim_follow(const struct claim_owner *owner, const struct invite *next,
                 struct err *err)
{
    const struct invite *own = owner->invite;

    if (strcmp(own->server_key, next->server_key) != 0)
        return err_set(err, ERR_AUTH, "the worker refuses: another server key");
    if (next->epoch == own->epoch)
        return CLAIM_AGAIN;
    if (next->epoch > CLAIM_EPOCH_MAX ||
        (next->epoch < own->epoch && !is_over(owner, next)))
        return err_set(err, ERR_AUTH, "the worker refuses: not a later epoch");
    return 0;
}

enum claim_message claim_message(int64_t own, int64_t its)
{
    if (its == own)
        return CLAIM_TAKE;
    return its > own ? CLAIM_GREET : CLAIM_DROP;
}

static bool is_relay(const char *dir, const char *endpoint)
{
    char like[INVITE_ENDPOINT_BYTES];
    int pid, end = 0, n = snprintf(like, sizeof(like), "ipc://%s/relay-", dir);

    return n < (int)sizeof(like) && strncmp(endpoint, like, (size_t)n) == 0 &&
           sscanf(endpoint + n, "%d.sock%n", &pid, &end) == 1 && end > 0 &&
           pid > 0 && endpoint[n + end] == '\0';
}

int claim_endpoint(const char *dir, bool tcp, const char *endpoint,
                   struct err *err)
{
    if (tcp && strncmp(endpoint, "tcp://", 6) == 0)
        return 0;
    if (is_relay(dir, endpoint))
        return 0;
    return err_set(err, ERR_AUTH,
                   "the worker refuses the endpoint %s: it began with %s",
                   endpoint, tcp ? "transport=tcp" : "a relay of its folder");
}
