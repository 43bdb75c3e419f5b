/* halving_rules.h - how many samples the leaders get (successive_halving.h)
 */
#ifndef FA_COORDINATOR_SEARCH_HALVING_RULES_H
#define FA_COORDINATOR_SEARCH_HALVING_RULES_H

struct successive_halving_rules {
    int first;  /* samples of a new point, >= 1 */
    int factor; /* >= 2 */
    int most;   /* samples of the last rung at most; >= first */
};

#endif
