/* sweep_notice.h - what a sweep tells an onlooker as it happens
 */
#ifndef FA_COORDINATOR_LIVE_SWEEP_NOTICE_H
#define FA_COORDINATOR_LIVE_SWEEP_NOTICE_H

/* What an onlooker wants to know at once. */
enum sweep_notice_kind {
    SWEEP_NOTICE_LOST,  /* a host; also if it is never used again */
    SWEEP_NOTICE_READY, /* a host, for the first time or again */
    SWEEP_NOTICE_BEST,  /* a configuration is faster than all before */
    SWEEP_NOTICE_END,   /* of this run, after its last COMMIT */
};

/* Everything is borrowed for the call. */
struct sweep_notice {
    enum sweep_notice_kind kind;
    const char *host, *why;    /* of a host; or NULL */
    const char *config, *text; /* key and tunables of the best; or NULL */
    double best_s, baseline_s; /* NaN: none */
    int tried, correct, total; /* configurations; 0 before there is a plan */
    double usd;                /* NaN: nothing has a price */
};
typedef void sweep_notify(void *arg, const struct sweep_notice *notice);

#endif
