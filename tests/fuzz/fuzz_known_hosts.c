#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/key_file.h"
#include "coordinator/known_hosts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Any text is read as known_hosts lines, as a shown key, and as a key file. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text = mem_dup(bytes, len);
    struct known_set set;
    struct key_file key;
    struct err err;

    known_init(&set, "gpu7.example.net", 2222);
    known_parse(&set, "known_hosts", text, len);
    assert(set.n <= KNOWN_KEYS_MAX);
    (void)known_judge(&set, bytes, len, NULL);
    known_fini(&set);
    if (key_file_parse("id", text, &key, &err) == 0)
        assert(key.blob_len <= KEY_FILE_BLOB_MAX);
    free(text);
    return 0;
}
