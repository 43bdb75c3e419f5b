#include "worker/build/signature.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/elf_file.h"

/* What a record of .nv.info begins with: format, attribute, and two bytes that
 * are its value, or the length of what follows. */
enum {
    RECORD_HEAD = 4,
    FORMAT_NONE = 1,
    FORMAT_SIZED = 4, /* the last one; all others are the head alone */
};

/* EIATTR_KPARAM_INFO: index (4 bytes), ordinal (2), offset (2), and a word
 * whose upper 14 bits are the size.  Kernels with larger parameters have
 * EIATTR_KPARAM_INFO_V2, where the lower 16 bits of that word are the size. */
enum {
    PARAMETER = 0x17,
    LARGE_PARAMETER = 0x45,
    PARAMETER_BYTES = 12,
    PARAMETER_ORDINAL = 4,
    PARAMETER_WORD = 8,
    PARAMETER_SIZE_SHIFT = 18,
};

/* What FA_EMULATION_ENTRY exports: their number, then the size of each. */
#define EMULATED_TABLE "fa_entry_parameters"

static uint16_t read_u16(const unsigned char *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static uint32_t read_u32(const unsigned char *at)
{
    return read_u16(at) | (uint32_t)read_u16(at + 2) << 16;
}

static bool add_parameter(struct signature *to, const unsigned char *record,
                          size_t len, bool large)
{
    uint16_t ordinal;
    uint32_t size;

    if (len != PARAMETER_BYTES)
        return false;
    ordinal = read_u16(record + PARAMETER_ORDINAL);
    size = large ? read_u16(record + PARAMETER_WORD)
                 : read_u32(record + PARAMETER_WORD) >> PARAMETER_SIZE_SHIFT;
    if (ordinal >= SIGNATURE_MAX || size == 0 || to->bytes[ordinal] != 0)
        return false;
    to->bytes[ordinal] = size;
    to->n++;
    return true;
}

static bool read_records(const unsigned char *at, size_t len,
                         struct signature *out)
{
    while (len >= RECORD_HEAD) {
        size_t more = at[0] == FORMAT_SIZED ? read_u16(at + 2) : 0;

        if (at[0] < FORMAT_NONE || at[0] > FORMAT_SIZED ||
            more > len - RECORD_HEAD)
            return false;
        if (at[0] == FORMAT_SIZED &&
            (at[1] == PARAMETER || at[1] == LARGE_PARAMETER) &&
            !add_parameter(out, at + RECORD_HEAD, more,
                           at[1] == LARGE_PARAMETER))
            return false;
        at += RECORD_HEAD + more;
        len -= RECORD_HEAD + more;
    }
    return len == 0;
}

/* They are listed in any order, and each has a size. */
static bool is_whole(const struct signature *signature)
{
    for (size_t i = 0; i < signature->n; i++)
        if (signature->bytes[i] == 0)
            return false;
    return true;
}

bool signature_of_cubin(const void *bytes, size_t len, const char *entry,
                        struct signature *out)
{
    char *name = mem_printf(".nv.info.%s", entry);
    const unsigned char *records = NULL;
    struct elf_file file;
    Elf64_Shdr section;

    memset(out, 0, sizeof(*out));
    if (elf_file_open(bytes, len, &file) &&
        elf_file_named(&file, name, &section))
        records = elf_file_bytes(&file, &section);
    free(name);
    return records && read_records(records, section.sh_size, out) &&
           is_whole(out);
}

static bool read_table(const struct elf_file *file, const Elf64_Sym *table,
                       struct signature *out)
{
    Elf64_Shdr section;
    uint64_t at;
    uint32_t n;

    if (!elf_file_section(file, table->st_shndx, &section) ||
        section.sh_type == SHT_NOBITS || table->st_value < section.sh_addr)
        return false;
    at = section.sh_offset + (table->st_value - section.sh_addr);
    if (!elf_file_get(file, at, &n, sizeof(n)) || n > SIGNATURE_MAX ||
        !elf_file_get(file, at + sizeof(n), out->bytes, n * sizeof(n)))
        return false;
    out->n = n;
    return is_whole(out);
}

bool signature_of_emulated(const void *bytes, size_t len, struct signature *out)
{
    struct elf_file file;
    Elf64_Shdr symbols;
    const char *name;
    Elf64_Sym symbol;

    memset(out, 0, sizeof(*out));
    if (!elf_file_open(bytes, len, &file) ||
        !elf_file_typed(&file, SHT_DYNSYM, &symbols))
        return false;
    for (uint64_t i = 0; elf_file_symbol(&file, &symbols, i, &symbol, &name);
         i++)
        if (name && strcmp(name, EMULATED_TABLE) == 0)
            return read_table(&file, &symbol, out);
    return false;
}

static bool read_argument(const char *text, struct signature_argument *out)
{
    const char *blank = strchr(text, ' ');
    unsigned long bytes;
    char *end;

    if (!blank || blank == text || blank - text >= (int)sizeof(out->name) ||
        blank[1] < '1' || blank[1] > '9')
        return false;
    bytes = strtoul(blank + 1, &end, 10);
    if (*end != '\0' || bytes > UINT16_MAX)
        return false;
    memcpy(out->name, text, (size_t)(blank - text));
    out->name[blank - text] = '\0';
    out->bytes = (uint32_t)bytes;
    return true;
}

bool signature_read(const struct texts *texts, struct signature_arguments *out)
{
    out->n = 0;
    if (texts->n > MSG_ARGUMENTS_MAX)
        return false;
    for (size_t i = 0; i < texts->n; i++)
        if (!read_argument(texts->items[i], &out->list[out->n++]))
            return false;
    return true;
}

/* The first parameter that does not have the size of its argument. */
static size_t first_difference(const struct signature *kernel,
                               const struct signature_arguments *arguments)
{
    size_t i = 0;

    while (i < kernel->n && i < arguments->n &&
           kernel->bytes[i] == arguments->list[i].bytes)
        i++;
    return i;
}

static void add_bytes(struct buf *to, uint32_t bytes, bool last)
{
    buf_printf(to, last ? "%" PRIu32 " bytes)" : "%" PRIu32 " ", bytes);
}

bool signature_fits(const struct signature *kernel,
                    const struct signature_arguments *arguments,
                    const char *entry, struct buf *why)
{
    size_t at = first_difference(kernel, arguments);

    if (at == kernel->n && at == arguments->n)
        return true;
    buf_printf(why, "kernel '%s' takes ", entry);
    if (kernel->n == 0)
        buf_str(why, "no parameters");
    else
        buf_printf(why, kernel->n == 1 ? "1 parameter (" : "%zu parameters (",
                   kernel->n);
    for (size_t i = 0; i < kernel->n; i++)
        add_bytes(why, kernel->bytes[i], i + 1 == kernel->n);
    buf_printf(why, ", the sweep file gives %zu (", arguments->n);
    for (size_t i = 0; i < arguments->n; i++)
        add_bytes(why, arguments->list[i].bytes, i + 1 == arguments->n);
    buf_str(why, ": ");
    if (at == kernel->n)
        buf_printf(why, "no parameter takes the argument '%s'",
                   arguments->list[at].name);
    else if (at == arguments->n)
        buf_printf(why, "parameter %zu has no argument", at + 1);
    else
        buf_printf(why,
                   "parameter %zu has %" PRIu32
                   " bytes, its argument '%s' has %" PRIu32,
                   at + 1, kernel->bytes[at], arguments->list[at].name,
                   arguments->list[at].bytes);
    return false;
}
