/* effort.h - how thorough a sweep is: --effort (docs/effort.md)
 *
 * One word for several limits, so that a user need not know each of them.
 * Nothing that keys of results depend on is among them: a sweep of one effort
 * continues with the results of another.
 * Pure.
 */
#ifndef FA_COORDINATOR_SEARCH_EFFORT_H
#define FA_COORDINATOR_SEARCH_EFFORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum effort {
    EFFORT_NORMAL, /* the sweep file's limits */
    EFFORT_QUICK,
    EFFORT_FULL,
};

enum {
    EFFORTS = 3
};

/* A search of little effort ends when so many seconds have passed since its
 * first host was ready and so many configurations were asked for: with 16 build
 * slots and builds of 2 s, those are about 80. */
#define EFFORT_QUICK_SEARCH_S 11.0
#define EFFORT_QUICK_LEAST 24
#define EFFORT_QUICK_EVALUATIONS 200 /* at most */

/* ERR_INPUT for another word. */
int effort_read(const char *word, enum effort *out, struct err *err);
const char *effort_name(enum effort effort);
/* Of a stored word; EFFORT_NORMAL if it is unknown, or NULL. */
enum effort effort_recall(const char *word);

/* What an effort makes of the limits of a confirmation. */
struct effort_limits {
    int64_t finalists, blocks; /* at most */
    int64_t fuzz_shapes;       /* of a proof, at most */
};

/* 'limits' are those of the sweep file. */
void effort_limit(enum effort effort, struct effort_limits *limits);

/* Which of 'n' shapes are kept if 'most' may be: the list is cut into so many
 * runs of one length, or nearly, and of each run the smallest shape is kept,
 * the first of equal ones.  So all parts of the list are there, and the proof
 * is short.  'sizes' and 'kept' have n members. */
void effort_thin(const double *sizes, size_t n, size_t most, bool *kept);

#endif
