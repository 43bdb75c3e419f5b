"""A sweep file as a test changes it: read, cut down to some configurations, written."""

import json
import os


def read(folder):
    """sweep.json of a folder, whose comments are dropped."""
    with open(os.path.join(folder, "sweep.json")) as f:
        text = f.read()
    out, i = [], 0
    while i < len(text):
        end = i + 1
        if text[i] == '"':
            while text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            end += 1
            out.append(text[i:end])
        elif text.startswith("//", i):
            end = text.index("\n", i)
        elif text.startswith("/*", i):
            end = text.index("*/", i) + 2
        else:
            out.append(text[i])
        i = end
    return json.loads("".join(out))


def write(folder, sweep):
    with open(os.path.join(folder, "sweep.json"), "w") as f:
        json.dump(sweep, f)


def literal(value):
    """A value of a tunable in SQL."""
    return f"'{value}'" if isinstance(value, str) else str(int(value) if isinstance(value, bool) else value)


def only(sweep, configurations):
    """The same sweep with a gate that lets no other configuration pass; the first is the baseline."""
    rules = [" AND ".join(f"{name} = {literal(value)}" for name, value in config.items())
             for config in configurations]
    gate = {"name": "only", "reject": "NOT (" + " OR ".join(f"({rule})" for rule in rules) + ")"}
    return {**sweep, "baseline": configurations[0], "gates": [gate] + sweep.get("gates", [])}
