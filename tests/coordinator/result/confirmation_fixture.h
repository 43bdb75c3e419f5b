/* confirmation_fixture.h - the report's sweep, and a confirmation of it in
 * blocks
 *
 * It has the baseline and up to two finalists of report_fixture.h with times
 * chosen by the test, and one rejected configuration.  A test sets the fields
 * up to the times, begins, stores measurements, ends, checks the other fields
 * and closes.  A step that is impossible fails the test.
 */
#ifndef FA_TESTS_COORDINATOR_RESULT_CONFIRMATION_FIXTURE_H
#define FA_TESTS_COORDINATOR_RESULT_CONFIRMATION_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/confirm/confirmation.h"

#define SCENE_BLOCKS 20

struct conclusion;
struct report_cost;
struct report;
struct store;
struct winner;

struct scene {
    enum confirmation_kind kind;
    int n_gpus;
    double times[3];       /* of the baseline and the finalists, ms */
    double odd[3];         /* at the second shape; 0: it has none */
    bool same_code;        /* all were built to one artifact */
    const char *objective; /* of the sweep; NULL: the headline */
    const char *against;   /* the rule; NULL: the baseline */
    struct confirmation_looks looks;
    int launches;  /* checked in a measurement; 0: 156; -1: not counted */
    int proof;     /* those of each one's proof, the second's varied; 0: not
                    * known */
    bool unjudged; /* a part of the first finalist, in each block */

    struct store *store; /* from the beginning */
    struct confirmation confirmation;

    struct report *report; /* from the end */
    struct report_cost *cost;
    struct conclusion *conclusion;
};

/* The baseline, the finalists in order, the rejected one. */
extern const char *const scene_keys[4];

/* 1, plus or minus up to 0.2 %; two candidates have the same value only by
 * chance. */
double scene_wobble(int block, size_t candidate, int sample);
const char *scene_gpu(const struct scene *scene, int block);

void scene_begin(struct scene *scene, const char *path, size_t finalists);
/* Store one candidate in one block, at every shape. */
void scene_put(struct scene *scene, int block, size_t candidate,
               const char *outcome);
/* Store blocks 1 to 'blocks', all correct. */
void scene_put_blocks(struct scene *scene, int blocks);
/* ended  the confirmation is complete; otherwise it can be resumed */
void scene_end(struct scene *scene, bool ended);
/* Its conclusion for programs, then for people; the caller frees it. */
char *scene_text(const struct scene *scene);
/* The winner at a shape according to winner.h; its texts belong to the
 * report. */
struct winner scene_winner(const struct scene *scene, int shape);
void scene_close(struct scene *scene);

#endif
