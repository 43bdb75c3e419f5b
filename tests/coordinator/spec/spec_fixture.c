#include "tests/coordinator/spec/spec_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"

#define TEXT_MAX 8192

static const char *given(const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

struct spec *spec_fixture(const struct spec_parts *parts)
{
    char text[TEXT_MAX];
    struct spec *spec;
    struct err err;
    int n = snprintf(
        text, sizeof(text),
        "{ \"name\": \"t\", \"kernel\": { \"source\": \"k.cu\", "
        "\"entry\": \"k\" },\n"
        "\"tunables\": { %s }, \"derived\": { %s },\n\"gates\": [ %s ],\n"
        "\"launch\": { \"grid\": [\"%s\"], \"block\": [\"32\"] },\n"
        "\"shapes\": [ %s ],\n\"arguments\": [ %s ],\n"
        "\"reference\": { \"source\": \"r.cu\", \"entry\": \"r\", \"launch\": "
        "{ \"grid\": [\"N\"], \"block\": [1] } },\n"
        "\"tolerance\": { \"relative_l2\": 1, \"max_error\": 1 },\n"
        "\"baseline\": { %s } %s }\n",
        given(parts->tunables, "\"A\": [1, 2], \"B\": [1, 2]"),
        given(parts->derived, ""), given(parts->gates, ""),
        given(parts->grid, "1"),
        given(parts->shapes, "{ \"name\": \"s\", \"N\": 100 }"),
        given(parts->arguments, "{ \"name\": \"o\", \"type\": \"fp32\", "
                                "\"shape\": [\"N\"], \"output\": true }"),
        given(parts->baseline, "\"A\": 1, \"B\": 1"), given(parts->more, ""));

    assert_in_range(n, 1, TEXT_MAX - 1);
    if (spec_parse("/nowhere", "sweep.json", text, (size_t)n, &spec, &err) < 0)
        fail_msg("%s", err.text);
    return spec;
}
