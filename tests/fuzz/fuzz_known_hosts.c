#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/ssh_keys/key_file.h"
#include "coordinator/ssh_keys/known_hosts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Any text can be read as known_hosts lines, as the key that a server shows,
 * and as a key file. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text = mem_dup(bytes, len);
    struct known_hosts_set set;
    struct key_file key;
    struct err err;

    known_hosts_init(&set, "gpu7.example.net", 2222);
    known_hosts_parse(&set, "known_hosts", text, len);
    assert(set.n <= KNOWN_HOSTS_KEYS_MAX);
    (void)known_hosts_judge(&set, bytes, len, NULL);
    known_hosts_fini(&set);
    if (key_file_parse("id", text, &key, &err) == 0)
        assert(key.blob_len <= KEY_FILE_BLOB_MAX);
    free(text);
    return 0;
}
