/* limits.h - what the shell allows this process
 *
 * Thread rule: before the first thread.
 */
#ifndef FA_COMMON_LIMITS_H
#define FA_COMMON_LIMITS_H

#include "common/err.h"

/* Take as many descriptors as the hard limit allows, up to 65,536.  A write
 * beyond 'ulimit -f' fails with EFBIG from here on, and ends nothing.  Programs
 * that are executed inherit both. */
void limits_setup(void);

/* Are 'files' descriptors allowed?  ERR_SYSTEM: the text has the remedy. */
int limits_check_files(int files, struct err *err);

#endif
