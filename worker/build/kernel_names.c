#include "worker/build/kernel_names.h"

#include <ctype.h>
#include <elf.h>
#include <string.h>

enum {
    CUDA_ENTRY = 0x10, /* st_other: STO_CUDA_ENTRY */
};

struct file {
    const unsigned char *bytes;
    size_t len;
};

/* Copy 'size' bytes at 'offset' to 'out', if the file has them. */
static bool get(const struct file *file, uint64_t offset, void *out,
                size_t size)
{
    if (offset > file->len || size > file->len - offset)
        return false;
    memcpy(out, file->bytes + offset, size);
    return true;
}

static void add_name(struct buf *names, const char *name, size_t len)
{
    if (names->len > 0)
        buf_add(names, ", ", 2);
    buf_add(names, name, len);
}

/* The name of a symbol; NULL if it does not end inside its table. */
static const char *name_of(const struct file *file, const Elf64_Shdr *strings,
                           uint32_t at)
{
    const char *name;

    if (strings->sh_offset > file->len ||
        strings->sh_size > file->len - strings->sh_offset ||
        at >= strings->sh_size)
        return NULL;
    name = (const char *)file->bytes + strings->sh_offset + at;
    if (!memchr(name, '\0', strings->sh_size - at))
        return NULL;
    return name;
}

static bool scan(const struct file *file, const Elf64_Shdr *symbols,
                 const Elf64_Shdr *strings, const char *entry,
                 struct buf *names)
{
    bool found = false;
    Elf64_Sym symbol;

    for (uint64_t at = 0; at + sizeof(symbol) <= symbols->sh_size;
         at += sizeof(symbol)) {
        const char *name;

        if (!get(file, symbols->sh_offset + at, &symbol, sizeof(symbol)))
            break;
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
            !(symbol.st_other & CUDA_ENTRY) ||
            !(name = name_of(file, strings, symbol.st_name)))
            continue;
        add_name(names, name, strlen(name));
        found |= strcmp(name, entry) == 0;
    }
    return found;
}

bool kernel_names_of_cubin(const void *bytes, size_t len, const char *entry,
                           struct buf *names)
{
    struct file file = { bytes, len };
    Elf64_Shdr symbols, strings;
    Elf64_Ehdr header;

    if (!get(&file, 0, &header, sizeof(header)) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        if (!get(&file, header.e_shoff + i * sizeof(symbols), &symbols,
                 sizeof(symbols)))
            return false;
        if (symbols.sh_type == SHT_SYMTAB &&
            get(&file, header.e_shoff + symbols.sh_link * sizeof(strings),
                &strings, sizeof(strings)))
            return scan(&file, &symbols, &strings, entry, names);
    }
    return false;
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
