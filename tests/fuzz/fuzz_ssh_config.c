/* Whatever a program called ssh prints for `ssh -G`. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/remote/ssh_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_dup(data, size);
    struct ssh_config config;
    struct err err = { "" };

    if (ssh_config_parse(text, "/home/ada", &config, &err) < 0) {
        assert(err.text[0]);
    } else {
        assert(config.hostname[0] && config.user[0]);
        assert(config.port >= 1 && config.port <= 65535);
        assert(config.n_identities <= SSH_CONFIG_FILES_MAX);
        assert(config.n_known_hosts <= SSH_CONFIG_FILES_MAX);
    }
    free(text);
    return 0;
}
