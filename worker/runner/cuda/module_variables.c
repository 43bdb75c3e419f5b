#include "worker/runner/cuda/module_variables.h"

#include <string.h>

#include "common/elf_file.h"

/* An instruction has 16 bytes, whose first 12 bits say what it does: seen in
 * code for sm_75, sm_80, sm_90, sm_100 and sm_120. */
enum {
    INSTRUCTION_BYTES = 16,
    INSTRUCTION_KIND = 0xfff,
    LOAD_LOCAL = 0x983,  /* LDL */
    LOAD_GENERIC = 0x980 /* LD */
};

/* The section's number; 0, which is no section of a file, if it has none. */
static unsigned section_named(const struct elf_file *file, const char *name)
{
    Elf64_Shdr wanted, section;

    if (!elf_file_named(file, name, &wanted))
        return 0;
    for (unsigned i = 0; elf_file_section(file, i, &section); i++)
        if (section.sh_name == wanted.sh_name)
            return section.sh_size > 0 ? i : 0;
    return 0;
}

bool module_variables_of(const void *image, size_t len,
                         struct module_variables *out)
{
    struct elf_file file;
    Elf64_Shdr symbols;
    Elf64_Sym symbol;
    const char *name;
    unsigned zeros, set, constants;

    out->n = 0;
    if (!elf_file_open(image, len, &file))
        return false;
    zeros = section_named(&file, ".nv.global");
    set = section_named(&file, ".nv.global.init");
    constants = section_named(&file, ".nv.constant3");
    if (zeros == 0 && set == 0 && constants == 0)
        return true;
    if (!elf_file_typed(&file, SHT_SYMTAB, &symbols))
        return false;
    for (uint64_t i = 0; elf_file_symbol(&file, &symbols, i, &symbol, &name);
         i++) {
        if (symbol.st_shndx == SHN_UNDEF ||
            (symbol.st_shndx != zeros && symbol.st_shndx != set &&
             symbol.st_shndx != constants) ||
            ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT)
            continue;
        if (!name || out->n == MODULE_VARIABLES_MAX)
            return false;
        out->names[out->n++] = name;
    }
    return out->n > 0;
}

/* Of what the driver has for kernels, these give them no memory. */
static bool is_harmless(const char *name)
{
    static const char *const harmless[] = { "vprintf", "__assertfail", "free" };

    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
        if (strcmp(name, harmless[i]) == 0)
            return true;
    return false;
}

bool module_allocates(const void *image, size_t len)
{
    struct elf_file file;
    Elf64_Shdr symbols;
    Elf64_Sym symbol;
    const char *name;

    if (!elf_file_open(image, len, &file) ||
        !elf_file_typed(&file, SHT_SYMTAB, &symbols))
        return true;
    for (uint64_t i = 0; elf_file_symbol(&file, &symbols, i, &symbol, &name);
         i++)
        if (symbol.st_shndx == SHN_UNDEF &&
            ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
            (!name || !is_harmless(name)))
            return true;
    return false;
}

static bool loads_local(const unsigned char *code, uint64_t len)
{
    for (uint64_t i = 0; i + INSTRUCTION_BYTES <= len; i += INSTRUCTION_BYTES) {
        const unsigned kind =
            (code[i] | (unsigned)code[i + 1] << 8) & INSTRUCTION_KIND;

        if (kind == LOAD_LOCAL || kind == LOAD_GENERIC)
            return true;
    }
    return false;
}

bool module_reads_local(const void *image, size_t len)
{
    struct elf_file file;
    Elf64_Shdr section;

    if (!elf_file_open(image, len, &file))
        return true;
    for (unsigned i = 0; elf_file_section(&file, i, &section); i++) {
        const unsigned char *code = section.sh_flags & SHF_EXECINSTR
                                        ? elf_file_bytes(&file, &section)
                                        : NULL;

        if (section.sh_flags & SHF_EXECINSTR &&
            (!code || loads_local(code, section.sh_size)))
            return true;
    }
    return false;
}
