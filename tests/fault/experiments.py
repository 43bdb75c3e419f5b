"""The table of experiments, experiments.txt, which says what each column means."""

import collections
import os

FOLDER = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = ("ctest", "unittest", "simulate", "fuzz")

Experiment = collections.namedtuple("Experiment", "label what short why_none long")
Command = collections.namedtuple("Command", "settings program arguments")


def command(text):
    words = text.split()
    n = next(i for i, word in enumerate(words) if "=" not in word)
    if words[n] not in PROGRAMS:
        raise ValueError(f"'{text}' begins with none of {' '.join(PROGRAMS)}")
    return Command(dict(word.split("=") for word in words[:n]), words[n], words[n + 1:])


def parse(line):
    label, what, short, long = (cell.strip() for cell in line.split(" | "))
    why_none = short[2:] if short.startswith("- ") else ""
    return Experiment(label, what, [] if why_none else short.split(), why_none,
                      [command(text) for text in long.split("; ")])


def read(path=os.path.join(FOLDER, "experiments.txt")):
    with open(path) as lines:
        return [parse(line) for line in lines if line.strip() and not line.startswith("#")]
