/* gpu_list.h - which GPUs of a machine the hosts file means
 *
 * "all", "none" or indices such as "0,1", as CUDA numbers them.
 * Pure, but for the count of a machine's GPUs.
 */
#ifndef FA_WORKER_GPU_GPU_LIST_H
#define FA_WORKER_GPU_GPU_LIST_H

#include <stddef.h>

enum {
    GPUS_MAX = 64,
    GPU_LIST_INDEX_MAX = 999,
    GPU_LIST_BYTES = 4 * GPUS_MAX + 1
};

/* The indices, in the order of the text.  Of "all", those that a device of this
 * kind has on this machine: one, but for "cuda"; and at least one, because a
 * container may not show them.  Returns how many, or -1 if 'which' is
 * malformed. */
int gpu_list_choose(const char *device, const char *which,
                    int indices[GPUS_MAX]);

/* The same set as one text, in ascending order: "all", "none", "0,1".  Returns
 * -1 if 'which' is malformed. */
int gpu_list_sort(const char *which, char out[GPU_LIST_BYTES]);

/* "0,1" */
void gpu_list_write(const int *indices, size_t n, char out[GPU_LIST_BYTES]);

#endif
