/* The winner as an extension of PyTorch: a Python file that compiles the kernel
 * with torch.utils.cpp_extension and launches it on tensors. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/export/export.h"
#include "coordinator/result/report.h"
#include "coordinator/result/stored_spec.h"

static const struct {
    const char *type, *torch, *c;
} types[] = {
    { "fp16", "at::kHalf", "uint16_t" },
    { "bf16", "at::kBFloat16", "uint16_t" },
    { "fp32", "at::kFloat", "float" },
    { "fp64", "at::kDouble", "double" },
    { "int8", "at::kChar", "int8_t" },
    { "int32", "at::kInt", "int32_t" },
    { "int64", "at::kLong", "int64_t" },
};

static size_t type_of(const struct spec_argument *argument)
{
    size_t i = 0;

    while (i + 1 < sizeof(types) / sizeof(types[0]) &&
           strcmp(types[i].type, argument->type) != 0)
        i++;
    return i;
}

/* A scalar of 16 bits has no type in C; the caller would have to convert. */
static int check(const struct export *export, struct err *err)
{
    const struct spec *spec = export->stored->spec;

    for (size_t i = 0; i < spec->n_arguments; i++)
        if (!spec->arguments[i].buffer &&
            strcmp(types[type_of(&spec->arguments[i])].c, "uint16_t") == 0)
            return err_set(err, ERR_INPUT,
                           "the scalar '%s' has the type %s, which an "
                           "extension of PyTorch cannot pass",
                           spec->arguments[i].name, spec->arguments[i].type);
    return 0;
}

/* Tensors and scalars in the kernel's order, then the shape variables. */
static void put_parameters(const struct spec *spec, FILE *to)
{
    for (size_t i = 0; i < spec->n_arguments; i++) {
        const struct spec_argument *argument = &spec->arguments[i];

        fprintf(to, "%s%s a_%s", i ? ", " : "",
                argument->buffer                          ? "at::Tensor"
                : types[type_of(argument)].type[0] == 'f' ? "double"
                                                          : "int64_t",
                argument->name);
    }
    for (size_t v = 0; v < spec->shapes.n_vars; v++)
        fprintf(to, ", int64_t v_%s", spec->shapes.vars[v]);
}

static void put_checks(const struct spec *spec, FILE *to)
{
    for (size_t i = 0; i < spec->n_arguments; i++) {
        const struct spec_argument *argument = &spec->arguments[i];

        if (!argument->buffer)
            continue;
        fprintf(to,
                "    TORCH_CHECK(a_%s.is_cuda() && a_%s.is_contiguous() && "
                "a_%s.scalar_type() == %s,\n"
                "                \"%s must be a contiguous CUDA tensor of the "
                "type %s\");\n",
                argument->name, argument->name, argument->name,
                types[type_of(argument)].torch, argument->name, argument->type);
    }
}

static void put_pointers(const struct spec *spec, FILE *to)
{
    for (size_t i = 0; i < spec->n_arguments; i++) {
        const struct spec_argument *argument = &spec->arguments[i];

        if (argument->buffer)
            fprintf(to, "    void *p_%s = a_%s.data_ptr();\n", argument->name,
                    argument->name);
        else
            fprintf(to, "    %s p_%s = (%s)a_%s;\n", types[type_of(argument)].c,
                    argument->name, types[type_of(argument)].c, argument->name);
    }
    fprintf(to, "    void *arguments[] = { ");
    for (size_t i = 0; i < spec->n_arguments; i++)
        fprintf(to, "%s&p_%s", i ? ", " : "", spec->arguments[i].name);
    fprintf(to, " };\n");
}

static void put_size(const struct export *export, const char *what, FILE *to)
{
    const struct spec *spec = export->stored->spec;

    fprintf(to, "%s_LAUNCH_%s(", export->prefix, what);
    for (size_t v = 0; v < spec->shapes.n_vars; v++)
        fprintf(to, "%sv_%s", v ? ", " : "", spec->shapes.vars[v]);
    fprintf(to, ")");
}

static void put_dim(const struct export *export, const char *name,
                    const char *const what[3], FILE *to)
{
    fprintf(to, "    dim3 %s(", name);
    for (int i = 0; i < 3; i++) {
        fprintf(to, "%s(unsigned)", i ? ", " : "");
        put_size(export, what[i], to);
    }
    fprintf(to, ");\n");
}

static void put_glue(const struct export *export, FILE *to)
{
    static const char *const grid[] = { "GRID_X", "GRID_Y", "GRID_Z" };
    static const char *const block[] = { "BLOCK_X", "BLOCK_Y", "BLOCK_Z" };
    const struct spec *spec = export->stored->spec;
    const char *entry = spec->kernel.entry;

    fprintf(to, "#include <torch/extension.h>\n"
                "#include <ATen/cuda/CUDAContext.h>\n"
                "#include <c10/cuda/CUDAGuard.h>\n\n"
                "static void launch(");
    put_parameters(spec, to);
    fprintf(to, ")\n{\n");
    put_checks(spec, to);
    for (size_t i = 0; i < spec->n_arguments; i++)
        if (spec->arguments[i].buffer) {
            fprintf(to,
                    "    const c10::cuda::CUDAGuard guard(a_%s.device());\n",
                    spec->arguments[i].name);
            break;
        }
    put_pointers(spec, to);
    put_dim(export, "grid", grid, to);
    put_dim(export, "block", block, to);
    fprintf(to, "    size_t smem = (size_t)");
    put_size(export, "SMEM", to);
    fprintf(
        to,
        ";\n    if (smem > 48 * 1024)\n"
        "        C10_CUDA_CHECK(cudaFuncSetAttribute((const void *)%s,\n"
        "            cudaFuncAttributeMaxDynamicSharedMemorySize, "
        "(int)smem));\n"
        "    C10_CUDA_CHECK(cudaLaunchKernel((const void *)%s, grid, block, "
        "arguments, smem,\n"
        "        at::cuda::getCurrentCUDAStream()));\n}\n\n"
        "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)\n{\n"
        "    m.def(\"launch\", &launch);\n}\n",
        entry, entry);
}

/* A text in Python: printable ASCII stays, all else is an escape. */
static void put_quoted(const char *text, FILE *to)
{
    fputc('"', to);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(to, "\\%c", *text);
        else if (isprint((unsigned char)*text))
            fputc(*text, to);
        else
            fprintf(to, "\\x%02x", (unsigned char)*text);
    fputc('"', to);
}

/* Line by line, so that the text of a sweep cannot end a literal. */
static void put_literal(const char *name, char *text, FILE *to)
{
    fprintf(to, "%s = \"\\n\".join([\n", name);
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = '\0';
        fputs("    ", to);
        put_quoted(line, to);
        fputs(",\n", to);
    }
    fputs("    \"\",\n])\n\n", to);
}

static int put_text(struct export *export, const char *name,
                    void (*put)(struct export *export, FILE *to), FILE *to,
                    struct err *err)
{
    char *text = NULL;
    size_t len = 0;
    FILE *memory = open_memstream(&text, &len);

    if (!memory)
        return err_set(err, ERR_SYSTEM, "no memory for an export");
    put(export, memory);
    fclose(memory);
    put_literal(name, text, to);
    free(text);
    return 0;
}

static void glue_of(struct export *export, FILE *to)
{
    put_glue(export, to);
}

static void put_python(const struct export *export, FILE *to)
{
    const struct spec *spec = export->stored->spec;

    fputs("SOURCE = ", to);
    put_quoted(spec->kernel.source, to);
    fputs("  # beside this file, or as given to load()\nFLAGS = [", to);
    for (size_t i = 0; i < spec->compile.n_flags; i++) {
        fputs(i ? ", " : "", to);
        put_quoted(spec->compile.flags[i], to);
    }
    fprintf(
        to,
        "]\nSTANDARD = \"%s\"\n\n\n"
        "def load(source=None, include=(), build=None, verbose=False):\n"
        "    \"\"\"Compile the kernel, and return the module; its launch() "
        "takes the arguments below.\n\n"
        "    source   the kernel's file; without it, SOURCE beside this "
        "file\n"
        "    include  folders of headers, such as kernels/include of "
        "fa-coord for <fa/...>\n"
        "    build    the folder to build in; without it, PyTorch's\n"
        "    \"\"\"\n"
        "    from torch.utils import cpp_extension  # only here, so that "
        "the texts above can be read without PyTorch\n\n"
        "    source = os.path.abspath(source or "
        "os.path.join(os.path.dirname(__file__), SOURCE))\n"
        "    folder = build or tempfile.mkdtemp(prefix=\"fa-torch-\")\n"
        "    os.makedirs(folder, exist_ok=True)\n"
        "    glue = os.path.join(folder, NAME + \"_glue.cu\")\n"
        "    with open(os.path.join(folder, NAME + \"_tuned.h\"), \"w\") "
        "as f:\n"
        "        f.write(HEADER)\n"
        "    with open(glue, \"w\") as f:\n"
        "        f.write(\"#define FA_EXPORT_KERNEL\\n#include \\\"\" + "
        "NAME + \"_tuned.h\\\"\\n\")\n"
        "        f.write(\"#include \\\"\" + source + \"\\\"\\n\")\n"
        "        # Plain names of the kernel would change the headers of "
        "PyTorch.\n"
        "        f.write(\"\".join(\"#undef \" + name + \"\\n\" for name in "
        "MACROS))\n"
        "        f.write(GLUE)\n"
        "    return cpp_extension.load(\n"
        "        name=NAME, sources=[glue], build_directory=folder, "
        "verbose=verbose,\n"
        "        extra_include_paths=[os.path.dirname(source), *include],\n"
        "        # PyTorch's headers need C++17.\n"
        "        extra_cuda_cflags=[*FLAGS, \"-std=\" + max(STANDARD, "
        "\"c++17\")])\n",
        spec->compile.standard);
}

static void put_names(const struct export *export, FILE *to)
{
    const struct spec *spec = export->stored->spec;

    fputs("MACROS = [", to);
    for (size_t i = 0; i < export->n_macros; i++) {
        fputs(i ? ", " : "", to);
        put_quoted(export->macros[i].name, to);
    }
    fputs("]\n# of launch(), in order: tensors and scalars of the kernel, then "
          "the shape\nARGUMENTS = [",
          to);
    for (size_t i = 0; i < spec->n_arguments; i++) {
        fputs(i ? ", " : "", to);
        put_quoted(spec->arguments[i].name, to);
    }
    for (size_t v = 0; v < spec->shapes.n_vars; v++) {
        fputs(", ", to);
        put_quoted(spec->shapes.vars[v], to);
    }
    fputs("]\n", to);
}

int export_torch(struct export *export, FILE *to, struct err *err)
{
    char *name = mem_strdup(export->prefix);
    int rc = check(export, err);

    for (char *c = name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    if (rc == 0) {
        fprintf(to,
                "\"\"\"A tuned kernel for PyTorch, written by fa-coord "
                "export.\n\n    import %s_torch\n    module = "
                "%s_torch.load()\n    module.launch(*tensors, *shape)  # "
                "ARGUMENTS has the order\n\"\"\"\n"
                "import os\nimport tempfile\n\nNAME = \"%s\"\n",
                name, name, name);
        put_names(export, to);
        rc = put_text(export, "HEADER", export_header, to, err);
    }
    if (rc == 0)
        rc = put_text(export, "GLUE", glue_of, to, err);
    if (rc == 0)
        put_python(export, to);
    free(name);
    return rc;
}
