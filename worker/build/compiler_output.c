#include "worker/build/compiler_output.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "worker/build/compiler.h"

static bool has(const char *line, size_t len, const char *word)
{
    return memmem(line, len, word, strlen(word)) != NULL;
}

/* The formats of errors of gcc, clang, as, cudafe++, ptxas, nvcc and ld. */
static bool is_error(const char *line, size_t len)
{
    static const char *const signs[] = {
        " error:",     " error :",
        "error   :",   "fatal error",
        "ptxas fatal", "nvcc fatal",
        "nvcc error",  "undefined reference",
        "cannot find", ": No such file or directory",
        ": Error: ",
    };

    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (has(line, len, signs[i]))
            return true;
    return false;
}

static bool is_ours(const char *line, size_t len)
{
    return has(line, len, "included from <command-line>") ||
           has(line, len, "included from ../gen/");
}

static size_t line_len(const char *at)
{
    const char *newline = strchr(at, '\n');

    return newline ? (size_t)(newline - at) + 1 : strlen(at);
}

/* How gcc names a file that it found through -I. */
static size_t dot_len(const char *line)
{
    return strncmp(line, "./", 2) == 0 ? 2 : 0;
}

static const char *first_error(const char *output)
{
    for (const char *at = output; *at; at += line_len(at))
        if (is_error(at, line_len(at)))
            return at + dot_len(at);
    return NULL;
}

static void add_lines(struct buf *out, const char *from, const char *to)
{
    for (size_t len; from < to && *from; from += len) {
        from += dot_len(from);
        len = line_len(from);
        if (!is_ours(from, len))
            buf_add(out, from, len);
    }
}

void compiler_output_text(const char *output, struct buf *out,
                          struct buf *first)
{
    const char *error = first_error(output);

    if (!error) {
        add_lines(out, output, output + strlen(output));
        return;
    }
    buf_add(first, error, strcspn(error, "\n"));
    add_lines(out, error, error + strlen(error));
    add_lines(out, output, error);
}

/* The text of line 'n', from 1 on, or NULL. */
static const char *line_of(const char *text, unsigned n)
{
    for (; n > 1 && *text; n--)
        text += line_len(text);
    return n == 1 && *text ? text : NULL;
}

bool compiler_output_collides(const char *first, const char *header,
                              struct buf *out)
{
    static const char place[] = "../gen/" COMPILER_PARAMS;
    const size_t len = strlen(place);
    const char *line = NULL;
    char name[65];
    unsigned n;

    if (strncmp(first, place, len) == 0 &&
        sscanf(first + len, "%*1[:(]%u", &n) == 1)
        line = line_of(header, n);
    if (!line || sscanf(line, "#define %64[A-Za-z0-9_]", name) != 1)
        return false;
    buf_printf(out,
               "the name '%s' means something else in the source or a header: "
               "rename the tunable (%s)",
               name, first);
    return true;
}

/* of as, gcc and clang */
static bool is_assembly(const char *error)
{
    static const char *const words[] = {
        ": Error: ",
        "output constraint",
        "input constraint",
        "impossible constraint",
        "operand constraint",
        "invalid instruction mnemonic",
        "invalid register name",
        "unknown directive",
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(error, words[i]))
            return true;
    return false;
}

/* A launch (<<<), or a name such as cudaMalloc. */
static bool is_host_code(const char *error)
{
    const char *name = strstr(error, "'cuda");

    return strstr(error, "before '<' token") ||
           (name && isupper((unsigned char)name[strlen("'cuda")]));
}

bool compiler_output_needs_nvcc(const char *first, struct buf *out)
{
    const char *why = NULL;

    if (is_assembly(first))
        why = "inline PTX does not compile for the cpu device: use the "
              "functions of <fa/fa.h> in its place";
    else if (is_host_code(first))
        why = "host code does not compile for the cpu device: put it between "
              "#ifdef __CUDACC__ and #endif";
    if (why)
        buf_printf(out, "%s (%s)", why, first);
    return why != NULL;
}

bool compiler_output_was_killed(const char *output)
{
    static const char *const words[] = {
        "died due to signal 9",
        "died due to signal 15",
        "Killed signal terminated program",
        "Terminated signal terminated program",
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(output, words[i]))
            return true;
    return false;
}
