/* Whatever a runner prints, in which kernels of strangers run: a reply within
 * the bounds of its arrays, or a reason. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "worker/runner/wire/wire.h"
#include "worker/runner/wire/wire_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct wire_reply *reply)
{
    assert(reply->n_facts <= WIRE_FACTS_MAX);
    assert(reply->result.n_samples <= WIRE_SAMPLES_MAX);
    assert(reply->result.n_rejected <= WIRE_REJECTED_MAX);
    assert(reply->result.n_states <= WIRE_STATES_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct wire_reply reply;
    char *text = mem_dup(data, size), *line = text;
    char why[WIRE_WHY_MAX] = "";
    enum wire_step step = WIRE_MORE;

    memset(&reply, 0, sizeof(reply));
    while (step != WIRE_BAD && step != WIRE_DONE && line) {
        char *end = strchr(line, '\n');

        if (end)
            *end = '\0';
        step = wire_reply_line(&reply, line, why);
        check(&reply);
        line = end ? end + 1 : NULL;
    }
    if (step == WIRE_BAD)
        assert(why[0]);
    free(text);
    return 0;
}
