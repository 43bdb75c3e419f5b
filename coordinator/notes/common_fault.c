#include "coordinator/notes/common_fault.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/msg.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/state/host_supply.h"
#include "coordinator/state/reactor.h"
#include "coordinator/state/records.h"

#define REFERENCE "reference: " /* what fa-runner puts in front */

static const char *without_prefix(const char *detail)
{
    return strncmp(detail, REFERENCE, strlen(REFERENCE)) == 0
               ? detail + strlen(REFERENCE)
               : detail;
}

static void end_for_build(struct sweep *sweep, int unit, const char *detail)
{
    bool reference = unit == plan_units(sweep->work.plan);
    struct err err;

    err_set(&err, ERR_INPUT, "%s%s",
            reference ? "the reference could not be built: " : "", detail);
    reactor_fail(sweep, EXIT_INPUT, &err);
}

/* What is often behind it: floats in the first half of the doubles. */
static const char *hint(const char *detail)
{
    return strstr(detail, "unwritten") ? "; a reference writes each output "
                                         "through a 'double *'"
                                       : "";
}

static void end_for_reference(struct sweep *sweep, const char *host,
                              const struct msg *msg)
{
    const char *before = sweep->work.useless_on;
    struct err err;

    err_set(&err, ERR_INPUT,
            "the reference cannot be used at shape '%s': %s; found on %s%s%s%s",
            msg_work(msg)->id.shape, without_prefix(msg_result(msg)->detail),
            before ? before : host, before ? " and " : "", before ? host : "",
            hint(msg_result(msg)->detail));
    reactor_fail(sweep, EXIT_INPUT, &err);
}

/* Its GPU may be at fault. */
static void give_up_host(struct sweep *sweep, size_t host,
                         const struct msg *msg)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];
    char why[sizeof(host_state->conn.why)];

    sweep->work.useless_on = host_state->host->name;
    snprintf(why, sizeof(why),
             "the reference cannot be used there: %s; another host tries it",
             without_prefix(msg_result(msg)->detail));
    host_state_condemn(host_state, ERR_DEVICE, why);
}

static bool blames(const struct msg *msg, const char *what)
{
    const char *blame = msg_result(msg)->blame;

    return blame && strcmp(blame, what) == 0;
}

bool common_fault_take(struct sweep *sweep, size_t host, int unit,
                       const struct msg *msg)
{
    const char *name = sweep->fleet.hosts[host].host->name;

    if (msg->epoch != sweep->reactor.epoch)
        return false; /* what was wrong then may be repaired */
    if (blames(msg, MSG_BLAME_SWEEP) && !sweep->reactor.options->unbuilt.tell) {
        end_for_build(sweep, unit, msg_result(msg)->detail);
        return true;
    }
    if (!blames(msg, MSG_BLAME_REFERENCE))
        return false;
    records_put_event(sweep, "W", "REFERENCE-FAILED", name);
    log_line(LOG_W, "REFERENCE-FAILED", "host=%s %s", name,
             msg_result(msg)->detail);
    if (!sweep->work.useless_on && host_supply_has_other(sweep, host)) {
        give_up_host(sweep, host, msg);
        return false;
    }
    end_for_reference(sweep, name, msg);
    return true;
}
