/* replay.h - a sweep that is answered from a record (docs/replay.md)
 *
 * The record is a landscape (landscape.h).  Its configurations are the points
 * of the sweep, in place of what passes the gates; a build of one is its
 * record as text, a measurement takes the recorded time.  A sweep file is made
 * of the record, or one with the same tunables is given.
 * Thread rule: one thread.  The spec that is bound to it is freed first.
 */
#ifndef FA_COORDINATOR_REPLAY_REPLAY_H
#define FA_COORDINATOR_REPLAY_REPLAY_H

#include <stddef.h>

#include "common/buf.h"
#include "coordinator/replay/landscape.h"

struct gpu_variation;
struct err;
struct msg;
struct msg_identity;
struct replay;
struct space_only;
struct spec;
struct value;

#define REPLAY_ENTRY "recorded"
#define REPLAY_FILE "record.txt" /* a build's only file, and its source */

struct replay_options {
    const char *file;  /* where the landscape is from */
    const char *cards; /* NULL: all of them alike (gpu_variation.h) */
    double speed_up;   /* > 0 */
};

/* Takes the landscape over, which is what 'file' says; ERR_INPUT when it has no
 * time, or the cards are no file of cards. */
int replay_open(const struct replay_options *options, struct landscape **land,
                struct replay **out, struct err *err);
void replay_close(struct replay *replay); /* NULL is fine */

const char *replay_path(const struct replay *replay);  /* absolute */
const char *replay_cards(const struct replay *replay); /* absolute, or "" */
double replay_speed_up(const struct replay *replay);
const char *replay_device(const struct replay *replay); /* "" if not known */
/* Of the recorded device; NULL when they are not known. */
const struct gpu_arch_facts *replay_facts(const struct replay *replay);
const struct landscape *replay_landscape(const struct replay *replay);
/* {"file", "cards", "speed_up", "device"}; for the caller to free. */
char *replay_json(const struct replay *replay);

/* A sweep file for the record; its baseline is the record's, or else the first
 * configuration that has a time. */
void replay_sweep_text(const struct replay *replay, struct buf *out);
/* The sweep file at 'sweep', or that of the record when it is NULL, bound to
 * the record.  Its sources are not looked at.  ERR_INPUT when its tunables are
 * not those of the record. */
int replay_spec(struct replay *replay, const char *sweep, struct spec **out,
                struct err *err);

/* ---- once a spec is bound; texts among values are the spec's */

/* Configurations whose values all stand in the sweep file, for space_open();
 * NULL of NULL. */
const struct space_only *replay_points(const struct replay *replay);
int replay_size(const struct replay *replay); /* how many */
void replay_values(const struct replay *replay, int i, struct value *values);
/* The configuration with these values, NULL when it is not there. */
const struct landscape_config *replay_config(const struct replay *replay,
                                             const struct value *values);
/* ... as a record (worker/runner/device/record.h);
 * NULL values stand for the reference.  ERR_INPUT when it is not there. */
int replay_record(const struct replay *replay, const struct value *values,
                  struct buf *out, struct err *err);

/* What a build and a request say of every recorded kernel. */
const char *replay_flag(const struct replay *replay); /* the speed-up */
void replay_put_launch(struct buf *request);
/* ... and of this measurement, on a GPU of a host. */
void replay_put_arguments(struct replay *replay, const struct msg_identity *id,
                          const char *host, int gpu, struct buf *request);
/* Let a BUILT or MEASURED of this configuration say the recorded durations, in
 * place of what passed here. */
void replay_restate(const struct replay *replay, const struct value *values,
                    struct msg *msg);

#endif
