/* conclusion_shape.h - what a confirmation found at one shape, or over all
 */
#ifndef FA_COORDINATOR_CONCLUSION_CONCLUSION_SHAPE_H
#define FA_COORDINATOR_CONCLUSION_CONCLUSION_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

struct blocks;
struct finding;

struct conclusion_shape {
    const char *name; /* of the shape, or OBJECTIVE_GEOMEAN (objective.h) */
    int at;           /* its index in the confirmation, or OBJECTIVE_ALL */
    struct blocks *blocks;    /* candidates are the entries, in order */
    struct finding *findings; /* one an entry */
    size_t leader;            /* index of an entry, or BEST_SET_NONE */
    size_t best;              /* entry chosen among those that tie */
    bool success;   /* 'best' reached the target over what the rule is against;
                     * never if emulated or not done */
    size_t n_tied;  /* with the leader, including it */
    char *missed;   /* fastest here in the sweep; NULL: it was compared */
    char *sentence; /* like the sentence of the whole; NULL: none */
    char *checked;  /* another, on how many checked launches it rests; NULL:
                     * there is nothing to say */
};

#endif
