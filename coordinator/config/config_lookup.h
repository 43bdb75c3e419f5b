/* config_lookup.h - which point of a space a stored configuration is */
#ifndef FA_COORDINATOR_CONFIG_CONFIG_LOOKUP_H
#define FA_COORDINATOR_CONFIG_CONFIG_LOOKUP_H

#include <stdint.h>

struct spec;

/* 'params' is the JSON object of its tunables.  -1 if it has other tunables
 * (the sweep file was another one) or other values (it is outside the axes). */
int64_t config_lookup_number(const struct spec *spec, const char *params);

#endif
