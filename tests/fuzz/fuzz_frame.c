/* The other end of a relay may send any bytes.  They are frames or are refused,
 * and the buffer never exceeds the limit of the pump. */
#include <stddef.h>
#include <stdint.h>

#include "common/frame.h"
#include "common/pump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char version[FRAME_VERSION_BYTES];
    size_t at = 0, frames, len;
    struct pump *pump;
    struct err err;

    (void)frame_find_magic((const char *)data, size, &frames, version, &err);
    if (pump_dial("/nonexistent/fa-fuzz", &pump, &err) < 0)
        return 0;
    while (at < size && pump_room(pump) > 0) {
        size_t n = size - at < pump_room(pump) ? size - at : pump_room(pump);

        if (pump_feed(pump, data + at, n, &err) < 0 ||
            pump_step(pump, NULL, 0, &err) < 0)
            break;
        at += n;
        (void)pump_output(pump, &len);
        pump_sent(pump, len);
    }
    pump_free(pump);
    return 0;
}
