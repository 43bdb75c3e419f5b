/* embedded_headers.h - the device primitives that are embedded in fa-coord
 *
 * The files of kernels/include by their names there, "fa/fa.h".
 */
#ifndef FA_COORDINATOR_SPEC_EMBEDDED_HEADERS_H
#define FA_COORDINATOR_SPEC_EMBEDDED_HEADERS_H

#include "common/embed.h"

extern const struct embed embedded_headers[];

#endif
