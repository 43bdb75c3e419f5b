/* mem.h - allocation that does not fail
 *
 * If memory runs out, the program ends with one line on stderr and exit code 1:
 * both programs and fa-runner can be restarted, and their state is on disk.  A
 * size from outside is checked against a stated ceiling before it gets here.
 * Free with free().
 */
#ifndef FA_COMMON_MEM_H
#define FA_COMMON_MEM_H

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For what allocates by itself, when it finds no memory. */
__attribute__((noreturn)) void mem_exhausted(void);
/* The same if 'got', of opendir() for one, is NULL for that reason (errno). */
void mem_check(const void *got);

void *mem_new(size_t n, size_t size);             /* n * size zeroed bytes */
void *mem_grow(void *old, size_t n, size_t size); /* realloc, not zeroed */
char *mem_strdup(const char *text);
void *mem_dup(const void *bytes, size_t len); /* len + 1 bytes, NUL after */
/* open_memstream(3); 'text' is the caller's after mem_stream_close(), which
 * ends the program if the stream found no memory.  fclose() does not tell: it
 * returns 0, and the text is NULL. */
FILE *mem_stream(char **text, size_t *len);
void mem_stream_close(FILE *stream, char *const *text);
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#ifdef __cplusplus
}
#endif

#endif
