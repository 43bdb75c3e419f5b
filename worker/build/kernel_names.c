#include "worker/build/kernel_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/elf_file.h"

enum {
    CUDA_ENTRY = 0x10, /* st_other: STO_CUDA_ENTRY */
    NAMES_MAX = 512,
};

static void add_name(struct buf *names, const char *name, size_t len)
{
    if (names->len > 0)
        buf_add(names, ", ", 2);
    buf_add(names, name, len);
}

/* The last identifier of a mangled name: _Z3add..., _ZN2ns3addE..., and _ZL3add
 * for internal linkage. */
static bool is_mangled(const char *symbol, const char *entry)
{
    size_t len = strlen(entry);
    bool is_entry = false;

    if (strncmp(symbol, "_Z", 2) != 0)
        return false;
    symbol += 2;
    symbol += strspn(symbol, "NL");
    while (isdigit((unsigned char)*symbol)) {
        char *name;
        unsigned long n = strtoul(symbol, &name, 10);

        if (n > strlen(name))
            return false;
        is_entry = n == len && strncmp(name, entry, len) == 0;
        symbol = name + n;
    }
    return is_entry;
}

static bool is_kernel(const Elf64_Sym *symbol, enum kernel_names_file kind)
{
    return kind == KERNEL_NAMES_CUBIN
               ? symbol->st_other & CUDA_ENTRY
               : ELF64_ST_BIND(symbol->st_info) == STB_LOCAL;
}

static void add_function(struct kernel_names *to, const char *name,
                         const char *entry, bool kernel)
{
    bool same = strcmp(name, entry) == 0;

    if (!kernel) {
        to->plain |= same;
        return;
    }
    add_name(&to->all, name, strlen(name));
    to->found |= same;
    if (is_mangled(name, entry))
        add_name(&to->mangled, name, strlen(name));
}

void kernel_names_find(const void *bytes, size_t len,
                       enum kernel_names_file kind, const char *entry,
                       struct kernel_names *out)
{
    struct elf_file file;
    Elf64_Shdr symbols;
    Elf64_Sym symbol;
    const char *name;

    out->found = out->plain = false;
    if (!elf_file_open(bytes, len, &file) ||
        !elf_file_typed(&file, SHT_SYMTAB, &symbols))
        return;
    for (uint64_t i = 0; elf_file_symbol(&file, &symbols, i, &symbol, &name);
         i++)
        if (name && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
            add_function(out, name, entry, is_kernel(&symbol, kind));
}

void kernel_names_init(struct kernel_names *names)
{
    *names = (struct kernel_names){ .found = false };
    buf_init(&names->all, NAMES_MAX);
    buf_init(&names->mangled, NAMES_MAX);
}

void kernel_names_fini(struct kernel_names *names)
{
    buf_fini(&names->all);
    buf_fini(&names->mangled);
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The word before the first '(' at 'text' that does not belong to an
 * attribute. */
void kernel_names_of_source(const char *text, size_t len, struct buf *names)
{
    static const char mark[] = "__global__";
    const char *end = text + len;

    while ((text = memmem(text, (size_t)(end - text), mark, strlen(mark)))) {
        const char *word = text += strlen(mark), *word_end = word;

        for (; text < end && *text != '{' && *text != ';'; text++) {
            if (*text == '(' && word_end > word &&
                strncmp(word, "__", 2) != 0) {
                add_name(names, word, (size_t)(word_end - word));
                break;
            }
            if (is_letter(*text)) {
                if (!is_letter(text[-1]))
                    word = text;
                word_end = text + 1;
            }
        }
    }
}
