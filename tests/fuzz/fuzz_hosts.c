#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/hosts/hosts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Any text gives hosts or one error.  No field that ssh sees begins with '-'.
 */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct hosts hosts;
    struct err err = { "" };

    if (hosts_parse("hosts.txt", (const char *)bytes, len, &hosts, &err) < 0) {
        assert(strncmp(err.text, "hosts.txt:", 10) == 0);
        return 0;
    }
    assert(hosts.n > 0 && hosts.n <= HOSTS_MAX);
    for (size_t i = 0; i < hosts.n; i++) {
        assert(*hosts.list[i].address && *hosts.list[i].address != '-');
        assert(*hosts.list[i].user != '-' && *hosts.list[i].jump != '-');
        assert(hosts.list[i].port >= 0 && hosts.list[i].port <= 65535);
    }
    hosts_fini(&hosts);
    return 0;
}
