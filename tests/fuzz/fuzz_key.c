/* Any bytes are a key file of some kind, or are refused with a reason. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/ssh_keys/key_file.h"
#include "coordinator/ssh_keys/rsa_key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_dup(data, size);
    struct key_file file;
    struct rsa_key *key = NULL;
    struct err err = { "" };
    struct buf blob;

    if (key_file_parse("key", text, &file, &err) < 0)
        assert(err.text[0] && !strchr(err.text, '\n'));
    else
        assert(strlen(file.type) < sizeof(file.type) &&
               file.blob_len <= sizeof(file.blob));
    if (rsa_key_parse(text, size, &key) == 0) {
        buf_init(&blob, RSA_KEY_BLOB_MAX);
        (void)rsa_key_login_blob(key, &blob); /* it may not fit */
        buf_fini(&blob);
        rsa_key_free(key);
    }
    free(text);
    return 0;
}
