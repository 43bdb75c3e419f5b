/* roofline.h - compares a time with lower bounds
 *
 * Each floor of a sweep file (docs/sweep-file.md, section 11) is a lower bound
 * on the time at a shape: that of the tensor cores, or of DRAM. The largest one
 * binds: a kernel that reaches 100 % of it cannot become faster, however far it
 * is from the others.
 */
#ifndef FA_COORDINATOR_SPACE_ROOFLINE_H
#define FA_COORDINATOR_SPACE_ROOFLINE_H

#include <stddef.h>

struct err;
struct space;
struct spec;
struct spec_shape;

#define ROOFLINE_NONE ((size_t)-1)

struct roofline {
    char **names;    /* in the order of the sweep file */
    double *seconds; /* > 0; NaN for a floor that has no value at this shape */
    size_t n;
    size_t binds; /* the largest; ROOFLINE_NONE without any */
};

/* The floors of a shape.  Call roofline_fini(), even after an error.  ERR_INPUT
 * if an expression is wrong. */
int roofline_of(struct space *space, const struct spec *spec,
                const struct spec_shape *shape, struct roofline *out,
                struct err *err);
void roofline_fini(struct roofline *roofline);

/* The index of the largest; ROOFLINE_NONE if all are NaN. */
size_t roofline_binding(const double *seconds, size_t n);
/* Floor over time: 1 is the best possible, and more than 1 means that the floor
 * is wrong.  NaN without a time or a value. */
double roofline_share(const struct roofline *roofline, size_t floor,
                      double time_s);

#endif
