#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/ssh_keys/host_key_policy.h"
#include "coordinator/ssh_keys/key_file.h"
#include "coordinator/ssh_keys/known_hosts.h"
#include "coordinator/ssh_keys/rsa_key.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Any text can be read as known_hosts lines, as the key that a server shows,
 * and as a key file. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text = mem_dup(bytes, len);
    struct known_hosts_set set;
    struct host_key_policy policy;
    struct key_file key;
    struct rsa_key *rsa;
    struct err err;

    known_hosts_init(&set, "gpu7.example.net", 2222);
    known_hosts_parse(&set, "known_hosts", text, len);
    policy = (struct host_key_policy){ &set, "", true };
    if (host_key_policy_judge(&policy, bytes, len, NULL) == HOST_KEY_ADDED)
        assert(host_key_policy_before(&policy, NULL) == HOST_KEY_NEW);
    known_hosts_fini(&set);
    if (key_file_parse("id", text, &key, &err) == 0)
        assert(key.blob_len <= KEY_FILE_BLOB_MAX);
    if (rsa_key_parse(text, len, &rsa) == 0)
        rsa_key_free(rsa);
    free(text);
    return 0;
}
