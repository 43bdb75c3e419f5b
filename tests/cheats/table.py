"""The table of the cheats, cheats.txt, which says what each column means."""

import collections
import os

FOLDER = os.path.dirname(os.path.abspath(__file__))
FILES = ("kept", "heap", "values", "memory", "shared", "process", "notes")
REASONS = ("process", "module", "fresh", "overwritten", "sealed", "compiler", "cache", "host")
OUTCOMES = ("correctness", "runtime", "timeout", "crash")
HEADING = ["| what it does | what stops it | `cpu` | `cuda` | test |", "|---|---|---|---|---|"]

Cheat = collections.namedtuple("Cheat", "name file problem options cpu cuda does stopped_by")


def parse(line):
    name, file, problem, cpu, cuda, does, stopped_by = (cell.strip() for cell in line.split(" | "))
    problem, *options = problem.split()
    return Cheat(name, file, problem, dict(option.split("=") for option in options), cpu, cuda, does, stopped_by)


def read():
    with open(os.path.join(FOLDER, "cheats.txt")) as lines:
        return [parse(line) for line in lines if line.strip() and not line.startswith("#")]


def cell(expected):
    """A cell of docs/measuring.md: what cannot exist is in brackets."""
    return f"({expected[3:]})" if expected.startswith("no ") else expected


def markdown(cheats):
    return HEADING + [f"| {c.does} | {c.stopped_by} | {cell(c.cpu)} | {cell(c.cuda)} | `{c.name}` |" for c in cheats]
