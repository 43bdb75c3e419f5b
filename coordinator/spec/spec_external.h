/* spec_external.h - the external baselines of a sweep file
 */
#ifndef FA_COORDINATOR_SPEC_SPEC_EXTERNAL_H
#define FA_COORDINATOR_SPEC_SPEC_EXTERNAL_H

#include <stddef.h>

#define SPEC_SAMPLES "samples" /* a placeholder beside the variables */
#define SPEC_EXTERNALS_MAX 8
#define SPEC_EXTERNAL_ASK_MAX 500 /* bytes of all texts of a question */
/* Three more than the fewest for an interval of 95 %. */
#define SPEC_EXTERNAL_BLOCKS 8
#define SPEC_EXTERNAL_SAMPLES 20
#define SPEC_EXTERNAL_TIMEOUT_S 120

struct spec_external {
    char *name;     /* no other one has it */
    char **command; /* the program first; may contain placeholders {S} */
    size_t n_command;
    char **ask;   /* of the line on its stdin; likewise.  It stays for others */
    size_t n_ask; /* 0: its stdin is empty, and it ends */
    char **files; /* relative to the folder */
    size_t *files_at;
    size_t n_files;
    double timeout_s; /* for one run */
    int blocks;       /* blocks that it joins, over all GPUs */
    int samples;      /* samples in each block */
};

struct spec_externals {
    struct spec_external *list; /* in the order of the file */
    size_t n;
};

#endif
