/* t1_kernel.h - what a T1 file says of its kernel; private to t1*.c
 *
 * The launch and the compiler's options; t1_argument.h has the arguments.
 */
#ifndef FA_COORDINATOR_PROBLEM_T1_KERNEL_H
#define FA_COORDINATOR_PROBLEM_T1_KERNEL_H

struct buf;
struct err;
struct json;
struct t1;

/* ProblemSize, which conditions may name. */
int t1_read_sizes(struct t1 *problem, const struct json *kernel,
                  struct err *err);
void t1_read_kernel(struct t1 *problem, const struct json *kernel);
/* A size as SQL; one that cannot be read is 1, with a note. */
void t1_size_sql(struct t1 *problem, const struct json *json, struct buf *out);
/* t1_options.c */
void t1_read_options(struct t1 *problem, const struct json *kernel);

#endif
