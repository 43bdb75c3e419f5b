/* checksum.h - what makes a stored row evidence: BLAKE2b over its columns
 *
 * SQLite's own integrity_check does not see a flipped bit in a number, so
 * every row ends in the hash of the columns before it, in the order of
 * schema/schema.sql.  Each column is hashed as
 *
 *   tag (1 byte) | payload
 *   'n' NULL     | nothing
 *   'I' INTEGER  | 8 bytes, little endian, two's complement
 *   'd' REAL     | 8 bytes, little endian, IEEE 754; -0.0 as 0.0
 *   't' TEXT     | length, 8 bytes, little endian; then its UTF-8 bytes
 *
 * and the hash is 16 bytes.  Rows of 'build', 'result' and 'tool' have it as 32
 * lower-case hex digits.  Small rows have its first 8 bytes, as an integer,
 * because the digits would make writing what comes with a result 10 % slower.
 * Who writes and who checks both call these functions.
 */
#ifndef FA_COORDINATOR_SQL_CHECKSUM_H
#define FA_COORDINATOR_SQL_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "coordinator/sql/sql.h"

void checksum_row(const struct sql_value *values, size_t n, char out[HASH_HEX]);
/* Little endian, two's complement. */
int64_t checksum_short(const struct sql_value *values, size_t n);

#endif
