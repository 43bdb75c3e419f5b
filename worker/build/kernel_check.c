#include "worker/build/kernel_check.h"

void kernel_check_say_missing(const char *entry, const char *source,
                              const char *names, struct buf *why)
{
    buf_printf(why, "entry '%s' is not in %s, which has %s", entry, source,
               *names ? names : "none");
}

/* A host compiler may have left a function out that a GPU could launch, but
 * what has C++ linkage here has it there too. */
static bool check_entry(const struct kernel_check *want, const void *bytes,
                        size_t len, struct buf *why)
{
    struct kernel_names names;
    bool fine;

    kernel_names_init(&names);
    kernel_names_find(bytes, len, want->kind, want->entry, &names);
    fine = names.found || (want->kind == KERNEL_NAMES_EMULATED &&
                           names.mangled.len == 0 && !names.plain);
    if (!fine && names.plain)
        buf_printf(why,
                   "entry '%s' of %s is a function, but no kernel: write "
                   "__global__ in front of it",
                   want->entry, want->source);
    else if (!fine && names.mangled.len > 0)
        buf_printf(why,
                   "entry '%s' of %s has C++ linkage (%s): write extern \"C\" "
                   "in front of __global__",
                   want->entry, want->source, buf_text(&names.mangled));
    else if (!fine)
        kernel_check_say_missing(want->entry, want->source,
                                 buf_text(&names.all), why);
    kernel_names_fini(&names);
    return fine;
}

enum kernel_check_answer kernel_check(const struct kernel_check *want,
                                      const void *bytes, size_t len,
                                      struct buf *why)
{
    struct signature signature;
    bool read;

    if (!check_entry(want, bytes, len, why))
        return KERNEL_CHECK_WRONG;
    if (want->arguments->n == 0)
        return KERNEL_CHECK_FITS;
    read = want->kind == KERNEL_NAMES_CUBIN
               ? signature_of_cubin(bytes, len, want->entry, &signature)
               : signature_of_emulated(bytes, len, &signature);
    if (!read) {
        buf_printf(why,
                   "the parameters of kernel '%s' cannot be read, so they were "
                   "not compared with the sweep file's arguments",
                   want->entry);
        return KERNEL_CHECK_UNKNOWN;
    }
    return signature_fits(&signature, want->arguments, want->entry, why)
               ? KERNEL_CHECK_FITS
               : KERNEL_CHECK_WRONG;
}
