/* dial_presence.h - is the worker of a host that dials back there?
 *
 *   AWAY --HELLO of this run--> HERE --BYE, silence, its job ended--> AWAY
 *     \--------------------- dismissed ---------------------> GONE
 *
 * A connection counts from its HELLO of this run on.  Whoever speaks over
 * another one is invited: it may have the invitation of an earlier run, may not
 * know that it was given up, or may have connected again without noticing, so
 * that messages of both sides are lost.  An invitation makes it say HELLO, so
 * neither side waits for what the other has sent already.
 *
 * Two processes may have one invitation.  The first stays while it gives signs
 * of life; the second, its rival, is told to stop.  If the first is silent, it
 * has left, and the rival comes in its place.
 * Pure.
 */
#ifndef FA_COORDINATOR_DIAL_DIAL_PRESENCE_H
#define FA_COORDINATOR_DIAL_DIAL_PRESENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"
#include "common/msg.h"

/* A worker that is there sends a BEAT every 5 s. */
#define DIAL_PRESENCE_SILENT_NS (8 * NS_PER_S)

/* Between two invitations over one connection: HELLO is said every second. */
#define DIAL_PRESENCE_INVITE_NS (500 * NS_PER_MS)

enum dial_presence_where {
    DIAL_PRESENCE_AWAY,
    DIAL_PRESENCE_HERE,
    DIAL_PRESENCE_GONE
};

/* What the reactor was not told yet; in this order. */
enum dial_presence_news {
    DIAL_PRESENCE_NOTHING,
    DIAL_PRESENCE_BROKEN,
    DIAL_PRESENCE_ENDED, /* its job */
    DIAL_PRESENCE_LOST,  /* for good */
    DIAL_PRESENCE_WAITS,
    DIAL_PRESENCE_STARTED,
    DIAL_PRESENCE_CAME,
    DIAL_PRESENCE_RIVAL,
    DIAL_PRESENCE_NEWS
};

/* Which process says HELLO. */
struct dial_presence_worker {
    char machine[128], boot_id[64];
    int64_t pid; /* 0: not known */
};

struct dial_presence {
    enum dial_presence_where where;
    uint64_t connection; /* of its last HELLO */
    uint64_t invited;    /* the connection that was invited last */
    int64_t invited_ns;  /* and when; 0: none was */
    struct dial_presence_worker worker; /* that is there, or was last */
    int64_t heard_ns;                   /* over 'connection' */
    struct dial_presence_rival {
        struct dial_presence_worker worker; /* without one its pid is 0 */
        uint64_t connection;
        int64_t since_ns; /* its first HELLO */
        bool was_told;    /* of */
    } rival;
    bool untold[DIAL_PRESENCE_NEWS];
};

struct dial_presence_message {
    enum msg_type type;
    bool is_of_run;                /* its epoch is that of this run */
    const struct msg_hello *hello; /* of a HELLO */
    uint64_t connection;           /* that it came over */
    int64_t at_ns;
};

struct dial_presence_answer {
    bool takes;   /* the message is for the reactor */
    bool invites; /* its sender gets the invitation of this run */
    bool has_come, has_left;
    bool of_rival; /* answers go to the one that is there, but for STOP: */
    bool refuses;  /* the rival stops */
};

struct dial_presence_answer
dial_presence_hear(struct dial_presence *presence,
                   const struct dial_presence_message *msg);

/* It has left, or is as good as gone; false: it was not here. */
bool dial_presence_leave(struct dial_presence *presence);
/* The job of its worker has ended, whether that had come or not. */
void dial_presence_job_ended(struct dial_presence *presence);
/* It is not used any more.  'lost': the reactor does not know yet. */
void dial_presence_dismiss(struct dial_presence *presence, bool lost);

void dial_presence_tell(struct dial_presence *presence,
                        enum dial_presence_news news);
/* Takes the next piece. */
enum dial_presence_news dial_presence_next(struct dial_presence *presence);

#endif
