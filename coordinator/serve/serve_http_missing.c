/* Built in place of serve_http.c where libmicrohttpd is missing. */
#include "common/err.h"
#include "coordinator/serve/serve_http.h"

int serve_http_run(struct serve_source *sources, size_t n, int port,
                   struct err *err)
{
    (void)sources;
    (void)n;
    (void)port;
    return err_set(err, ERR_INPUT,
                   "this fa-coord was built without libmicrohttpd (Debian's "
                   "package libmicrohttpd-dev), which 'serve' needs; "
                   "'fa-coord report --html' writes the same page as a file");
}
