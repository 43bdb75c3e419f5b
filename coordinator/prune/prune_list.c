#include "coordinator/prune/prune_list.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/print/table.h"
#include "coordinator/prune/prune_age.h"
#include "coordinator/text/json_out.h"

void prune_list_add(struct prune_list *list, const struct prune_entry *entry)
{
    list->entries =
        mem_grow(list->entries, list->n + 1, sizeof(*list->entries));
    list->entries[list->n++] = (struct prune_entry){
        .where = mem_strdup(entry->where),
        .kind = mem_strdup(entry->kind),
        .path = mem_strdup(entry->path),
        .bytes = entry->bytes,
        .age_s = entry->age_s,
        .why = entry->why ? mem_strdup(entry->why) : NULL,
    };
}

void prune_list_fini(struct prune_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->entries[i].where);
        free(list->entries[i].kind);
        free(list->entries[i].path);
        free(list->entries[i].why);
    }
    free(list->entries);
    list->entries = NULL;
    list->n = 0;
}

int64_t prune_list_bytes(const struct prune_list *list, bool kept, size_t *n)
{
    int64_t sum = 0;

    *n = 0;
    for (size_t i = 0; i < list->n; i++)
        if ((list->entries[i].why != NULL) == kept) {
            sum += list->entries[i].bytes;
            ++*n;
        }
    return sum;
}

/* ---- for people */

/* Do they share a row?  What is kept has one of its own. */
static bool is_like(const struct prune_entry *a, const struct prune_entry *b)
{
    return !a->why && !b->why && strcmp(a->where, b->where) == 0 &&
           strcmp(a->kind, b->kind) == 0;
}

static void add_row(struct table *table, const struct prune_list *list,
                    size_t first)
{
    const struct prune_entry *entry = &list->entries[first];
    char size[PRUNE_AGE_BYTES], age[PRUNE_AGE_BYTES];
    int64_t bytes = 0, oldest = 0;
    size_t n = 0;

    for (size_t i = first; i < list->n; i++) {
        if (i > first && !is_like(entry, &list->entries[i]))
            continue;
        bytes += list->entries[i].bytes;
        if (list->entries[i].age_s > oldest)
            oldest = list->entries[i].age_s;
        n++;
    }
    table_cell(table, "%s", entry->where);
    table_cell(table, "%s", entry->kind);
    table_cell(table, "%zu", n);
    table_cell(table, "%s", prune_age_size(bytes, size));
    table_cell(table, "%s", prune_age_text(oldest, age));
    if (entry->why)
        table_cell(table, "kept: %s: %s", entry->path, entry->why);
    else
        table_cell(table, n == 1 ? "%s" : "%s, ...", entry->path);
}

static bool is_first(const struct prune_list *list, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (is_like(&list->entries[i], &list->entries[at]))
            return false;
    return true;
}

void prune_list_print(const struct prune_list *list, FILE *to)
{
    struct table *table = table_new();
    char size[PRUNE_AGE_BYTES];
    int64_t bytes;
    size_t n;

    table_column(table, 'l', "where");
    table_column(table, 'l', "what");
    table_column(table, 'r', "n");
    table_column(table, 'r', "size");
    table_column(table, 'r', "oldest");
    table_column(table, 'l', "path");
    for (size_t i = 0; i < list->n; i++)
        if (is_first(list, i))
            add_row(table, list, i);
    if (list->n > 0)
        table_print(table, to);
    table_free(table);
    bytes = prune_list_bytes(list, false, &n);
    if (n == 0)
        fputs("nothing to remove\n", to);
    else if (list->dry_run)
        fprintf(to, "%s would be removed\n", prune_age_size(bytes, size));
    else
        fprintf(to, "%s removed\n", prune_age_size(bytes, size));
}

/* ---- for programs */

static void json_entry(struct json_out *out, const struct prune_entry *entry)
{
    json_out_open(out, NULL, '{');
    json_out_text(out, "where", entry->where);
    json_out_text(out, "kind", entry->kind);
    json_out_text(out, "path", entry->path);
    json_out_int(out, "bytes", entry->bytes);
    json_out_int(out, "age_s", entry->age_s);
    if (entry->why)
        json_out_text(out, "kept", entry->why);
    else
        json_out_null(out, "kept");
    json_out_close(out);
}

void prune_list_json(const struct prune_list *list, FILE *to)
{
    struct json_out out;
    size_t n, kept;
    int64_t bytes = prune_list_bytes(list, false, &n);

    (void)prune_list_bytes(list, true, &kept);
    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    json_out_bool(&out, "dry_run", list->dry_run);
    json_out_int(&out, "older_s", list->older_s);
    json_out_int(&out, "removed", (int64_t)n);
    json_out_int(&out, "bytes", bytes);
    json_out_int(&out, "kept", (int64_t)kept);
    json_out_open(&out, "entries", '[');
    for (size_t i = 0; i < list->n; i++)
        json_entry(&out, &list->entries[i]);
    json_out_close(&out);
    json_out_close(&out);
}
