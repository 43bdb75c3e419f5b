/* report_internal.h - the parts of a report for people; for report_*.c
 */
#ifndef FA_COORDINATOR_REPORT_REPORT_INTERNAL_H
#define FA_COORDINATOR_REPORT_REPORT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct err;
struct report;
struct report_config;
struct report_view;

/* report_each.c: the first 'most' configurations that are selected, 0 for all,
 * by rank.  They are of 'report', which may be a part of the view's. */
typedef void report_each_fn(void *arg, const struct report *report,
                            const struct report_config *config);
int report_each(const struct report_view *view, size_t most, report_each_fn *fn,
                void *arg, struct err *err);

#define REPORT_HEAD_EMULATED \
    "The times are emulated on the cpu device; they are not GPU times."

/* report_head.c: what was asked for, and what came of it */
void report_head_print(const struct report *report, FILE *to);
void report_head_counts(const struct report *report, FILE *to);
/* "lhs:20,tpe, seed 7"; the caller frees it. */
char *report_head_strategy(const struct report *report);

/* report_ranking.c */
size_t report_ranking_size(const struct report *report); /* ranked ones */
void report_ranking_print(const struct report_view *view, FILE *to);
/* What the ranking shows about the baseline, and what it does not. */
void report_ranking_screening(const struct report *report, FILE *to);
/* The unit that suits the fastest: a factor for seconds, and its name. */
double report_ranking_unit(const struct report *report, const char **name);

/* report_best.c: the baseline and the five best; nothing without times */
void report_best_print(const struct report_view *view, FILE *to);
/* report_learnt.c: nothing without lessons */
void report_learnt_print(const struct report_view *view, FILE *to);

void report_failures_print(const struct report_view *view, FILE *to);
void report_gates_print(const struct report_view *view, FILE *to);

#endif
