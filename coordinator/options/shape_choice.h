/* shape_choice.h - the shapes that --shape names
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_OPTIONS_SHAPE_CHOICE_H
#define FA_COORDINATOR_OPTIONS_SHAPE_CHOICE_H

#include <stddef.h>

struct err;
struct option_list;
struct spec_shape;

/* The shapes of 'list', [n], with the given names, in their order.
 * where  names the list in a message: "in the sweep"
 * hint   text of a message if no name is similar; "" for nothing
 * out    [names->n], copies that borrow from 'list'
 * ERR_INPUT if a name is unknown or given twice */
int shape_choice(const struct spec_shape *list, size_t n,
                 const struct option_list *names, const char *where,
                 const char *hint, struct spec_shape *out, struct err *err);

#endif
