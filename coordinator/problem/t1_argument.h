/* t1_argument.h - the arguments of a kernel in a T1 file; private to t1*.c */
#ifndef FA_COORDINATOR_PROBLEM_T1_ARGUMENT_H
#define FA_COORDINATOR_PROBLEM_T1_ARGUMENT_H

struct err;
struct json;
struct t1;

struct t1_argument {
    char *name;
    const char *type; /* of a sweep file */
    char *size;       /* SQL; NULL: a scalar */
    const char *access;
    char *fill; /* JSON; of a scalar, its value */
};

/* Those that a sweep file cannot have are left out with a note. */
int t1_read_arguments(struct t1 *problem, const struct json *kernel,
                      struct err *err);
void t1_free_arguments(struct t1 *problem);

#endif
