/* reactor_fixture.h - a sweep of vector_add on the CPU, without a world
 *
 * The plan is made and the database is there; time stands still until a test
 * moves it, and what is sent is kept.  Hosts are named a, b, c.
 */
#ifndef FA_TESTS_REACTOR_FIXTURE_H
#define FA_TESTS_REACTOR_FIXTURE_H

#include "common/msg.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/link/host_threads.h"
#include "coordinator/state/reactor.h"

#define RIG_HOSTS 4
#define RIG_QUEUE 1024 /* messages that come in a whole run */
#define RIG_SAMPLES 5
#define RIG_HELD_S 0.01 /* no more, because time stands still */
#define RIG_EPOCH 1000
#define RIG_START_NS (1000 * NS_PER_S)

/* What was sent, as far as tests look at it. */
struct rig_sent {
    size_t host;
    enum msg_type type;
    int64_t lease, attempt, limit_ms;
    char what[16], key[HASH_HEX], hash[HASH_HEX], artifact[HASH_HEX];
    char config[HASH_HEX], shape[32], purpose[16], gpu[16];
    bool is_recorded; /* it has what a replay needs, too */
};

struct rig_result {
    struct msg msg;
    char nonce[HASH_HEX], artifact[HASH_HEX];
    double samples[RIG_SAMPLES];
};

struct rig {
    struct sweep sweep;
    struct sweep_options options;
    struct host list[RIG_HOSTS];
    struct hosts hosts;
    int64_t now_ns, cpu_ns;
    struct rig_sent sent[2048];
    size_t n_sent;
    bool is_deaf[RIG_HOSTS]; /* nothing can be sent to it */
    int dismissed[RIG_HOSTS], reconnected[RIG_HOSTS], closed;
    int64_t reconnected_ns; /* the newest */
    int commits;
    bool disk_full;
    /* of a whole run: called in each wait, which takes as long as it may */
    void (*turn)(struct rig *rig);
    int turns;
    int64_t epoch;
    char command[HASH_HEX];      /* that the run is of, as hosts hear */
    bool rents;                  /* the run may */
    struct msg queue[RIG_QUEUE]; /* what comes, and from whom */
    size_t from[RIG_QUEUE], n_queue, n_taken;
    struct host_thread_news news;
    bool has_news;
    int heard, stderr_before; /* a file with what is said, or 0 */
    char text[8192];
    char folder[32];
};

/* 'n' hosts; nothing is known of them. */
void rig_open(struct rig *rig, size_t n);
/* The same, held and paid from the start; all that is said is kept. */
void rig_open_held(struct rig *rig, size_t n);
void rig_close(struct rig *rig);
/* The same without a plan: for sweep_run_with() and rig_io(). */
void rig_open_bare(struct rig *rig, size_t n);
/* Make the plan of it, after its options or its spec were changed. */
void rig_begin(struct rig *rig);
struct sweep_io rig_io(struct rig *rig);
/* Another run, before or after that of RIG_EPOCH. */
void rig_run(struct rig *rig, int64_t epoch);

/* It says READY with so many build slots and GPUs, of credit 1. */
void rig_ready(struct rig *rig, size_t host, int slots, int gpus);
/* It comes with one GPU and these identities in work. */
void rig_come(struct rig *rig, size_t host, int64_t pid,
              const char *const *running, size_t n);
/* Take a message as if it had come from the host, in this epoch. */
int rig_take(struct rig *rig, size_t host, struct msg msg);
/* Grant and send what can be; returns how many leases went. */
size_t rig_dispatch(struct rig *rig);
/* Give the host this work, without a message.  On its first GPU. */
void rig_lease(struct rig *rig, size_t host, enum job_stage stage, int unit);
/* The first and the newest message of this type, which there must be; how many
 * there are. */
const struct rig_sent *rig_first(const struct rig *rig, enum msg_type type);
const struct rig_sent *rig_last(const struct rig *rig, enum msg_type type);
size_t rig_count(const struct rig *rig, enum msg_type type);
/* The result of what was sent, which 'out' keeps: 'built' with an artifact of
 * its own, 'correct' with five samples of 'median_s'. */
void rig_result_of(const struct rig_sent *sent, const char *outcome,
                   double median_s, struct rig_result *out);
/* Take it. */
int rig_built(struct rig *rig, const struct rig_sent *sent,
              const char *outcome);
int rig_measured(struct rig *rig, const struct rig_sent *sent,
                 const char *outcome, double median_s);
/* Build the reference and unit 0 on host 0. */
void rig_build_two(struct rig *rig);
/* Let a message come from the host in a whole run. */
void rig_queue(struct rig *rig, size_t host, struct msg msg);
struct msg rig_hello(int64_t pid);
struct msg rig_gpu(const char *uuid); /* an L4 */
struct msg rig_is_ready(void);        /* with a slot, and of credit 1 */
/* Keep what is said to the user and logged from here on; what was said, of
 * which the rig keeps the text. */
void rig_listen(struct rig *rig);
const char *rig_heard(struct rig *rig);
/* A number of the database. */
int64_t rig_number(struct rig *rig, const char *sql);
/* How many rows: "lease WHERE ending = 'lost'". */
int64_t rig_rows(struct rig *rig, const char *table_and_where);

/* News of the connection to host a. */
void rig_news(struct rig *rig, enum host_threads_event event, int code,
              const char *text);
/* The message as it comes from the network: it owns its texts. */
struct msg rig_owned(const struct msg *msg);

#endif
