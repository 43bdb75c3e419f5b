"""From a sweep file to one configuration: its values, gates, macros and launch.

docs/sweep-file.md is the reference of the format.  Its expressions are SQL, so SQLite evaluates
them here as it does in fa-coord, with everything that is known as columns.
"""
import json
import re
import sqlite3

from .fault import Fault

# A text, which is kept, or a comment, which is not.
TEXT_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)

database = sqlite3.connect(":memory:")


def read(path):
    """The sweep file as JSON has it."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise Fault(f"{path}: {error.strerror}") from error
    try:
        return json.loads(TEXT_OR_COMMENT.sub(lambda found: found[1] or " ", text))
    except ValueError as error:
        raise Fault(f"{path}: {error}") from error


def evaluate(expression, known):
    """The value of SQL over 'known', a dict of names and values; None where SQL says NULL."""
    columns = ", ".join(f"? AS {name}" for name in known)
    try:
        row = database.execute(f"SELECT ({expression}) FROM (SELECT {columns})", list(known.values())).fetchone()
    except sqlite3.Error as error:
        raise Fault(f"'{expression}': {error}") from error
    return row[0]


def whole_number(expression, known):
    value = evaluate(expression, known)
    if not isinstance(value, int):
        raise Fault(f"'{expression}' is {value}, not a whole number")
    return value


def all_values(spec, given, facts):
    """Every macro of the build: tunables, the baseline's where not given, then derived values.

    A derived value that is given stands for its expression, so that one can be tried alone.
    """
    derived = spec.get("derived", {})
    for name in given:
        if name not in spec["tunables"] and name not in derived:
            raise Fault(f"'{name}' is no tunable of {spec['name']}: it has {', '.join(spec['tunables'])}")
    values = {name: given.get(name, spec["baseline"][name]) for name in spec["tunables"]}
    for name, expression in derived.items():
        values[name] = given[name] if name in given else evaluate(expression, {**facts, **values})
        if values[name] is None:
            raise Fault(f"'{name}', which is '{expression}', has no value here")
    return values


def rejection(spec, values, facts, variables):
    """The first gate that rejects the configuration for a shape, or None."""
    known = {**facts, **values, **variables}
    for gate in spec.get("gates", []):
        if "reject" in gate and evaluate(gate["reject"], known):
            return gate
    return None


def launch(spec, values, facts, variables):
    """(grid, block, bytes of shared memory), grid and block as three numbers each."""
    known = {**facts, **values, **variables}

    def three(expressions):
        sizes = [whole_number(expression, known) for expression in expressions]
        return tuple(sizes + [1] * (3 - len(sizes)))

    wanted = spec["launch"]
    return three(wanted["grid"]), three(wanted["block"]), whole_number(wanted.get("smem", 0), known)


def defines(values):
    """The text of a header that makes 'values' macros."""
    lines = []
    for name, value in values.items():
        if isinstance(value, str):
            lines.append(f'#define {name} "{value}"')
            if value.isidentifier():
                lines.append(f"#define {name}_{value} 1")
        else:
            lines.append(f"#define {name} {int(value) if isinstance(value, bool) else repr(value)}")
    return "\n".join(lines) + "\n"


def parse_value(text):
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def parse_config(text):
    """NAME=V,NAME=V as a dict; an empty text is the baseline."""
    given = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not equals or not name or not value:
            raise Fault(f"'{part}' in --config is not NAME=VALUE")
        if name in given:
            raise Fault(f"'{name}' stands twice in --config {text}")
        given[name] = parse_value(value)
    return given


def parse_header(text, spec, path):
    """The values in a header of 'fa-coord export', those of the sweep's tunables and derived values."""
    prefix = re.sub(r"\W", "_", spec["name"]).upper() + "_"
    found = dict(re.findall(rf'^#define {prefix}(\w+) "?([\w.:+-]+)"?$', text, re.MULTILINE))
    names = [*spec["tunables"], *spec.get("derived", {})]
    missing = [name for name in names if name.upper() not in found]
    if missing:
        raise Fault(f"{path}: no {prefix}{missing[0].upper()}; is it the header of another sweep file? (--sweep)")
    return {name: parse_value(found[name.upper()]) for name in names}
