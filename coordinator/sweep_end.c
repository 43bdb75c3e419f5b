#include "coordinator/sweep_state.h"

#include <zmq.h>

#define BYE_NS (2 * NS_PER_S) /* for the last acknowledgements */
#define TURN_MS 100

void sweep_dismiss(struct sweep *sweep)
{
    int64_t until = clock_boot_ns() + BYE_NS;
    bool waiting = true;
    struct err err;

    sweep_send_all(sweep, &(struct msg){ .type = MSG_STOP, .what = "now" });
    while (waiting && clock_boot_ns() < until) {
        zmq_pollitem_t items[] = {
            { .socket = server_router(sweep->server), .events = ZMQ_POLLIN },
            { .socket = server_zap(sweep->server), .events = ZMQ_POLLIN },
        };
        struct msg msg;
        size_t host;

        zmq_poll(items, 2, TURN_MS);
        server_step(sweep->server);
        while (server_recv(sweep->server, &host, &msg, &err) == 1) {
            if (msg.type == MSG_BYE)
                sweep->boxes[host].state = BOX_AWAY;
            msg_fini(&msg);
        }
        waiting = false;
        for (size_t i = 0; i < sweep->n_boxes; i++)
            waiting = waiting || sweep_is_connected(&sweep->boxes[i]);
    }
}

/* All is settled and nothing is right. */
static int without_winner(struct sweep *sweep)
{
    err_set(&sweep->fatal, ERR_INPUT,
            "all is settled and no configuration is correct; 'fa-coord "
            "report' and 'fa-coord explain CONFIG' tell why");
    return 1;
}

void sweep_close_books(struct sweep *sweep, struct err *err)
{
    int64_t now = clock_boot_ns();
    const char *ending = sweep->ending     ? sweep->ending
                         : sweep->stopping ? "interrupted"
                                           : "done";
    struct err late;

    for (size_t i = 0; i < sweep->n_boxes; i++)
        ledger_release(sweep->ledger, (int)i, now);
    if (sweep->exit_code == 7) {
        *err = sweep->fatal;
        store_rollback(sweep->store);
        return;
    }
    if (store_run_end(sweep->store, sweep->epoch, ending, clock_utc_ns(),
                      &late) < 0 ||
        store_commit(sweep->store, &late) < 0) {
        sweep->exit_code = 7;
        sweep->fatal = late;
    }
    if (sweep->exit_code == 0 && sweep->n_correct == 0 &&
        !sweep->options->ask && !sweep->options->builds_only)
        sweep->exit_code = without_winner(sweep);
    if (sweep->exit_code)
        *err = sweep->fatal;
}

int sweep_exit_code(int rc)
{
    switch (rc) {
    case ERR_INPUT:
        return 2;
    case ERR_AUTH:
        return 4;
    case ERR_NETWORK:
        return 3;
    case ERR_STORE:
        return 7;
    default:
        return 1;
    }
}

void sweep_hand_over(struct sweep *sweep, struct err *err)
{
    const struct sweep_options *options = sweep->options;
    struct err why;
    int rc;

    if (!options->done || !sweep->plan || sweep->exit_code == 7)
        return;
    rc = options->done(options->done_arg, sweep->plan, sweep->store, &why);
    if (rc < 0) {
        sweep->exit_code = sweep_exit_code(rc);
        *err = why;
    }
}
