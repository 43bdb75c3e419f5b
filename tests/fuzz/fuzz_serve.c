/* Any method, path and Host get an answer, and a page only with the token, the
 * right Host and a database that is there.  The lines of the input are the
 * method, the path after the token, and the Host. */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/serve/serve_request.h"

#define TOKEN "00112233445566778899aabbccddeeff"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct serve_request_site *site,
                  const struct serve_request *request)
{
    struct serve_request_answer answer = serve_request_answer(site, request);
    bool open = strncmp(request->path, "/" TOKEN "/",
                        SERVE_REQUEST_TOKEN_DIGITS + 2) == 0;

    assert(answer.database < site->n);
    assert((answer.status == 200) == (answer.page != SERVE_REQUEST_NONE));
    if (!open || !serve_request_is_ours(request->host, site->port))
        assert(answer.status == 403);
    if (answer.status == 200)
        assert(strcmp(request->method, "GET") == 0 ||
               strcmp(request->method, "HEAD") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct serve_request_site site = { TOKEN, 4711, 12 };
    char *text = mem_dup(data, size), *rest = text;
    const char *method = strsep(&rest, "\n");
    const char *path = rest ? strsep(&rest, "\n") : "";
    const char *host = rest ? rest : "";
    char *known = mem_printf("/" TOKEN "/%s", path);

    check(&site, &(struct serve_request){ method, path, host, false });
    check(&site, &(struct serve_request){ method, known, host, false });
    check(&site,
          &(struct serve_request){ method, known, "localhost:4711", false });
    free(known);
    free(text);
    return 0;
}
