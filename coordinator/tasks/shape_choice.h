/* shape_choice.h - the shapes that --shape names
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_TASKS_SHAPE_CHOICE_H
#define FA_COORDINATOR_TASKS_SHAPE_CHOICE_H

#include <stddef.h>

struct err;
struct option_list;
struct spec_shape;

/* Those of 'list', [n], in the order of their names.
 * where  what the list is of, in a message: "in the sweep"
 * hint   what a message says where no name is near; "" for nothing
 * out    [names->n], copies that borrow from 'list'
 * ERR_INPUT when there is none of that name, or it is named twice */
int shape_choice(const struct spec_shape *list, size_t n,
                 const struct option_list *names, const char *where,
                 const char *hint, struct spec_shape *out, struct err *err);

#endif
