/* input_file.h - a buffer filled from a file
 *
 * The file has the elements as the buffer holds them and nothing else; its name
 * stands for its contents, which do not change.
 */
#ifndef FA_WORKER_RUNNER_INPUT_FILE_H
#define FA_WORKER_RUNNER_INPUT_FILE_H

#include "worker/runner/device/device.h"
#include "worker/runner/wire/wire_request.h"

/* Fill the buffer of 'arg', which has FILL_FILE, from the file in 'folder'.
 * DEVICE_BROKEN: it cannot be read, or has another size. */
int input_file_fill(struct device *device, const char *folder,
                    const struct wire_arg *arg, struct device_buffer *buffer,
                    struct device_err *err);

#endif
