/* remedy.h - what to do when the system refuses a call
 *
 * Pure; any thread.
 */
#ifndef FA_COMMON_REMEDY_H
#define FA_COMMON_REMEDY_H

/* Of a number (errno): a clause for the end of a message, if the machine has
 * too little of something or fails.  NULL if the call itself asked for what
 * cannot be: a file that may not be read, a path that is a folder. */
const char *remedy_of(int number);

#endif
