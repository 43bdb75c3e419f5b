#include "common/msg_result.h"

#include "common/msg.h"

struct msg_result *msg_result_of(struct msg *msg)
{
    switch (msg->type) {
    case MSG_BUILT:
        return &msg->built.result;
    case MSG_MEASURED:
        return &msg->measured.result;
    case MSG_RAN:
        return &msg->ran.result;
    default:
        return NULL;
    }
}

const struct msg_result *msg_result(const struct msg *msg)
{
    return msg_result_of((struct msg *)msg);
}
