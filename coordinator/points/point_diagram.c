#include "coordinator/points/point_diagram.h"

#include <stddef.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/points/int_expr.h"

#define STATES_MAX (1 << 18)
#define BRANCHES_MAX (1 << 21)

struct state {
    size_t axis;   /* the first one it depends on; the number of axes if none */
    int64_t below; /* points, over this axis and those after it */
    size_t first;  /* its branches, one a level */
};

struct point_diagram {
    size_t n_axes, sizes[INT_EXPR_AXES_MAX];
    int64_t stride[INT_EXPR_AXES_MAX + 1]; /* of an axis in a number; [0] of
                                            * the axis before the first */
    struct state *states;
    int n, cap, root;
    int *branches;
    size_t n_branches, cap_branches;
    int *state_of; /* [nodes] state + 1 of a node */
    int n_state_of;
};

static void set_strides(struct point_diagram *diagram,
                        const struct int_expr *expr)
{
    diagram->n_axes = int_expr_n_axes(expr);
    diagram->stride[diagram->n_axes] = 1;
    for (size_t a = diagram->n_axes; a-- > 0;) {
        diagram->sizes[a] = int_expr_levels(expr, a);
        diagram->stride[a] =
            diagram->stride[a + 1] * (int64_t)diagram->sizes[a];
    }
}

static size_t first_axis(const struct int_expr *expr, int node)
{
    uint64_t axes = int_expr_axes(expr, node);

    return axes ? (size_t)__builtin_ctzll(axes) : int_expr_n_axes(expr);
}

static int find_state(struct point_diagram *diagram, int node)
{
    int from = diagram->n_state_of;

    if (node >= from) {
        diagram->n_state_of = 2 * node + 64;
        diagram->state_of =
            mem_grow(diagram->state_of, (size_t)diagram->n_state_of,
                     sizeof(*diagram->state_of));
        for (int i = from; i < diagram->n_state_of; i++)
            diagram->state_of[i] = 0;
    }
    return diagram->state_of[node] - 1;
}

static int add_state(struct point_diagram *diagram, int node,
                     struct state state)
{
    if (diagram->n == STATES_MAX)
        return -1;
    if (diagram->n == diagram->cap) {
        diagram->cap = diagram->cap ? 2 * diagram->cap : 256;
        diagram->states = mem_grow(diagram->states, (size_t)diagram->cap,
                                   sizeof(*diagram->states));
    }
    diagram->states[diagram->n++] = state;
    find_state(diagram, node); /* makes room */
    diagram->state_of[node] = diagram->n;
    return diagram->n - 1;
}

static size_t add_branches(struct point_diagram *diagram, size_t n)
{
    size_t first = diagram->n_branches;

    diagram->n_branches += n;
    while (diagram->n_branches > diagram->cap_branches) {
        diagram->cap_branches =
            diagram->cap_branches ? 2 * diagram->cap_branches : 1024;
        diagram->branches = mem_grow(diagram->branches, diagram->cap_branches,
                                     sizeof(*diagram->branches));
    }
    return first;
}

/* Points of a state over the axes from 'axis' on. */
static int64_t points_from(const struct point_diagram *diagram, int state,
                           size_t axis)
{
    const struct state *at = &diagram->states[state];

    return at->below * (diagram->stride[axis] / diagram->stride[at->axis]);
}

/* The state of a node, with all states below it; -1 if there are too many.  The
 * depth of the recursion is the number of axes. */
static int build(struct point_diagram *diagram, struct int_expr *expr, int node)
{
    struct state state = { .axis = 0 };
    int found;
    size_t n;

    if (node < 0)
        return -1;
    found = find_state(diagram, node);
    if (found >= 0)
        return found;
    state.axis = first_axis(expr, node);
    if (state.axis == diagram->n_axes) {
        int64_t high;

        int_expr_bounds(expr, node, &state.below, &high);
        return add_state(diagram, node, state);
    }
    n = diagram->sizes[state.axis];
    if (diagram->n_branches + n > BRANCHES_MAX)
        return -1;
    state.first = add_branches(diagram, n);
    for (size_t level = 0; level < n; level++) {
        int to = build(diagram, expr,
                       int_expr_assign(expr, node, state.axis, level));

        if (to < 0)
            return -1;
        diagram->branches[state.first + level] = to;
        state.below += points_from(diagram, to, state.axis + 1);
    }
    return add_state(diagram, node, state);
}

struct point_diagram *point_diagram_new(struct int_expr *expr, int node)
{
    struct point_diagram *diagram = mem_new(1, sizeof(*diagram));

    set_strides(diagram, expr);
    diagram->root = build(diagram, expr, node);
    free(diagram->state_of);
    diagram->state_of = NULL;
    if (diagram->root >= 0)
        return diagram;
    point_diagram_free(diagram);
    return NULL;
}

void point_diagram_free(struct point_diagram *diagram)
{
    if (!diagram)
        return;
    free(diagram->states);
    free(diagram->branches);
    free(diagram->state_of);
    free(diagram);
}

int64_t point_diagram_count(const struct point_diagram *diagram)
{
    return points_from(diagram, diagram->root, 0);
}

int64_t point_diagram_at(const struct point_diagram *diagram, int64_t rank)
{
    const struct state *at = &diagram->states[diagram->root];
    int64_t number = 0;

    for (;;) {
        const int *branches;
        size_t level = 0;

        /* No rule depends on the axes in between. */
        number += rank / at->below * diagram->stride[at->axis];
        rank %= at->below;
        if (at->axis == diagram->n_axes)
            return number;
        branches = diagram->branches + at->first;
        for (;; level++) {
            int64_t points =
                points_from(diagram, branches[level], at->axis + 1);

            if (rank < points)
                break;
            rank -= points;
        }
        number += (int64_t)level * diagram->stride[at->axis + 1];
        at = &diagram->states[branches[level]];
    }
}
