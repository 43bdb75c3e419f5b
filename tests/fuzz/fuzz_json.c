#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/text/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check(const struct json *json, size_t len, int depth)
{
    assert(json->at < len && depth <= JSON_DEPTH);
    assert(json->kind != JSON_TEXT || json->text);
    for (size_t i = 0; i < json->n; i++) {
        assert(json->items[i].at > json->at);
        check(&json->items[i], len, depth + 1);
    }
}

/* Any bytes give one error, or a value whose positions lie inside the text. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct json_doc *doc;
    struct err err = { "" };

    if (json_parse("f", (const char *)bytes, len, &doc, &err) < 0) {
        assert(!doc && strncmp(err.text, "f:", 2) == 0);
        return 0;
    }
    check(json_root(doc), len, 0);
    json_free(doc);
    return 0;
}
