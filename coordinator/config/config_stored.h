/* config_stored.h - the key of a configuration from its stored parameters
 *
 * The sweep file is not needed: config_json() writes values as
 * config_canonical() does, so the members of the object, sorted by name, are
 * what the key is a hash of.
 */
#ifndef FA_COORDINATOR_CONFIG_CONFIG_STORED_H
#define FA_COORDINATOR_CONFIG_CONFIG_STORED_H

#include <stdbool.h>

#include "common/hash.h"

/* 'params' is the JSON object of a configuration.  False if
 * config_json() does not write such a text: flat, without escapes, no name
 * twice. */
bool config_stored_key(const char *params, char out[HASH_HEX]);

#endif
