#include "common/elf_file.h"

#include <string.h>

bool elf_file_open(const void *bytes, size_t len, struct elf_file *out)
{
    const Elf64_Ehdr *header = &out->header;

    *out = (struct elf_file){ .bytes = bytes, .len = len };
    return elf_file_get(out, 0, &out->header, sizeof(out->header)) &&
           memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 &&
           header->e_ident[EI_DATA] == ELFDATA2LSB;
}

bool elf_file_get(const struct elf_file *file, uint64_t offset, void *out,
                  size_t size)
{
    if (offset > file->len || size > file->len - offset)
        return false;
    memcpy(out, file->bytes + offset, size);
    return true;
}

bool elf_file_section(const struct elf_file *file, unsigned i, Elf64_Shdr *out)
{
    return i < file->header.e_shnum &&
           elf_file_get(file, file->header.e_shoff + i * sizeof(*out), out,
                        sizeof(*out));
}

const unsigned char *elf_file_bytes(const struct elf_file *file,
                                    const Elf64_Shdr *section)
{
    if (section->sh_type == SHT_NOBITS || section->sh_offset > file->len ||
        section->sh_size > file->len - section->sh_offset)
        return NULL;
    return file->bytes + section->sh_offset;
}

/* NULL if it does not end inside its table. */
static const char *name_at(const struct elf_file *file,
                           const Elf64_Shdr *strings, uint32_t at)
{
    const char *names = (const char *)elf_file_bytes(file, strings);

    if (!names || at >= strings->sh_size ||
        !memchr(names + at, '\0', strings->sh_size - at))
        return NULL;
    return names + at;
}

bool elf_file_named(const struct elf_file *file, const char *name,
                    Elf64_Shdr *out)
{
    Elf64_Shdr strings;

    if (!elf_file_section(file, file->header.e_shstrndx, &strings))
        return false;
    for (unsigned i = 0; elf_file_section(file, i, out); i++) {
        const char *is = name_at(file, &strings, out->sh_name);

        if (is && strcmp(is, name) == 0)
            return true;
    }
    return false;
}

bool elf_file_typed(const struct elf_file *file, uint32_t type, Elf64_Shdr *out)
{
    for (unsigned i = 0; elf_file_section(file, i, out); i++)
        if (out->sh_type == type)
            return true;
    return false;
}

bool elf_file_symbol(const struct elf_file *file, const Elf64_Shdr *table,
                     uint64_t i, Elf64_Sym *out, const char **name)
{
    Elf64_Shdr strings;

    if (i >= table->sh_size / sizeof(*out) ||
        !elf_file_get(file, table->sh_offset + i * sizeof(*out), out,
                      sizeof(*out)))
        return false;
    *name = elf_file_section(file, table->sh_link, &strings)
                ? name_at(file, &strings, out->st_name)
                : NULL;
    return true;
}
