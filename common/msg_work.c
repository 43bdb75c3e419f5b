#include "common/msg_work.h"

#include <stdio.h>

#include "common/msg.h"

struct msg_work *msg_work_of(struct msg *msg)
{
    switch (msg->type) {
    case MSG_BUILD:
        return &msg->build.work;
    case MSG_MEASURE:
        return &msg->measure.work;
    case MSG_TOOL:
        return &msg->tool.work;
    case MSG_BUILT:
        return &msg->built.work;
    case MSG_MEASURED:
        return &msg->measured.work;
    case MSG_RAN:
        return &msg->ran.work;
    default:
        return NULL;
    }
}

const struct msg_work *msg_work(const struct msg *msg)
{
    return msg_work_of((struct msg *)msg);
}

const struct msg_launch *msg_launch(const struct msg *msg)
{
    switch (msg->type) {
    case MSG_MEASURE:
        return &msg->measure.launch;
    case MSG_TOOL:
        return &msg->tool.launch;
    default:
        return NULL;
    }
}

void msg_identity_text(const struct msg_identity *id,
                       char out[MSG_IDENTITY_BYTES])
{
    snprintf(out, MSG_IDENTITY_BYTES, "%s/%s/%s/%s/%lld/%s/%lld", id->sweep,
             id->config, id->shape, id->purpose, (long long)id->round,
             id->stage, (long long)id->attempt);
}
