/* replay.h - answers a sweep from a record (docs/replay.md)
 *
 * The record is a landscape (landscape.h). Its configurations are the points of
 * the sweep; the gates are not used.  The build of a configuration is its
 * record as text, and its measurement takes as long as recorded.  The sweep
 * file is generated from the record, or the user gives one with the same
 * tunables.
 * Thread rule: one thread.  Free the spec that is bound to it first.
 */
#ifndef FA_COORDINATOR_REPLAY_REPLAY_H
#define FA_COORDINATOR_REPLAY_REPLAY_H

#include <stdbool.h>
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
    const char *file;  /* where the landscape was read from */
    const char *cards; /* NULL: all GPUs are alike (gpu_variation.h) */
    double speed_up;   /* > 0 */
};

/* Takes ownership of the landscape, which was read from 'file'. ERR_INPUT if it
 * has no time, or 'cards' is not a file of cards. */
int replay_open(const struct replay_options *options, struct landscape **land,
                struct replay **out, struct err *err);
void replay_close(struct replay *replay); /* NULL is fine */

const char *replay_path(const struct replay *replay);  /* absolute */
const char *replay_cards(const struct replay *replay); /* absolute, or "" */
double replay_speed_up(const struct replay *replay);
const char *replay_device(const struct replay *replay); /* "" if not known */
/* The same for people: "an unnamed device" if it is not known. */
const char *replay_device_shown(const struct replay *replay);
/* Facts of the recorded device; NULL if they are not known. */
const struct gpu_arch_facts *replay_facts(const struct replay *replay);
const struct landscape *replay_landscape(const struct replay *replay);
/* {"file", "cards", "speed_up", "device", "kernel", "problem"}, the last if it
 * is known; for the caller to free. */
char *replay_json(const struct replay *replay);

/* A sweep file for the record.  Its baseline is that of the record, or
 * otherwise the first configuration with a time. */
void replay_sweep_text(const struct replay *replay, struct buf *out);
/* Load the sweep file at 'sweep', or generate that of the record if it is NULL,
 * and bind it to the record.  Its sources are not read.  ERR_INPUT if its
 * tunables are not those of the record. */
int replay_spec(struct replay *replay, const char *sweep, struct spec **out,
                struct err *err);
/* False of a sweep file that was generated from a record: its kernel, launch
 * and arguments are placeholders. */
bool replay_has_kernel(const struct spec *spec);

/* ---- once a spec is bound; texts of values belong to the spec */

/* The configurations whose values are all in the sweep file, for space_open();
 * NULL if 'replay' is NULL. */
const struct space_only *replay_points(const struct replay *replay);
int replay_size(const struct replay *replay); /* how many */
void replay_values(const struct replay *replay, int i, struct value *values);
/* The configuration with these values, or NULL. */
const struct landscape_config *replay_config(const struct replay *replay,
                                             const struct value *values);
/* The same as a record (worker/runner/device/record.h); NULL values mean the
 * reference.  ERR_INPUT if no such configuration was recorded. */
int replay_record(const struct replay *replay, const struct value *values,
                  struct buf *out, struct err *err);

/* The flag that builds and requests of all recorded kernels carry. */
const char *replay_flag(const struct replay *replay); /* the speed-up */
void replay_put_launch(struct buf *request);
/* The flag for this measurement, on a GPU of a host. */
void replay_put_arguments(struct replay *replay, const struct msg_identity *id,
                          const char *host, int gpu, struct buf *request);
/* Put the recorded durations into a BUILT or MEASURED of this configuration, in
 * place of the real ones.  Nothing was checked, and so no launch is counted. */
void replay_restate(const struct replay *replay, const struct value *values,
                    struct msg *msg);

#endif
