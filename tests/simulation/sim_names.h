/* sim_names.h - texts as small numbers, so that all records have the same size
 *
 * Number 0 is "".  A number stands for the same text until sim_names_fini().
 */
#ifndef FA_TESTS_SIMULATION_SIM_NAMES_H
#define FA_TESTS_SIMULATION_SIM_NAMES_H

#include <stddef.h>

struct sim_names {
    char **texts;
    size_t n;
    int *slots; /* open addressing; -1: free */
    size_t n_slots;
};

int sim_name(struct sim_names *names, const char *text);
const char *sim_name_text(const struct sim_names *names, int name);
void sim_names_fini(struct sim_names *names);

#endif
