/* power_disk.h - a disk that loses what was not synced when the power fails
 *
 * This program has its own pwrite(), ftruncate(), fsync(), fdatasync(),
 * rename() and unlink(), which SQLite and our code call in place of libc's.
 * They do the same, but sync nothing, and note what happens to the files of one
 * folder.  An image is a drawn state of that folder that a power cut at this
 * moment may leave:
 *
 *   files      what was synced, and any of the writes after it; each of these
 *              may be torn at a sector of 512 bytes
 *   names      what was synced with the folder, and the first of the changes
 *              after it
 *
 * Thread rule: one thread; a process has one such disk.
 */
#ifndef FA_TESTS_FAULT_POWER_DISK_H
#define FA_TESTS_FAULT_POWER_DISK_H

#include <stddef.h>
#include <stdint.h>

#define POWER_DISK_PATH 128

/* Watch 'folder', which is empty.  Before each noted operation an image is
 * drawn with the chance 1 / 'every', while '*mark' is above 0, and becomes the
 * folder 'images'/N.  'mark' is borrowed until the end. */
void power_disk_watch(const char *folder, const char *images, uint64_t seed,
                      unsigned every, const int *mark);
/* Returns the number of images: N is 0, 1, ... */
size_t power_disk_end(void);

/* The path of an image; returns what '*mark' was when it was drawn. */
int power_disk_image(size_t n, char path[POWER_DISK_PATH]);
void power_disk_remove_image(size_t n);

#endif
