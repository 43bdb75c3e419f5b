/* Any bytes are an invitation that is written again as it was understood, or
 * are refused; the reason shows no key. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/invite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[INVITE_BYTES_MAX];
    struct invite invite, again;
    struct err err = { "" };
    int end = invite_end((const char *)data, size, &err);

    assert(end <= (int)size);
    if (end < 0)
        assert(err.text[0]);
    if (invite_parse((const char *)data, size, &invite, &err) < 0) {
        assert(err.text[0] && !invite.secret_key[0]);
        return 0;
    }
    assert(invite_parse(text, invite_write(&invite, text), &again, &err) == 0);
    assert(again.epoch == invite.epoch &&
           owner_is_same(&again.owner, &invite.owner) &&
           strcmp(again.secret_key, invite.secret_key) == 0);
    return 0;
}
