/* spec_external.h - the external baseline of a sweep file
 */
#ifndef FA_COORDINATOR_SPEC_SPEC_EXTERNAL_H
#define FA_COORDINATOR_SPEC_SPEC_EXTERNAL_H

#include <stddef.h>

#define SPEC_SAMPLES "samples" /* a placeholder beside the variables */
/* As few as an interval of 95 % allows, and two. */
#define SPEC_EXTERNAL_BLOCKS 8
#define SPEC_EXTERNAL_SAMPLES 20
#define SPEC_EXTERNAL_TIMEOUT_S 120

/* The external baseline. */
struct spec_external {
    char *name;     /* NULL: there is none */
    char **command; /* the program first; may hold placeholders {S} */
    size_t n_command;
    char **files; /* relative to the folder */
    size_t *files_at;
    size_t n_files;
    double timeout_s; /* of a run */
    int blocks;       /* it takes part in, over all GPUs */
    int samples;      /* it is asked for in each */
};

#endif
