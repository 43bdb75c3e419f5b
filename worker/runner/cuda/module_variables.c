#include "worker/runner/cuda/module_variables.h"

#include "common/elf_file.h"

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
    unsigned zeros, set;

    out->n = 0;
    if (!elf_file_open(image, len, &file))
        return false;
    zeros = section_named(&file, ".nv.global");
    set = section_named(&file, ".nv.global.init");
    if (zeros == 0 && set == 0)
        return true;
    if (!elf_file_typed(&file, SHT_SYMTAB, &symbols))
        return false;
    for (uint64_t i = 0; elf_file_symbol(&file, &symbols, i, &symbol, &name);
         i++) {
        if (symbol.st_shndx == SHN_UNDEF ||
            (symbol.st_shndx != zeros && symbol.st_shndx != set) ||
            ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT)
            continue;
        if (!name || out->n == MODULE_VARIABLES_MAX)
            return false;
        out->names[out->n++] = name;
    }
    return out->n > 0;
}
