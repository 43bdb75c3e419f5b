/* config.h - one configuration: its key, its texts and its header
 *
 * A configuration is one value for each tunable, in the order of the sweep
 * file.  Its key is a hash of names and values, sorted by name: it does not
 * change with the order of tunables or with new values on an axis.
 */
#ifndef FA_COORDINATOR_CONFIG_CONFIG_H
#define FA_COORDINATOR_CONFIG_CONFIG_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/hash.h"
#include "coordinator/text/value.h"

struct err;
struct spec;

/* Lines "NAME=VALUE", sorted by name; texts in quotes. */
void config_canonical(const struct spec *spec, const struct value *values,
                      struct buf *out);
void config_key(const struct spec *spec, const struct value *values,
                char out[HASH_HEX]);

/* {"BLOCK_M": 64, "SWIZZLE": true}, in file order */
void config_json(const struct spec *spec, const struct value *values,
                 struct buf *out);
/* BLOCK_M=64 SWIZZLE=true */
void config_text(const struct spec *spec, const struct value *values,
                 struct buf *out);

/* The header that a build includes first: a #define for each tunable and
 * derived value, numbers as they are, bools as 0 and 1, texts in quotes with
 * NAME_text defined as 1 as well when the text is an identifier. */
void config_header(const struct spec *spec, const struct value *values,
                   const struct value *derived, struct buf *out);

/* Parse what a user typed: A=1,B=2 (blanks are fine too), all tunables that
 * have several values, in any order, any values of the right type.  Texts of
 * the values are stored in 'text_out' (a buf of the caller). ERR_INPUT */
int config_parse(const struct spec *spec, const char *text,
                 struct value *values, struct buf *text_out, struct err *err);
/* The same, but tunables that the text does not name keep their 'values'. */
int config_parse_over(const struct spec *spec, const char *text,
                      struct value *values, struct buf *text_out,
                      struct err *err);
/* The same, or the first digits of a key, at least four. */
bool config_is_key_prefix(const char *text);

/* What a user should know of values that were typed: the first that is neither
 * one of its tunable's nor the baseline's, with those that are or the one that
 * is spelt like it.  "" if there is none. */
void config_remark(const struct spec *spec, const struct value *values,
                   struct err *out);

#endif
