/* agent_tool.c - leases of tools: commands of the sweep's user */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "worker/agent/agent_files.h"
#include "worker/agent/agent_internal.h"
#include "worker/gpu/request.h"

/* The request for fa-runner, if there is one. */
static int read_request(struct agent *agent, struct lease *lease,
                        struct wire_request *out, struct err *err)
{
    const struct msg_launch *launch = &lease->msg.tool.launch;
    struct agent_files files;

    return agent_files_find(agent, lease, &files)
               ? request_read(launch->request,
                              &(struct request_paths){ files.artifact,
                                                       files.reference,
                                                       files.inputs },
                              out, err)
               : 0;
}

int agent_start_tool(struct agent *agent, struct lease *lease, int64_t now_ns,
                     struct err *err)
{
    const struct msg_tool *tool = &lease->msg.tool;
    const struct msg_bundle *bundle = NULL;
    struct wire_request *request = NULL;
    struct tool_job job = { .gpu = tool->launch.gpu,
                            .command = tool->command,
                            .ask = *tool->ask ? tool->ask : NULL,
                            .limit_ns = tool->launch.limit_ms * NS_PER_MS };
    int rc = 0;

    if (*tool->bundle) {
        bundle = transfers_bundle(agent->transfers, tool->bundle);
        if (!bundle)
            lease->missing[LEASE_BUNDLE] = tool->bundle;
    }
    if (*tool->launch.request) {
        request = mem_new(1, sizeof(*request));
        rc = read_request(agent, lease, request, err);
    }
    if (rc == 0 && queue_lease_is_waiting(lease)) {
        if (bundle) {
            job.names = bundle->names;
            job.contents = bundle->contents;
        }
        job.request = request;
        tools_add(resources_tools(agent->bench), lease->number, lease->place,
                  &job, now_ns);
        agent_say_started(agent, lease);
    }
    free(request);
    return rc;
}

/* Cut it to 'size' - 1 bytes, in place. */
static const char *cut(char *text, size_t size)
{
    if (strlen(text) >= size)
        text[size - 1] = '\0';
    return text;
}

static void deliver(struct agent *agent, struct lease *lease,
                    const struct tool_result *result, int64_t now_ns)
{
    struct msg msg = { .type = MSG_RAN,
                       .ran = {
                           .result = { .outcome = outcome_name(result->outcome),
                                       .detail = result->detail,
                                       .seconds = result->seconds },
                           .gpu = lease->msg.tool.launch.gpu,
                           .status = result->status,
                           .output = cut(result->output, MSG_OUTPUT_MAX + 1),
                           .log = cut(result->log, MSG_LOG_MAX + 1) } };

    log_line(LOG_I, "TOOL-ENDED", "lease=%lld outcome=%s %s",
             (long long)lease->msg.tool.work.lease,
             outcome_name(result->outcome), result->detail);
    agent_deliver(agent, lease, &msg, now_ns);
}

void agent_collect_tools(struct agent *agent, int64_t now_ns)
{
    struct tools *tools = resources_tools(agent->bench);
    struct tool_result result;
    int64_t number;
    bool stuck;

    while (tools && tools_next_result(tools, &number, &stuck, &result)) {
        struct lease *lease = queue_numbered(agent->queue, number);

        if (lease && stuck)
            gpu_quarantine(resources_gpu(agent->bench, (size_t)lease->place),
                           "quarantined: a command on it does not end on "
                           "SIGKILL; reset the GPU or the machine",
                           now_ns);
        if (lease)
            deliver(agent, lease, &result, now_ns);
        tool_result_fini(&result);
    }
}
