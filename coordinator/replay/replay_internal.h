/* replay_internal.h - the parts of a replay; private to replay*.c */
#ifndef FA_COORDINATOR_REPLAY_REPLAY_INTERNAL_H
#define FA_COORDINATOR_REPLAY_REPLAY_INTERNAL_H

#include <stddef.h>

#include "coordinator/replay/replay.h"
#include "coordinator/space/space.h"

/* A GPU, and how many measurements it was asked for in this run. */
struct asked {
    char host[256];
    int gpu;
    long n;
};

struct replay {
    char *path, *cards_path;
    struct gpu_variation *cards;
    double speed_up;
    char flag[32]; /* the speed-up as text */
    struct landscape *land;

    /* replay_points.c */
    const struct spec *spec; /* once bound */
    size_t n_axes;           /* of the spec, which may be freed before this */
    int *tunable_of;         /* of each axis of the spec */
    int **level_of;  /* [axis][value of the axis]: level of the tunable or -1 */
    int **value_of;  /* [axis][level]: value of the axis or -1 */
    int *configs, n; /* points whose values are all in the sweep file */
    struct value *values; /* their values, n rows */
    struct space_only points;

    /* replay_msg.c */
    struct asked *asked;
    size_t n_asked;
};

/* replay_points.c: map the points of this sweep file (borrowed) to
 * configurations of the record.  ERR_INPUT, as replay_spec(). Call
 * replay_unbind() even after an error. */
int replay_bind(struct replay *replay, const struct spec *spec,
                struct err *err);
void replay_unbind(struct replay *replay);

#endif
