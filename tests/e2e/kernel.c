#include "tests/e2e/kernel.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/sources.h"
#include "tests/e2e/coord.h"

#define FA_HEADERS FA_SOURCE_DIR "/kernels/include/fa"
#define FILES_MAX 64

#define ADD                                                                 \
    "extern \"C\" __global__ void add(const float *a, float *out, int n)\n" \
    "{\n"                                                                   \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                  \
    "    if (i < n)\n"                                                      \
    "        out[i] = a[i] + VALUE;\n"                                      \
    "}\n"
/* Wrong by nearly the largest float. */
#define ADD_FAR                                                             \
    "extern \"C\" __global__ void add(const float *a, float *out, int n)\n" \
    "{\n"                                                                   \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                  \
    "    if (i < n)\n"                                                      \
    "        out[i] = a[i] + 1e32f;\n"                                      \
    "}\n"
#define REFERENCE                                                            \
    "extern \"C\" __global__ void ref(const float *a, double *out, int n)\n" \
    "{\n"                                                                    \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                   \
    "    if (i < n)\n"                                                       \
    "        out[i] = double(a[i]) + 1.0;\n"                                 \
    "}\n"

struct msg kernel_bundle = { .type = MSG_BUNDLE };

static char bundle_name[HASH_HEX];
static const char *names[FILES_MAX];
static struct bytes contents[FILES_MAX];

static void add_file(const char *name, const char *text, size_t len)
{
    size_t n = kernel_bundle.bundle.names.n;

    assert_true(n < FILES_MAX);
    names[n] = mem_strdup(name);
    contents[n] = (struct bytes){ mem_dup(text, len), len };
    kernel_bundle.bundle.names = (struct texts){ names, n + 1 };
    kernel_bundle.bundle.contents = (struct blobs){ contents, n + 1 };
}

static void add_header(const char *name)
{
    char *path = mem_printf(FA_HEADERS "/%s", name);
    char *as = mem_printf("fa/%s", name);
    FILE *file = fopen(path, "r");
    struct buf text;
    char bytes[4096];
    size_t n;

    assert_non_null(file);
    buf_init(&text, MSG_BYTES_MAX);
    while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0)
        buf_add(&text, bytes, n);
    fclose(file);
    add_file(as, buf_text(&text), text.len);
    buf_fini(&text);
    free(as);
    free(path);
}

int kernel_set_up(void **state)
{
    DIR *folder = opendir(FA_HEADERS);
    struct dirent *entry;
    struct err err;

    (void)state;
    assert_int_equal(hash_setup(&err), 0);
    assert_non_null(folder);
    add_file("add.cu", ADD, strlen(ADD));
    add_file("huge.cu", ADD_FAR, strlen(ADD_FAR));
    add_file("ref.cu", REFERENCE, strlen(REFERENCE));
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            add_header(entry->d_name);
    closedir(folder);
    sources_hash(&kernel_bundle.bundle.names, &kernel_bundle.bundle.contents,
                 bundle_name);
    kernel_bundle.bundle.hash = bundle_name;
    return 0;
}

int kernel_tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < kernel_bundle.bundle.names.n; i++) {
        free((char *)names[i]);
        free((void *)contents[i].data);
    }
    return 0;
}

void kernel_build(struct coord *coord, int64_t lease, const char *source,
                  const char *entry)
{
    kernel_build_with(coord, lease, source, entry, "#define VALUE 1.0f\n");
}

void kernel_build_with(struct coord *coord, int64_t lease, const char *source,
                       const char *entry, const char *header)
{
    static char key[HASH_HEX];
    struct msg msg = { .type = MSG_BUILD,
                       .build = { .work = { .lease = lease,
                                            .id = { "test", source, "",
                                                    "kernel", "build", 0, 1 },
                                            .key = key },
                                  .bundle = bundle_name,
                                  .source = source,
                                  .header = header,
                                  .entry = entry,
                                  .standard = "c++17",
                                  .arch = "cpu",
                                  .limit_ms = 60000 } };

    hash_of(source, strlen(source), key);
    coord_send(coord, &msg);
}
