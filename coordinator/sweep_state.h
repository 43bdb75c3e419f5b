/* sweep_state.h - what the reactor of a running sweep knows
 *
 * Private to the files that make up the reactor, sweep*.c; each heading below
 * names one.  All of it belongs to the reactor's thread.
 */
#ifndef FA_COORDINATOR_SWEEP_STATE_H
#define FA_COORDINATOR_SWEEP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/clock.h"
#include "common/hash.h"
#include "common/msg.h"
#include "coordinator/arch.h"
#include "coordinator/crew.h"
#include "coordinator/errands.h"
#include "coordinator/hosts.h"
#include "coordinator/incumbents.h"
#include "coordinator/ledger.h"
#include "coordinator/plan.h"
#include "coordinator/progress.h"
#include "coordinator/sched.h"
#include "coordinator/server.h"
#include "coordinator/store.h"
#include "coordinator/strategy.h"
#include "coordinator/sweep.h"

#define BOX_GPUS_MAX 64
/* Rungs of a race are so many rounds apart, so that repetitions for other
 * reasons, which count on from the last round there is, never meet the next. */
#define SWEEP_RUNG_ROUNDS 1000
#define ACKS_MAX 256 /* results in one commit, and nonces in one ACK */

/* A host, as the reactor sees it.
 *
 *   AWAY --attached--> GREETED --welcome, READY--> READY
 *     ^                   |                          |
 *     '------------- connection gone ----------------'    FAILED: for good */
enum box_state {
    BOX_AWAY,
    BOX_GREETED,
    BOX_READY,
    BOX_FAILED
};

struct box_gpu {
    char uuid[128];
    char name[256];
    struct arch_facts facts;
};

struct box {
    const struct host *host; /* borrowed from the hosts list */
    enum box_state state;
    bool attached;    /* a relay is up */
    bool was_ready;   /* in this run */
    bool same_worker; /* the process that was READY before */
    bool suspect;     /* silent for 15 s: no new work */
    bool is_lost;     /* silent for 30 s: its work went to others */
    bool has_foreign; /* results that are for another database */
    int refusals;     /* leases it did not take, since its last result */
    int tries;        /* connections that broke */
    char bye[64];     /* why its worker ended, by its own words */
    int code;         /* ERR_* of the last of them */
    char why[sizeof(((struct err *)0)->text)];
    int64_t heard_ns; /* last message, CLOCK_BOOTTIME */

    int64_t pid, cpus; /* of the worker, as HELLO and READY say */
    char boot_id[CLOCK_BOOT_ID_BYTES];
    char machine[256];
    char version[128];
    char toolkit[256];
    char **running; /* identities it had in work at its HELLO */
    size_t n_running;
    int slots;
    int credit;
    struct box_gpu gpus[BOX_GPUS_MAX];
    int n_gpus;
    /* As sched knows them by number; after a new connection it may be others */
    char known[BOX_GPUS_MAX][128];
    int n_known;
    char acks[ACKS_MAX][HASH_HEX]; /* stored, to be sent after COMMIT */
    size_t n_acks;
};

/* What a lease of this run was for: a result must come from its host. */
struct grant {
    int unit;
    int shape;
    enum job_stage stage;
    int host;
    bool started;
    bool adopted;  /* the worker had it from an earlier run */
    int64_t order; /* 0 when nobody ordered it */
    enum sched_purpose purpose;
    int round;
};

struct sweep_canary; /* sweep_canary.c */
struct sweep_race;   /* sweep_race.c */
struct sweep_search; /* sweep_search.c */
struct space_gate_count;
struct history;

/* A result that came before there was a plan to judge it by. */
struct early {
    size_t host;
    struct msg msg; /* owned */
};

struct want {
    char hash[HASH_HEX];
    int host;
};

struct sweep_tools;   /* sweep_tools.c */
struct sweep_profile; /* sweep_profile.c */

struct sweep {
    const struct sweep_options *options;
    struct spec *spec;
    struct space *space;
    const struct hosts *hosts;
    struct progress *progress;
    struct plan *plan;             /* NULL until the device facts are known */
    struct sched *sched;           /* likewise */
    struct incumbents *incumbents; /* likewise */
    struct sweep_canary *canary;   /* NULL: none is wanted */
    struct sweep_race *race;       /* NULL: nothing is on a rung */
    struct sweep_search *search;   /* NULL: all units, in order */
    struct store *store;
    struct ledger *ledger;
    struct server *server;
    struct crew *crew;
    struct box *boxes;
    size_t n_boxes;
    int64_t epoch;
    int64_t sweep_id;
    char arch[32];
    struct arch_facts facts; /* of the sweep's one GPU model */
    char gpu_name[256];
    double usd_before; /* spent by earlier runs */

    char (*artifacts)[HASH_HEX]; /* of each unit and the reference; "" none */
    struct grant *grants;        /* index is lease id - 1 */
    size_t n_grants;
    struct sweep_tools *tools;     /* NULL: no external baseline */
    struct sweep_profile *profile; /* NULL: nothing is profiled */
    struct buf request; /* of the measurement last handed out, in a replay */
    struct want *wants;
    size_t n_wants;
    struct early *early;
    size_t n_early, n_taken; /* kept, and taken since */

    size_t pending;     /* rows since the last COMMIT */
    int64_t pending_ns; /* when the first of them came */
    int64_t beat_ns, flush_ns;
    int64_t started_ns;
    int64_t usable_ns; /* when the hosts last could go on with it */
    int64_t turn_ns;   /* end of the last turn of the loop */

    int stopping; /* signals taken: 1 finish what runs, 2 at once */
    int64_t stop_ns;
    const char *ending; /* why it stops, NULL while it goes on */
    int exit_code;
    struct err fatal; /* what ended it, for the user */

    struct sweep_contest *contest; /* NULL: it screens */
    int n_settled, n_correct;      /* measurements, for progress */
    int n_left_out;                /* builds that nobody asked for */
};

/* sweep_inbox.c: take one message of a host.  ERR_PROTO: the host is wrong. */
int sweep_take(struct sweep *sweep, size_t host, const struct msg *msg,
               struct err *err);
/* Keep a result until there is a plan; 'msg' is empty then.  False: take it. */
bool sweep_keep(struct sweep *sweep, size_t host, struct msg *msg);
/* The next that was kept, once there is a plan; the caller frees it. */
bool sweep_next_kept(struct sweep *sweep, size_t *host, struct msg *msg);
void sweep_forget_kept(struct sweep *sweep);

/* sweep_settle.c: results, losses and what they make of a configuration. */
int sweep_built(struct sweep *sweep, size_t host, const struct msg *msg,
                struct err *err);
int sweep_measured(struct sweep *sweep, size_t host, const struct msg *msg,
                   struct err *err);
void sweep_lose(struct sweep *sweep, struct sched_lease lease, const char *word,
                const char *reason);
void sweep_refuse(struct sweep *sweep, struct sched_lease lease);
void sweep_crashed(struct sweep *sweep, const struct sched_lease *lease,
                   const struct msg *msg);
/* All work of the host is lost; 'why' is for the log. */
void sweep_host_lost(struct sweep *sweep, size_t host, const char *why);
/* Which unit and shape a result is about, and whether this host was asked for
 * it: a worker writes nothing but its own rows.  1 when this sweep never asked
 * for it. */
int sweep_resolve(struct sweep *sweep, size_t host, const struct msg *msg,
                  struct sched_lease *out, struct err *err);
int sweep_find_unit(const struct sweep *sweep, const char *config,
                    const char *purpose); /* or -1 */

/* sweep_canary.c: the canary, what it leaves in doubt, whom it does not trust
 */
int sweep_canary_begin(struct sweep *sweep, struct err *err); /* once planned */
void sweep_canary_free(struct sweep *sweep);
void sweep_canary_box(struct sweep *sweep, size_t host); /* it is up */
void sweep_canary_lost(struct sweep *sweep, size_t host);
/* It is quarantined. */
bool sweep_canary_bans(const struct sweep *sweep, size_t host, int gpu);
void sweep_canary_measured(struct sweep *sweep, const struct sched_lease *job,
                           const struct msg *msg);
void sweep_canary_ended(struct sweep *sweep, const struct sched_lease *lease,
                        const struct msg *result);
void sweep_again_ended(struct sweep *sweep, const struct sched_lease *lease,
                       const struct msg *result);
void sweep_canary_turn(struct sweep *sweep);
/* It is not over yet, though no job is open. */
bool sweep_canary_waits(const struct sweep *sweep);

/* sweep_orders.c: measurements that somebody asks for, each on one GPU. */
/* As sched_order(); what an earlier run built for it is not built again. */
int64_t sweep_order(struct sweep *sweep, const struct sched_order *order);
/* The result of a measurement that was ordered, by this run or another. */
void sweep_order_measured(struct sweep *sweep, const struct sched_lease *job,
                          const struct msg *msg);
/* Tell those who asked of the orders that were dropped. */
void sweep_drop_orders(struct sweep *sweep);

/* sweep_contest.c: the baseline and the finalists in blocks. */
int sweep_contest_begin(struct sweep *sweep, struct err *err);
void sweep_contest_turn(struct sweep *sweep); /* orders what can be ordered */
/* An order of it is over: measured, or not to be had ('result' is NULL). */
void sweep_contest_ended(struct sweep *sweep, const struct sched_lease *lease,
                         const struct msg *result);
/* A lease of it was lost; 'died' says how its process died, or is NULL. */
void sweep_contest_lost(struct sweep *sweep, const struct sched_lease *lease,
                        const char *died);
/* The block of this round cannot count any more. */
void sweep_contest_broken(struct sweep *sweep, int round);
bool sweep_contest_is_over(const struct sweep *sweep);
void sweep_contest_progress(const struct sweep *sweep, int *done, int *total);
void sweep_contest_end(struct sweep *sweep); /* write down that it ended */
void sweep_contest_free(struct sweep_contest *contest); /* NULL is fine */

/* sweep_tools.c: commands on workers, beside the measurements. */
/* What the external baseline needs, if there is one, in the blocks of this
 * contest; those of an earlier run count. */
int sweep_tools_begin(struct sweep *sweep, const struct contest *contest,
                      struct err *err);
void sweep_tools_free(struct sweep *sweep);
/* Does it take part in the block that begins on this host, at this shape? */
enum errands_answer sweep_external_joins(struct sweep *sweep, int host,
                                         int round, int shape);
/* For a block that it joined: may it run at the shape now?  Then order it;
 * while it runs, what follows it in the block is not to be ordered. */
enum errands_answer sweep_external_ask(const struct sweep *sweep, int host,
                                       int shape);
void sweep_external_order(struct sweep *sweep, int host, int gpu, int shape,
                          int round);
bool sweep_external_runs(const struct sweep *sweep, int round);
/* The block of this round is over, and counts or does not. */
void sweep_external_complete(struct sweep *sweep, int round);
void sweep_external_broken(struct sweep *sweep, int round);
/* A lease of it was lost; 'died' says how its process died, or is NULL. */
void sweep_external_lost(struct sweep *sweep, const struct sched_lease *lease,
                         const char *died, const char *reason);
bool sweep_tools_wait(const struct sweep *sweep); /* some are not over */
void sweep_tool_dropped(struct sweep *sweep, const struct sched_lease *lease);
/* A BUNDLE with this hash; what it points to lives as long as the sweep. */
bool sweep_tool_bundle(struct sweep *sweep, const char *hash, struct msg *msg);
/* The fields of a TOOL; what they point to lives until the next call. */
int sweep_tool_fill(struct sweep *sweep, const struct sched_lease *lease,
                    struct msg *msg, char key[HASH_HEX], struct err *err);
const char *sweep_tool_name(const struct sweep *sweep, const char *purpose);
int sweep_ran(struct sweep *sweep, size_t host, const struct msg *msg,
              struct err *err);

/* sweep_profile.c: configurations under a profiler. */
int sweep_profile_begin(struct sweep *sweep, struct err *err);
void sweep_profile_free(struct sweep *sweep);
void sweep_profile_turn(struct sweep *sweep); /* orders what can be ordered */
void sweep_profile_ended(struct sweep *sweep, int64_t order);
bool sweep_profile_is_over(const struct sweep *sweep);
int sweep_profile_fill(struct sweep *sweep, const struct sched_lease *lease,
                       struct msg *msg, char key[HASH_HEX], struct err *err);

/* sweep_outbox.c: leases, transfers, acknowledgements. */
void sweep_dispatch(struct sweep *sweep);
int sweep_commit(struct sweep *sweep, struct err *err);
bool sweep_is_connected(const struct box *box);
void sweep_send(struct sweep *sweep, size_t host, struct msg *msg);
void sweep_send_all(struct sweep *sweep, struct msg *msg); /* connected ones */
void sweep_acknowledge(struct sweep *sweep, size_t host, const char *nonce);
void sweep_want(struct sweep *sweep, size_t host, const struct msg *msg);
void sweep_artifact(struct sweep *sweep, size_t host, const struct msg *msg);
void sweep_missing(struct sweep *sweep, size_t host, const char *hash);
void sweep_granted(struct sweep *sweep, const struct sched_lease *lease);
int sweep_record_lease(struct sweep *sweep, const struct sched_lease *lease);

/* sweep_hosts.c: a host comes, is set up, goes. */
void sweep_crew_news(struct sweep *sweep, const struct crew_news *news);
int sweep_hello(struct sweep *sweep, size_t host, const struct msg *msg,
                struct err *err);
int sweep_gpu(struct sweep *sweep, size_t host, const struct msg *msg,
              struct err *err);
int sweep_ready(struct sweep *sweep, size_t host, const struct msg *msg,
                struct err *err);
void sweep_trouble(struct sweep *sweep, size_t host, const struct msg *msg);
void sweep_box_up(struct sweep *sweep, size_t host);
/* Not used any more in this run; 'code' is an ERR_*. */
void sweep_give_up(struct sweep *sweep, size_t host, int code, const char *why);
void sweep_forget_running(struct box *box);
/* Two hosts of the file that turned out to be one worker. */
bool sweep_same_worker(const struct box *a, const struct box *b);

/* sweep_able.c: end a sweep that no host can go on with. */
void sweep_check_hosts(struct sweep *sweep, int64_t now);

/* sweep_prepare.c: the plan, once the device facts are known. */
int sweep_begin(struct sweep *sweep, struct err *err);
int sweep_prepare(struct sweep *sweep, struct err *err);

/* sweep_description.c: what is written down of a sweep before it begins: its
 * file, gates, shapes and configurations. */
int sweep_describe(struct sweep *sweep, const struct space_gate_count *counts,
                   int64_t passed, struct err *err);
/* The units that are taken, from one on. */
int sweep_put_configs(struct sweep *sweep, int from, struct err *err);

/* sweep_past.c: what earlier runs left. */
int sweep_take_past(struct sweep *sweep, struct err *err);
/* What a host built lies in its cache still. */
void sweep_take_cache(struct sweep *sweep, size_t host);
/* The same for one unit and all hosts. */
void sweep_take_built(struct sweep *sweep, int unit);
/* Did an earlier run give it this very work?  1, 0 or ERR_STORE. */
int sweep_was_leased(struct sweep *sweep, size_t host, const struct msg *msg,
                     struct err *err);
/* What they cost, at the rates of now. */
int sweep_past_usd(struct sweep *sweep, double *out, struct err *err);

/* sweep_search.c: units as a strategy asks for them, instead of all. */
/* Is a strategy asked?  Before the plan is made, with the points that pass. */
int sweep_search_choose(struct sweep *sweep, int64_t passed, struct err *err);
/* Make a plan with room, and a sched that holds all of it back. */
int sweep_search_plan(struct sweep *sweep, struct err *err);
void sweep_search_hold(struct sweep *sweep);
/* What earlier runs asked for and learnt; then, with their outcomes taken. */
int sweep_search_recall(struct sweep *sweep, struct history *history,
                        struct err *err);
void sweep_search_begin(struct sweep *sweep);
/* Ask for as much as the hosts can take. */
void sweep_search_turn(struct sweep *sweep);
void sweep_search_settled(struct sweep *sweep, int unit, int shape,
                          const char *word, double median_s);
/* exhaustive, or what is asked; never 'auto'. */
const char *sweep_search_method(const struct sweep *sweep);
/* What the search is for: a shape, or OBJECTIVE_ALL, but with a race. */
int sweep_search_shape(const struct sweep *sweep);
int sweep_search_rung(const struct sweep *sweep, int unit);
void sweep_search_settle_rung(struct sweep *sweep, int unit,
                              enum strategy_outcome outcome, double time);
int sweep_search_total(const struct sweep *sweep); /* units it will come to */
#define SWEEP_SEARCH_FDS 2 /* of a strategy that is a program */
void sweep_search_poll(const struct sweep *sweep, int fds[SWEEP_SEARCH_FDS],
                       short events[SWEEP_SEARCH_FDS]);
void sweep_search_free(struct sweep *sweep);

/* sweep_race.c: units that a race wants on a rung above the first. */
void sweep_race_want(struct sweep *sweep, int unit);
void sweep_race_turn(struct sweep *sweep);
/* An order is over: was it of a race? */
bool sweep_race_ended(struct sweep *sweep, const struct sched_lease *lease,
                      const struct msg *result);
/* How many samples a race wants of it; 0 without one: as many as usual. */
int sweep_race_samples(const struct sweep *sweep,
                       const struct sched_lease *lease);
void sweep_race_free(struct sweep *sweep);

/* sweep_rows.c: what is written down. */
void sweep_dirty(struct sweep *sweep); /* a row waits for COMMIT */
void sweep_put_event(struct sweep *sweep, const char *level, const char *name,
                     const char *text);
int sweep_put_build(struct sweep *sweep, size_t host, const struct msg *msg,
                    const char *source_key, bool evidence);
int sweep_put_result(struct sweep *sweep, size_t host, const struct msg *msg,
                     const char *source_key, const char *measure_key,
                     bool evidence);
int sweep_put_tool(struct sweep *sweep, size_t host, const struct msg *msg,
                   bool evidence);
int sweep_put_outcome(struct sweep *sweep, int unit, int shape,
                      const char *word, const char *reason, const char *nonce,
                      double median_s);
int sweep_put_host(struct sweep *sweep, size_t host);
int sweep_put_gpu(struct sweep *sweep, size_t host, const char *name,
                  const struct msg *msg);
int sweep_put_lease(struct sweep *sweep, const struct sched_lease *lease,
                    const struct msg *msg);
void sweep_end_lease(struct sweep *sweep, const struct sched_lease *lease,
                     const char *ending, enum ledger_category category);
void sweep_put_interval(void *arg, const struct ledger_interval *interval);

/* sweep_show.c: the line and the lanes of progress. */
void sweep_show(struct sweep *sweep, int64_t now, bool force);

/* sweep_end.c: what is left to do once it is over, in this order. */
/* Tell the workers that nothing more comes, and give them a moment to take
 * the acknowledgements and say BYE. */
void sweep_dismiss(struct sweep *sweep);
void sweep_close_books(struct sweep *sweep, struct err *err);
/* Whoever asked for these configurations and shapes looks at them. */
void sweep_hand_over(struct sweep *sweep, struct err *err);
int sweep_exit_code(int rc); /* of an ERR_* */

/* sweep.c */
double sweep_usd(const struct sweep *sweep); /* NaN when nothing has a price */
/* Stop for a reason the user is told; the first one counts. */
void sweep_fail(struct sweep *sweep, int exit_code, const char *ending,
                const struct err *why);

#endif
