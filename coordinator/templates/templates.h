/* templates.h - complete small sweeps that a new one can start from
 *
 * The files are those of kernels/templates.  Thread rule: no state.
 */
#ifndef FA_COORDINATOR_TEMPLATES_TEMPLATES_H
#define FA_COORDINATOR_TEMPLATES_TEMPLATES_H

#include <stddef.h>

struct err;

struct template
{
    const char *name, *what; /* one line */
};

const struct template *templates_at(size_t i); /* NULL after the last one */

/* Write sweep.json, kernel.cu and reference.cu into a folder, which is made if
 * it does not exist.  Nothing is overwritten.  ERR_INPUT for an unknown name or
 * if one of the files exists; ERR_SYSTEM. */
int templates_write(const char *name, const char *folder, struct err *err);

/* Files of a folder, likewise: all or, where one exists already, none. */
struct template_file {
    const char *name, *text;
};
int templates_write_files(const struct template_file *files, size_t n,
                          const char *folder, struct err *err);

#endif
