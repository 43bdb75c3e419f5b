/* elf_file.h - a 64-bit ELF file in memory: its sections and its symbols
 *
 * Nothing in the file is trusted: what lies outside it, or has a name that does
 * not end, is not there.  Pure; the bytes outlive the struct.
 */
#ifndef FA_COMMON_ELF_FILE_H
#define FA_COMMON_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file {
    const unsigned char *bytes;
    size_t len;
    Elf64_Ehdr header;
};

/* False: not a little-endian 64-bit ELF file. */
bool elf_file_open(const void *bytes, size_t len, struct elf_file *out);

/* Copy 'size' bytes at 'offset' to 'out', if the file has them. */
bool elf_file_get(const struct elf_file *file, uint64_t offset, void *out,
                  size_t size);
bool elf_file_section(const struct elf_file *file, unsigned i, Elf64_Shdr *out);
/* The first section of this name, or of this type. */
bool elf_file_named(const struct elf_file *file, const char *name,
                    Elf64_Shdr *out);
bool elf_file_typed(const struct elf_file *file, uint32_t type,
                    Elf64_Shdr *out);
/* The bytes of a section; NULL if the file does not have all of them. */
const unsigned char *elf_file_bytes(const struct elf_file *file,
                                    const Elf64_Shdr *section);

/* Symbol 'i' of a table, and its name, which may be NULL.  False after the
 * last. */
bool elf_file_symbol(const struct elf_file *file, const Elf64_Shdr *table,
                     uint64_t i, Elf64_Sym *out, const char **name);

#endif
