#include "common/l2_mode.h"

#include <string.h>

const char *const l2_mode_names[L2_MODES] = {
    [L2_MODE_NONE] = "none",
    [L2_MODE_FLUSH] = "flush",
    [L2_MODE_WARM] = "warm",
    [L2_MODE_ROTATE] = "rotate",
};

const char *l2_mode_name(enum l2_mode mode)
{
    return l2_mode_names[mode];
}

bool l2_mode_is(const char *name, enum l2_mode mode)
{
    return strcmp(name, l2_mode_names[mode]) == 0;
}
