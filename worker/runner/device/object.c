#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* dlinfo(), memfd_create() */
#endif
#include "worker/runner/device/object.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DYNAMIC "fa_emu_dynamic" /* of kernels/include/fa/emulator.h */

/* A table of the file; NULL if it is not all in it. */
static void *table(unsigned char *bytes, size_t len, uint64_t at, uint64_t size)
{
    return at <= len && size <= len - at ? bytes + at : NULL;
}

static const ElfW(Shdr) *
    sections_of(unsigned char *bytes, size_t len, size_t *n)
{
    const ElfW(Ehdr) *head = table(bytes, len, 0, sizeof(*head));

    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_shentsize != sizeof(ElfW(Shdr)))
        return NULL;
    *n = head->e_shnum;
    return table(bytes, len, head->e_shoff, *n * sizeof(ElfW(Shdr)));
}

/* The dynamic symbols, and the text of their names. */
struct symbols {
    ElfW(Sym) * items;
    size_t n;
    const char *names;
    size_t names_len; /* the last byte is 0 */
};

static bool find_symbols(unsigned char *bytes, size_t len, struct symbols *out)
{
    size_t n = 0, i = 0;
    const ElfW(Shdr) *all = sections_of(bytes, len, &n), *strings;

    while (all && i < n && all[i].sh_type != SHT_DYNSYM)
        i++;
    if (!all || i == n || all[i].sh_link >= n)
        return false;
    strings = &all[all[i].sh_link];
    out->n = all[i].sh_size / sizeof(*out->items);
    out->items = table(bytes, len, all[i].sh_offset, all[i].sh_size);
    out->names_len = strings->sh_size;
    out->names = table(bytes, len, strings->sh_offset, strings->sh_size);
    return out->items && out->names && out->names_len > 0 &&
           out->names[out->names_len - 1] == '\0';
}

static bool is_undefined_variable(const ElfW(Sym) * symbol)
{
    return symbol->st_shndx == SHN_UNDEF &&
           ELF64_ST_TYPE(symbol->st_info) == STT_TLS;
}

bool object_bind(void *bytes, size_t len)
{
    struct symbols symbols;
    uint32_t name = 0;
    bool bound = false;

    if (!find_symbols(bytes, len, &symbols))
        return false;
    for (size_t i = 0; i < symbols.n; i++)
        if (symbols.items[i].st_name < symbols.names_len &&
            strcmp(symbols.names + symbols.items[i].st_name, DYNAMIC) == 0)
            name = symbols.items[i].st_name;
    for (size_t i = 0; name != 0 && i < symbols.n; i++)
        if (is_undefined_variable(&symbols.items[i]) &&
            symbols.items[i].st_name != name) {
            symbols.items[i].st_name = name;
            bound = true;
        }
    return bound;
}

static bool copy_to(int fd, const char *bytes, size_t len)
{
    int copy = memfd_create("kernel", 0);
    bool done = copy >= 0;
    size_t at = 0;

    while (done && at < len) {
        ssize_t n = write(copy, bytes + at, len - at);

        done = n > 0 || (n < 0 && errno == EINTR);
        at += n > 0 ? (size_t)n : 0;
    }
    done = done && dup2(copy, fd) == fd;
    if (copy >= 0)
        close(copy);
    return done;
}

bool object_bind_file(int fd, bool *out)
{
    struct stat st;
    char *bytes;
    size_t len = 0;
    ssize_t n = 1;
    bool done;

    if (fstat(fd, &st) < 0)
        return false;
    bytes = malloc((size_t)st.st_size + 1);
    if (!bytes)
        return false;
    while (n > 0 && len < (size_t)st.st_size) {
        n = pread(fd, bytes + len, (size_t)st.st_size - len, (off_t)len);
        len += n > 0 ? (size_t)n : 0;
    }
    *out = n >= 0 && object_bind(bytes, len);
    done = n >= 0 && (!*out || copy_to(fd, bytes, len));
    free(bytes);
    return done;
}

static int take_size(struct dl_phdr_info *info, size_t size, void *context)
{
    struct emulator_shared *out = context;

    (void)size;
    if (!info->dlpi_tls_data || info->dlpi_tls_data != out->statics)
        return 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            out->static_bytes = info->dlpi_phdr[i].p_memsz;
    return 1;
}

/* As compiled code asks for a variable; it makes the memory at the first call.
 */
extern void *__tls_get_addr(size_t module_and_offset[2]);

void object_statics(void *handle, struct emulator_shared *out)
{
    size_t first[2] = { 0, 0 };

    out->statics = NULL;
    out->static_bytes = 0;
    if (dlinfo(handle, RTLD_DI_TLS_MODID, &first[0]) < 0 || first[0] == 0)
        return;
    __tls_get_addr(first);
    if (dlinfo(handle, RTLD_DI_TLS_DATA, &out->statics) == 0 && out->statics)
        dl_iterate_phdr(take_size, out);
}
