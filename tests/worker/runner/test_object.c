#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "worker/runner/device/object.h"

#define NAMES "\0fa_emu_dynamic\0s\0printf\0own"

enum {
    N_SYMBOLS = 5,
    DYNAMIC = 1, /* offsets in NAMES */
    S = 16,
    PRINTF = 18,
    OWN = 25
};

/* As much of a shared object as the linker's view of it needs. */
static struct file {
    ElfW(Ehdr) head;
    ElfW(Shdr) sections[3];
    ElfW(Sym) symbols[N_SYMBOLS];
    char names[sizeof(NAMES)];
} file;

static ElfW(Sym) symbol(uint32_t name, unsigned type, uint16_t section)
{
    return (ElfW(Sym)){ .st_name = name,
                        .st_info =
                            (unsigned char)ELF64_ST_INFO(STB_GLOBAL, type),
                        .st_shndx = section };
}

static int set_up(void **state)
{
    (void)state;
    memset(&file, 0, sizeof(file));
    memcpy(file.head.e_ident, ELFMAG, SELFMAG);
    file.head.e_shoff = offsetof(struct file, sections);
    file.head.e_shentsize = sizeof(ElfW(Shdr));
    file.head.e_shnum = 3;
    file.sections[1] =
        (ElfW(Shdr)){ .sh_type = SHT_DYNSYM,
                      .sh_offset = offsetof(struct file, symbols),
                      .sh_size = sizeof(file.symbols),
                      .sh_link = 2 };
    file.sections[2] = (ElfW(Shdr)){ .sh_type = SHT_STRTAB,
                                     .sh_offset = offsetof(struct file, names),
                                     .sh_size = sizeof(NAMES) };
    memcpy(file.names, NAMES, sizeof(NAMES));
    file.symbols[1] = symbol(S, STT_TLS, SHN_UNDEF);
    file.symbols[2] = symbol(DYNAMIC, STT_TLS, SHN_UNDEF);
    file.symbols[3] = symbol(PRINTF, STT_FUNC, SHN_UNDEF);
    file.symbols[4] = symbol(OWN, STT_TLS, 7);
    return 0;
}

static void undefined_variables_become_dynamic_shared_memory(void **state)
{
    (void)state;
    assert_true(object_bind(&file, sizeof(file)));
    assert_int_equal(file.symbols[1].st_name, DYNAMIC);
    assert_int_equal(file.symbols[2].st_name, DYNAMIC);
    assert_int_equal(file.symbols[3].st_name, PRINTF);
    assert_int_equal(file.symbols[4].st_name, OWN);
    assert_false(object_bind(&file, sizeof(file))); /* nothing is left */
}

static void object_without_such_a_variable_is_left_alone(void **state)
{
    (void)state;
    file.symbols[1].st_shndx = 7;
    assert_false(object_bind(&file, sizeof(file)));
    assert_int_equal(file.symbols[1].st_name, S);
}

static void file_that_is_cut_off_or_wrong_is_left_alone(void **state)
{
    struct file whole = file;

    (void)state;
    for (size_t len = 0; len < sizeof(file) - sizeof(NAMES); len++)
        assert_false(object_bind(&file, len));
    file.sections[1].sh_link = 3;
    assert_false(object_bind(&file, sizeof(file)));
    file = whole;
    file.sections[1].sh_size = UINT64_MAX - 8;
    assert_false(object_bind(&file, sizeof(file)));
    file = whole;
    file.head.e_shoff = UINT64_MAX - 8;
    assert_false(object_bind(&file, sizeof(file)));
    file = whole;
    file.symbols[2].st_name = 1000000;
    assert_false(object_bind(&file, sizeof(file)));
    file = whole;
    file.head.e_ident[0] = 'x';
    assert_false(object_bind(&file, sizeof(file)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(undefined_variables_become_dynamic_shared_memory,
                               set_up),
        cmocka_unit_test_setup(object_without_such_a_variable_is_left_alone,
                               set_up),
        cmocka_unit_test_setup(file_that_is_cut_off_or_wrong_is_left_alone,
                               set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
