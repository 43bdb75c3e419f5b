/* Sums, products and other operations of many terms, in canonical form. */
#include <stdbool.h>
#include <stdlib.h>

#include "coordinator/points/int_expr_node.h"

/* Beside a product without a bound, other terms stay below this: a double, into
 * which SQLite turns the product, has all whole numbers up to here. */
#define BESIDE_MAX (INT64_C(1) << 52)
__extension__ typedef __int128 wide; /* for products before they are cut */

#define WIDE_MAX ((wide)1 << 100)

int int_expr_node_exceeds(const struct int_expr *expr, int node)
{
    return expr->nodes[node].high == INT_EXPR_LIMIT;
}

static wide cut(wide value)
{
    return value > WIDE_MAX ? WIDE_MAX : value < -WIDE_MAX ? -WIDE_MAX : value;
}

/* ---- sums */

/* Terms without sums or constants among them; false if a factor is too large,
 * or a number without a bound is subtracted. */
static bool flatten(const struct int_expr *expr,
                    const struct int_expr_terms *from, wide *constant,
                    bool *exceeds, struct int_expr_terms *out)
{
    *exceeds = false;
    for (size_t i = 0; i < from->n; i++) {
        const struct int_expr_node *node = &expr->nodes[from->list[i].node];
        int64_t factor = from->list[i].factor;
        bool sum = node->kind == INT_EXPR_SUM;

        if (factor && node->high == INT_EXPR_LIMIT)
            *exceeds = true;
        if (factor < 0 && node->high == INT_EXPR_LIMIT)
            return false;
        if (node->kind == INT_EXPR_CONSTANT || sum)
            *constant = cut(*constant + (wide)factor * node->constant);
        for (size_t j = 0; sum && j < node->n; j++) {
            struct int_expr_term term = expr->terms[node->first + j];
            wide product = (wide)factor * term.factor;

            if (product > INT_EXPR_LIMIT &&
                expr->nodes[term.node].low >= 0) /* that or more, or 0 */
                product = INT_EXPR_LIMIT;
            if (product > INT_EXPR_LIMIT || product < -INT_EXPR_LIMIT)
                return false;
            int_expr_node_push(out, (int64_t)product, term.node);
        }
        if (!sum && node->kind != INT_EXPR_CONSTANT)
            int_expr_node_push(out, factor, from->list[i].node);
    }
    return true;
}

/* Add up the factors of equal nodes. */
static bool merge(struct int_expr_terms *terms)
{
    size_t kept = 0;

    int_expr_node_sort(terms);
    for (size_t i = 0; i < terms->n;) {
        int node = terms->list[i].node;
        wide factor = 0;

        for (; i < terms->n && terms->list[i].node == node; i++)
            factor += terms->list[i].factor;
        if (factor > INT_EXPR_LIMIT || factor < -INT_EXPR_LIMIT)
            return false;
        if (factor)
            terms->list[kept++] =
                (struct int_expr_term){ (int64_t)factor, node };
    }
    terms->n = kept;
    return true;
}

/* The bounds of a sum; false if it is not known to be a whole number. */
static bool bound(const struct int_expr *expr, wide constant, bool exceeds,
                  const struct int_expr_terms *terms, struct int_expr_node *out)
{
    wide low = constant, high = constant;

    for (size_t i = 0; i < terms->n; i++) {
        const struct int_expr_node *node = &expr->nodes[terms->list[i].node];
        int64_t factor = terms->list[i].factor;

        exceeds |= node->high == INT_EXPR_LIMIT;
        low = cut(low + (wide)factor * (factor > 0 ? node->low : node->high));
        high = cut(high + (wide)factor * (factor > 0 ? node->high : node->low));
    }
    exceeds |= high >= INT_EXPR_LIMIT;
    if (low >= INT_EXPR_LIMIT)
        low = INT_EXPR_LIMIT;
    if (low < (exceeds ? -BESIDE_MAX : -INT_EXPR_LIMIT))
        return false;
    *out = (struct int_expr_node){
        .kind = INT_EXPR_SUM,
        .constant =
            (int64_t)(constant > INT_EXPR_LIMIT ? INT_EXPR_LIMIT : constant),
        .low = (int64_t)low,
        .high = exceeds ? INT_EXPR_LIMIT : (int64_t)high,
    };
    return constant >= -INT_EXPR_LIMIT;
}

int int_expr_node_sum(struct int_expr *expr, int64_t constant,
                      struct int_expr_terms *terms)
{
    struct int_expr_terms flat = { 0 };
    struct int_expr_node node;
    wide all = constant;
    bool exceeds;
    int sum = INT_EXPR_NONE;

    if (flatten(expr, terms, &all, &exceeds, &flat) && merge(&flat) &&
        bound(expr, all, exceeds, &flat, &node))
        sum = all == 0 && flat.n == 1 && flat.list[0].factor == 1
                  ? flat.list[0].node
                  : int_expr_node_get(expr, node, flat.list, flat.n);
    free(terms->list);
    free(flat.list);
    return sum;
}

/* ---- products */

static void spread(const struct int_expr *expr, int node, wide *factor,
                   struct int_expr_terms *out)
{
    const struct int_expr_node *of = &expr->nodes[node];

    if (of->kind == INT_EXPR_CONSTANT) {
        *factor = cut(*factor * of->constant);
    } else if (of->kind == INT_EXPR_PRODUCT) {
        for (size_t i = 0; i < of->n; i++)
            int_expr_node_push(out, 1, expr->terms[of->first + i].node);
    } else if (of->kind == INT_EXPR_SUM && of->n == 1 && of->constant == 0) {
        *factor = cut(*factor * expr->terms[of->first].factor);
        spread(expr, expr->terms[of->first].node, factor, out);
    } else {
        int_expr_node_push(out, 1, node);
    }
}

static int bounded_product(struct int_expr *expr,
                           const struct int_expr_terms *terms)
{
    wide low = 1, high = 1;
    bool positive = true, exceeds = false;

    for (size_t i = 0; i < terms->n; i++) {
        const struct int_expr_node *node = &expr->nodes[terms->list[i].node];
        const wide ends[] = { low * node->low, low * node->high,
                              high * node->low, high * node->high };

        positive &= node->low >= 0;
        low = high = ends[0];
        for (size_t e = 1; e < 4; e++) {
            low = ends[e] < low ? ends[e] : low;
            high = ends[e] > high ? ends[e] : high;
        }
        exceeds |= high >= INT_EXPR_LIMIT || low < -INT_EXPR_LIMIT ||
                   node->high == INT_EXPR_LIMIT;
        if (exceeds && !positive)
            return INT_EXPR_NONE;
        low = low > INT_EXPR_LIMIT ? INT_EXPR_LIMIT : low;
        high = high > INT_EXPR_LIMIT ? INT_EXPR_LIMIT : high;
    }
    return int_expr_node_get(expr,
                             (struct int_expr_node){ .kind = INT_EXPR_PRODUCT,
                                                     .low = (int64_t)low,
                                                     .high = (int64_t)high },
                             terms->list, terms->n);
}

int int_expr_node_product(struct int_expr *expr, struct int_expr_terms *terms)
{
    struct int_expr_terms flat = { 0 }, scaled = { 0 };
    wide factor = 1;
    int product;

    for (size_t i = 0; i < terms->n; i++)
        spread(expr, terms->list[i].node, &factor, &flat);
    free(terms->list);
    int_expr_node_sort(&flat);
    product = flat.n == 0 || factor == 0 ? int_expr_constant(expr, 1)
              : flat.n == 1              ? flat.list[0].node
                                         : bounded_product(expr, &flat);
    free(flat.list);
    if (product < 0 || factor == 1)
        return product;
    if (factor > INT_EXPR_LIMIT && expr->nodes[product].low >= 0)
        factor = INT_EXPR_LIMIT;
    if (factor > INT_EXPR_LIMIT || factor < -INT_EXPR_LIMIT)
        return INT_EXPR_NONE;
    int_expr_node_push(&scaled, (int64_t)factor, product);
    return int_expr_node_sum(expr, 0, &scaled);
}

/* ---- the others */

int int_expr_node_least(struct int_expr *expr, struct int_expr_terms *terms)
{
    struct int_expr_terms flat = { 0 };
    struct int_expr_node node = { .kind = INT_EXPR_LEAST,
                                  .low = INT64_MAX,
                                  .high = INT64_MAX };
    size_t kept = 0;
    int least;

    for (size_t i = 0; i < terms->n; i++) {
        const struct int_expr_node *of = &expr->nodes[terms->list[i].node];

        if (of->kind != INT_EXPR_LEAST)
            int_expr_node_push(&flat, 1, terms->list[i].node);
        for (size_t j = 0; of->kind == INT_EXPR_LEAST && j < of->n; j++)
            int_expr_node_push(&flat, 1, expr->terms[of->first + j].node);
    }
    free(terms->list);
    int_expr_node_sort(&flat);
    for (size_t i = 0; i < flat.n; i++) {
        const struct int_expr_node *of = &expr->nodes[flat.list[i].node];

        node.low = of->low < node.low ? of->low : node.low;
        node.high = of->high < node.high ? of->high : node.high;
    }
    for (size_t i = 0; i < flat.n; i++) { /* only what can be the least */
        int of = flat.list[i].node;

        if ((kept == 0 || flat.list[kept - 1].node != of) &&
            (expr->nodes[of].low < node.high ||
             expr->nodes[of].high == node.high))
            flat.list[kept++] = flat.list[i];
    }
    flat.n = kept;
    least = flat.n == 1 ? flat.list[0].node
                        : int_expr_node_get(expr, node, flat.list, flat.n);
    free(flat.list);
    return least;
}

int int_expr_node_all(struct int_expr *expr, struct int_expr_terms *terms)
{
    struct int_expr_terms flat = { 0 };
    bool never = false;
    size_t kept = 0;
    int all;

    for (size_t i = 0; i < terms->n && !never; i++) {
        const struct int_expr_node *of = &expr->nodes[terms->list[i].node];

        never = of->high == 0;
        for (size_t j = 0; of->kind == INT_EXPR_ALL && j < of->n; j++)
            int_expr_node_push(&flat, 1, expr->terms[of->first + j].node);
        if (of->kind != INT_EXPR_ALL && of->low == 0)
            int_expr_node_push(&flat, 1, terms->list[i].node);
    }
    free(terms->list);
    int_expr_node_sort(&flat);
    for (size_t i = 0; i < flat.n; i++)
        if (i == 0 || flat.list[i].node != flat.list[i - 1].node)
            flat.list[kept++] = flat.list[i];
    flat.n = kept;
    all = never || flat.n == 0 ? int_expr_constant(expr, !never)
          : flat.n == 1
              ? flat.list[0].node
              : int_expr_node_get(
                    expr,
                    (struct int_expr_node){ .kind = INT_EXPR_ALL, .high = 1 },
                    flat.list, flat.n);
    free(flat.list);
    return all;
}

/* ---- comparisons with 0 */

static int64_t common_factor(const struct int_expr *expr,
                             const struct int_expr_node *sum)
{
    int64_t common = 0;

    for (size_t i = 0; i < sum->n; i++) {
        int64_t a = llabs(expr->terms[sum->first + i].factor), b = common;

        while (b) {
            int64_t left = a % b;

            a = b;
            b = left;
        }
        common = a;
    }
    return common;
}

/* The sum divided by the common factor of its terms, the constant towards the
 * greater: x <= 0 stays as it is. */
static int divide(struct int_expr *expr, int node, bool *whole)
{
    struct int_expr_node sum = expr->nodes[node];
    struct int_expr_terms terms = { 0 };
    int64_t common, constant;

    *whole = true;
    if (sum.kind != INT_EXPR_SUM)
        return node;
    common = common_factor(expr, &sum);
    if (common <= 1 || common == INT_EXPR_LIMIT)
        return node;
    *whole = sum.constant % common == 0;
    constant = sum.constant / common + (sum.constant % common > 0);
    for (size_t i = 0; i < sum.n; i++)
        int_expr_node_push(&terms, expr->terms[sum.first + i].factor / common,
                           expr->terms[sum.first + i].node);
    return int_expr_node_sum(expr, constant, &terms);
}

static int compare(struct int_expr *expr, enum int_expr_kind kind, int node)
{
    const struct int_expr_term term = { 1, node };

    return int_expr_node_get(
        expr, (struct int_expr_node){ .kind = kind, .high = 1 }, &term, 1);
}

int int_expr_node_at_most_0(struct int_expr *expr, int node)
{
    bool whole;

    if (node < 0)
        return INT_EXPR_NONE;
    if (expr->nodes[node].high <= 0 || expr->nodes[node].low > 0)
        return int_expr_constant(expr, expr->nodes[node].high <= 0);
    node = divide(expr, node, &whole);
    if (node < 0)
        return INT_EXPR_NONE;
    if (expr->nodes[node].high <= 0 || expr->nodes[node].low > 0)
        return int_expr_constant(expr, expr->nodes[node].high <= 0);
    return compare(expr, INT_EXPR_AT_MOST_0, node);
}

int int_expr_node_is_0(struct int_expr *expr, int node)
{
    const struct int_expr_node *of;
    bool whole;
    int divided;

    if (node < 0)
        return INT_EXPR_NONE;
    of = &expr->nodes[node];
    if (of->high < 0 || of->low > 0 || of->low == of->high)
        return int_expr_constant(expr, of->low == 0 && of->high == 0);
    divided = divide(expr, node, &whole);
    if (divided < 0 || !whole)
        return whole ? INT_EXPR_NONE : int_expr_constant(expr, 0);
    return compare(expr, INT_EXPR_IS_0, divided);
}
