/* Shapes: problem sizes, given one by one or as products of lists. */
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/source/identifier.h"
#include "coordinator/spec/spec_internal.h"

#define NAME_BYTES_MAX 1024 /* of a product's name, before the check */

/* A shape of the file: a name, and for each variable a number or a list of
 * numbers, in the order of the file. */
struct product {
    const struct json *json;
    const char *name;
    size_t n;
    struct {
        size_t var; /* index in spec.vars */
        const struct json *json;
        size_t turn; /* current index in a list */
    } factors[SPEC_VARS_MAX];
};

/* The variables are those of the first shape. */
static int read_vars(struct reader *r, const struct json *shape)
{
    struct spec *spec = r->spec;

    if (shape->n > SPEC_VARS_MAX + 1)
        return spec_read_flaw(r, shape->at, "at most 32",
                              "this shape has %zu variables", shape->n - 1);
    spec->shapes.vars = mem_new(shape->n + 1, sizeof(*spec->shapes.vars));
    for (size_t i = 0; i < shape->n; i++) {
        const struct json *json = &shape->items[i];
        const char *flaw = identifier_flaw(json->key);

        if (strcmp(json->key, "name") == 0)
            continue;
        if (flaw)
            return spec_read_flaw(r, json->key_at, flaw,
                                  "the variable's name '%.64s' is not allowed",
                                  json->key);
        if (spec_read_new_name(r, json->key, json->key_at) < 0)
            return ERR_INPUT;
        spec->shapes.vars[spec->shapes.n_vars++] = mem_strdup(json->key);
    }
    return 0;
}

static int check_vars(const struct reader *r, const struct json *json)
{
    const char *keys[SPEC_VARS_MAX + 1];
    size_t n = 0;

    keys[n++] = "name";
    for (size_t i = 0; i < r->spec->shapes.n_vars; i++)
        keys[n++] = r->spec->shapes.vars[i];
    return spec_read_object(r, json, "a shape", keys, n);
}

static int check_number(const struct reader *r, const struct json *json,
                        const char *key)
{
    if (json->kind != JSON_NUMBER)
        return spec_read_flaw(
            r, json->at, "see docs/sweep-file.md",
            "'%s' is %s; it must be a number, or a list of them", key,
            json_kind_name(json->kind));
    if (!json->whole)
        return spec_read_flaw(r, json->at,
                              "the variables of a shape must be whole numbers",
                              "'%s' is not a whole number", key);
    return 0;
}

static int check_factor(const struct reader *r, const struct json *json,
                        const char *key)
{
    if (json->kind != JSON_ARRAY)
        return check_number(r, json, key);
    if (json->n == 0)
        return spec_read_flaw(r, json->at, "as in [64, 65]",
                              "the list '%s' is empty", key);
    for (size_t i = 0; i < json->n; i++)
        if (check_number(r, &json->items[i], key) < 0)
            return ERR_INPUT;
    return 0;
}

static size_t find_var(const struct spec *spec, const char *key)
{
    size_t i = 0;

    while (i < spec->shapes.n_vars && strcmp(spec->shapes.vars[i], key) != 0)
        i++;
    return i;
}

static int read_product(const struct reader *r, const struct json *json,
                        struct product *out)
{
    const struct json *name;

    if (check_vars(r, json) < 0 ||
        spec_read_member(r, json, "name", JSON_TEXT, true, &name) < 0)
        return ERR_INPUT;
    *out = (struct product){ .json = json, .name = name->text };
    for (size_t i = 0; i < r->spec->shapes.n_vars; i++)
        if (!json_find(json, r->spec->shapes.vars[i]))
            return spec_read_flaw(r, json->at, "see docs/sweep-file.md",
                                  "the key '%s' is missing",
                                  r->spec->shapes.vars[i]);
    for (size_t i = 0; i < json->n; i++) {
        const struct json *item = &json->items[i];

        if (item == name)
            continue;
        if (check_factor(r, item, item->key) < 0)
            return ERR_INPUT;
        out->factors[out->n].var = find_var(r->spec, item->key);
        out->factors[out->n++].json = item;
    }
    return 0;
}

/* The number of shapes it expands to, cut above SPEC_SHAPES_MAX. */
static size_t count_product(const struct product *product)
{
    size_t count = 1;

    for (size_t i = 0; i < product->n && count <= SPEC_SHAPES_MAX; i++)
        if (product->factors[i].json->kind == JSON_ARRAY)
            count *= product->factors[i].json->n;
    return count <= SPEC_SHAPES_MAX ? count : SPEC_SHAPES_MAX + 1;
}

/* The current shape: "NAME-448-16" after the values of its lists. */
static int take_turn(const struct reader *r, const struct product *product,
                     struct spec_shape *out)
{
    struct buf name;
    const char *flaw;

    buf_init(&name, NAME_BYTES_MAX);
    buf_printf(&name, "%s", product->name);
    out->at = product->json->at;
    out->vars = mem_new(r->spec->shapes.n_vars + 1, sizeof(*out->vars));
    for (size_t i = 0; i < product->n; i++) {
        const struct json *json = product->factors[i].json;
        bool list = json->kind == JSON_ARRAY;

        if (list)
            json = &json->items[product->factors[i].turn];
        out->vars[product->factors[i].var] = (int64_t)json->number;
        if (list)
            buf_printf(&name, "-%.0f", json->number);
    }
    out->name = mem_strdup(buf_text(&name));
    buf_fini(&name);
    flaw = identifier_label_flaw(out->name);
    return flaw ? spec_read_flaw(r, json_find(product->json, "name")->at, flaw,
                                 "the shape's name '%.64s' is not allowed",
                                 out->name)
                : 0;
}

/* The last list varies fastest. */
static void next_turn(struct product *product)
{
    for (size_t i = product->n; i-- > 0;) {
        const struct json *json = product->factors[i].json;

        if (json->kind != JSON_ARRAY)
            continue;
        if (++product->factors[i].turn < json->n)
            return;
        product->factors[i].turn = 0;
    }
}

static int check_shape_name(const struct reader *r,
                            const struct spec_shape *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, list[n].name) == 0)
            return spec_read_flaw(r, list[n].at, "give each shape its own name",
                                  "there are two shapes '%s'", list[n].name);
    return 0;
}

static int add_product(struct reader *r, const struct json *json,
                       struct spec_shape *list, size_t *n)
{
    struct product product;
    size_t count;

    if (read_product(r, json, &product) < 0)
        return ERR_INPUT;
    count = count_product(&product);
    if (*n + count > SPEC_SHAPES_MAX)
        return spec_read_flaw(r, json->at,
                              "every combination of the lists is a shape; use "
                              "fewer values or fewer lists",
                              "'%.64s' makes more than 256 shapes",
                              product.name);
    for (; count > 0; count--, next_turn(&product)) {
        ++*n;
        if (take_turn(r, &product, &list[*n - 1]) < 0 ||
            check_shape_name(r, list, *n - 1) < 0)
            return ERR_INPUT;
    }
    return 0;
}

/* Read the list 'key' if it is there; '*n' counts what spec_free() must
 * free. */
static int read_list(struct reader *r, const struct json *root, const char *key,
                     struct spec_shape **out, size_t *n)
{
    const struct json *list;

    if (spec_read_member(r, root, key, JSON_ARRAY, false, &list) < 0)
        return ERR_INPUT;
    if (!list)
        return 0;
    if (list->n < 1)
        return spec_read_flaw(r, list->at, "from 1 to 256",
                              "there are 0 shapes");
    *out = mem_new(SPEC_SHAPES_MAX, sizeof(**out));
    for (size_t i = 0; i < list->n; i++)
        if (add_product(r, &list->items[i], *out, n) < 0)
            return ERR_INPUT;
    return 0;
}

int spec_read_shapes(struct reader *r, const struct json *root)
{
    struct spec *spec = r->spec;
    const struct json *list;

    if (spec_read_member(r, root, "shapes", JSON_ARRAY, true, &list) < 0)
        return ERR_INPUT;
    if (list->n && list->items[0].kind == JSON_OBJECT &&
        read_vars(r, &list->items[0]) < 0)
        return ERR_INPUT;
    if (read_list(r, root, "shapes", &spec->shapes.list, &spec->shapes.n) < 0 ||
        read_list(r, root, "emulation_shapes", &spec->shapes.emulation,
                  &spec->shapes.n_emulation) < 0 ||
        read_list(r, root, "fuzz_shapes", &spec->shapes.fuzz,
                  &spec->shapes.n_fuzz) < 0)
        return ERR_INPUT;
    return read_list(r, root, "emulation_fuzz_shapes",
                     &spec->shapes.emulation_fuzz,
                     &spec->shapes.n_emulation_fuzz);
}
