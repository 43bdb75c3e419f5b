#include "coordinator/dial/dial_presence.h"

#include <stdio.h>
#include <string.h>

static bool invites(struct dial_presence *presence,
                    const struct dial_presence_message *msg)
{
    if (presence->invited_ns && presence->invited == msg->connection &&
        msg->at_ns - presence->invited_ns < DIAL_PRESENCE_INVITE_NS)
        return false;
    presence->invited = msg->connection;
    presence->invited_ns = msg->at_ns;
    return true;
}

static void go_away(struct dial_presence *presence)
{
    presence->where = DIAL_PRESENCE_AWAY;
    presence->rival = (struct dial_presence_rival){ .since_ns = 0 };
    presence->untold[DIAL_PRESENCE_CAME] = false;
    dial_presence_tell(presence, DIAL_PRESENCE_BROKEN);
    dial_presence_tell(presence, DIAL_PRESENCE_WAITS);
}

static struct dial_presence_worker worker_of(const struct msg_hello *hello)
{
    struct dial_presence_worker worker = { .pid = hello ? hello->pid : 0 };

    snprintf(worker.machine, sizeof(worker.machine), "%s",
             hello ? hello->host : "");
    snprintf(worker.boot_id, sizeof(worker.boot_id), "%s",
             hello ? hello->boot_id : "");
    return worker;
}

/* In containers of one machine all may have the same number. */
static bool is_same(const struct dial_presence_worker *a,
                    const struct dial_presence_worker *b)
{
    return a->pid == b->pid && strcmp(a->boot_id, b->boot_id) == 0 &&
           strcmp(a->machine, b->machine) == 0;
}

/* It says HELLO every second until it has an answer. */
static struct dial_presence_answer
hold_off(struct dial_presence *presence, const struct dial_presence_worker *who,
         const struct dial_presence_message *msg)
{
    struct dial_presence_rival *rival = &presence->rival;
    struct dial_presence_answer answer = { .of_rival = true };

    if (!is_same(&rival->worker, who))
        *rival = (struct dial_presence_rival){ .worker = *who,
                                               .since_ns = msg->at_ns };
    rival->connection = msg->connection;
    if (presence->heard_ns > rival->since_ns) {
        answer.refuses = true;
        if (!rival->was_told)
            dial_presence_tell(presence, DIAL_PRESENCE_RIVAL);
        rival->was_told = true;
    } else if (msg->at_ns - rival->since_ns >= DIAL_PRESENCE_SILENT_NS) {
        go_away(presence);
        answer.has_left = true;
    }
    return answer;
}

/* That it left must be told before it comes again; it repeats its HELLO. */
static struct dial_presence_answer
greet(struct dial_presence *presence, const struct dial_presence_message *msg)
{
    bool comes = presence->where == DIAL_PRESENCE_AWAY;
    struct dial_presence_worker who = worker_of(msg->hello);

    if (presence->untold[DIAL_PRESENCE_BROKEN])
        return (struct dial_presence_answer){ .takes = false };
    if (!comes && msg->connection != presence->connection &&
        !is_same(&presence->worker, &who))
        return hold_off(presence, &who, msg);
    presence->where = DIAL_PRESENCE_HERE;
    presence->connection = msg->connection;
    presence->worker = who;
    presence->heard_ns = msg->at_ns;
    if (comes)
        dial_presence_tell(presence, DIAL_PRESENCE_CAME);
    return (struct dial_presence_answer){ .takes = true, .has_come = comes };
}

struct dial_presence_answer
dial_presence_hear(struct dial_presence *presence,
                   const struct dial_presence_message *msg)
{
    bool here = presence->where == DIAL_PRESENCE_HERE;
    bool knows = here && msg->connection == presence->connection;
    struct dial_presence_answer answer = { .takes = false };

    if (presence->where == DIAL_PRESENCE_GONE) {
        answer.takes = msg->type == MSG_BYE;
        return answer;
    }
    if (msg->is_of_run && msg->type == MSG_HELLO)
        return greet(presence, msg);
    if (knows)
        presence->heard_ns = msg->at_ns;
    if (here && presence->rival.worker.pid &&
        msg->connection == presence->rival.connection) {
        answer.of_rival = true;
        answer.takes = msg_is_result(msg->type);
        return answer;
    }
    if (msg->type == MSG_BYE) {
        answer.takes = msg->is_of_run;
        answer.has_left = msg->is_of_run && dial_presence_leave(presence);
        return answer;
    }
    /* a result is a fact, and is told again if it is not taken */
    answer.takes = msg_is_result(msg->type) ? here || msg->is_of_run
                                            : knows && msg->is_of_run;
    answer.invites = !(knows && answer.takes) && invites(presence, msg);
    return answer;
}

bool dial_presence_leave(struct dial_presence *presence)
{
    if (presence->where != DIAL_PRESENCE_HERE)
        return false;
    go_away(presence);
    return true;
}

void dial_presence_job_ended(struct dial_presence *presence)
{
    go_away(presence);
    presence->untold[DIAL_PRESENCE_STARTED] = false;
    dial_presence_tell(presence, DIAL_PRESENCE_ENDED);
}

void dial_presence_dismiss(struct dial_presence *presence, bool lost)
{
    presence->where = DIAL_PRESENCE_GONE;
    memset(presence->untold, 0, sizeof(presence->untold));
    if (lost)
        dial_presence_tell(presence, DIAL_PRESENCE_LOST);
}

void dial_presence_tell(struct dial_presence *presence,
                        enum dial_presence_news news)
{
    presence->untold[news] = true;
}

enum dial_presence_news dial_presence_next(struct dial_presence *presence)
{
    for (int news = DIAL_PRESENCE_NOTHING + 1; news < DIAL_PRESENCE_NEWS;
         news++)
        if (presence->untold[news]) {
            presence->untold[news] = false;
            return (enum dial_presence_news)news;
        }
    return DIAL_PRESENCE_NOTHING;
}
