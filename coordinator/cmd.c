#include "coordinator/cmd.h"

#include <stddef.h>
#include <stdio.h>

#include "common/err.h"

int cmd_fail(int code, const struct err *err)
{
    static const struct {
        int code, exit;
    } exits[] = {
        { ERR_INPUT, 2 }, { ERR_NETWORK, 3 }, { ERR_PROTO, 3 },
        { ERR_AUTH, 4 },  { ERR_STORE, 7 },
    };

    fprintf(stderr, "fa-coord: %s\n", err->text);
    for (size_t i = 0; i < sizeof(exits) / sizeof(exits[0]); i++)
        if (exits[i].code == code)
            return exits[i].exit;
    return 1;
}
