/* confirmation_fixture.h - the report's sweep, and a confirmation of it in
 * blocks
 *
 * The baseline and up to two finalists of report_fixture.h, whose times are as
 * a test wants them, and one that was rejected.  A test sets the fields up to
 * the times, begins, puts what was measured, ends, looks at the rest and
 * closes.  A step that cannot be done fails the test.
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

struct scene {
    enum confirmation_kind kind;
    int n_gpus;
    double times[3]; /* of the baseline and the finalists, ms */
    double odd[3];   /* at the second shape; 0: it has none */

    struct store *store; /* from the beginning */
    struct confirmation confirmation;

    struct report *report; /* from the end */
    struct report_cost *cost;
    struct conclusion *conclusion;
};

/* The baseline, the finalists in order, the rejected one. */
extern const char *const scene_keys[4];

/* 1, or 0.2 % this way or that: the same for two candidates only by chance. */
double scene_wobble(int block, size_t candidate, int sample);
const char *scene_gpu(const struct scene *scene, int block);

void scene_begin(struct scene *scene, const char *path, size_t finalists);
/* One candidate in one block, at every shape. */
void scene_put(struct scene *scene, int block, size_t candidate,
               const char *outcome);
/* Blocks 1 to 'blocks', all of them right. */
void scene_put_blocks(struct scene *scene, int blocks);
/* ended  the confirmation came to its end; else it can be gone on with */
void scene_end(struct scene *scene, bool ended);
/* Its conclusion for programs, then for people; the caller frees it. */
char *scene_text(const struct scene *scene);
void scene_close(struct scene *scene);

#endif
