"""Do the tests notice when a comparison is turned or a call is left out?  (docs/testing.md)

    mutate.py SOURCE_FOLDER BUILD_FOLDER [--seed N] [--comparisons N] [--calls N] [--seconds N]

Each mutant changes one place, drawn by the seed.  It is killed when a unit test of
its folder or the simulation fails with it.  Prints one line a mutant, and the share;
those that equivalent.txt calls equivalent count as neither.  Exit status: 0 when all
others are killed, else 1.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "simulation"))
from mutants import Builder  # noqa: E402

FOLDERS = ["schedule", "store", "reactor", "link"]
SEEDS = "1..300"
SHORT = "1..30"  # most die at once
TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
COMPARISON = re.compile(r" (<=|>=|==|!=|<|>) ")
CALL = re.compile(r"^ +[a-z_0-9]+\([^;{}]*\);$", re.MULTILINE)
NOT_DROPPED = re.compile(r"^ +(log_line|assert|progress_say|free|snprintf|if|for|while|switch|return)\b")


class Place:
    """A span of a file and what it becomes."""

    def __init__(self, path, text, start, end, new):
        self.path, self.start, self.end, self.new = path, start, end, new
        self.line = text.count("\n", 0, start) + 1
        line = text.splitlines()[self.line - 1].strip()
        self.words = f"{line}: {text[start:end].strip()} -> {new.strip() or 'nothing'}"

    def apply(self):
        with open(self.path, encoding="utf-8") as file:
            text = file.read()
        return text[:self.start] + self.new + text[self.end:]


def is_code(text, at):
    """Not in a comment, a string or a line of the preprocessor."""
    line = text[text.rfind("\n", 0, at) + 1:at]
    return (line.count('"') % 2 == 0 and not line.startswith("#")
            and text.rfind("/*", 0, at) <= text.rfind("*/", 0, at))


def comparisons(path, text):
    for match in COMPARISON.finditer(text):
        if is_code(text, match.start()):
            yield Place(path, text, match.start(1), match.end(1), TURNED[match[1]])


def calls(path, text):
    for match in CALL.finditer(text):
        if is_code(text, match.start()) and not NOT_DROPPED.match(match[0]):
            yield Place(path, text, match.start(), match.end(), "    ;")


def draw(paths, kind, count, rng):
    places = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            places += kind(path, file.read())
    return rng.sample(places, min(count, len(places)))


def fails(words, folder, seconds):
    try:
        return subprocess.run(words, cwd=folder, capture_output=True, check=False,
                              timeout=seconds).returncode != 0
    except subprocess.TimeoutExpired:
        return True


class Judge:
    def __init__(self, source, build, folder):
        self.source, self.build, self.folder = source, build, folder
        self.builders = {}

    def program(self, name, place):
        if name not in self.builders:
            self.builders[name] = Builder(self.source, self.build, name, self.folder)
        return self.builders[name].make(place.path, place.apply(), name)

    def tests(self, place):
        """The programs with the unit tests of the place's folder."""
        folder = os.path.basename(os.path.dirname(place.path))
        start = f"test_coordinator_{folder}_"
        return sorted(name for name in os.listdir(os.path.join(self.build, "tests"))
                      if name.startswith(start))

    def killer(self, place):
        """What failed; None if nothing did; "" if it does not compile."""
        for name in self.tests(place):
            program = self.program(name, place)
            if not program:
                return ""
            if fails([program], os.path.join(self.build, "tests"), 60):
                return name
        program = self.program("simulate", place)
        if not program:
            return ""
        for seeds in SHORT, SEEDS:
            if fails([program, "--seeds", seeds], self.build, 120):
                return "simulate"
        return None


def equivalent(source):
    """{(file, words)} of equivalent.txt: FILE, a tab, the words, a tab, why."""
    known = set()
    with open(os.path.join(HERE, "equivalent.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                known.add(tuple(line.rstrip("\n").split("\t")[:2]))
    return known


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("build")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--comparisons", type=int, default=60)
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    return parser.parse_args()


def main():
    options = arguments()
    source, build = os.path.abspath(options.source), os.path.abspath(options.build)
    end = time.monotonic() + options.seconds
    rng = random.Random(options.seed)
    known, count = equivalent(source), {"killed": 0, "survived": 0, "equivalent": 0}
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(source, build, folder)
        paths = Builder(source, build, "simulate", folder).sources(
            *(os.path.join("coordinator", name) for name in FOLDERS))
        places = draw(paths, comparisons, options.comparisons, rng)
        places += draw(paths, calls, options.calls, rng)
        rng.shuffle(places)
        for place in places:
            if time.monotonic() > end:
                print("no time is left for the others")
                break
            file = os.path.relpath(place.path, source)
            if (file, place.words) in known:
                verdict, by = "equivalent", None
            else:
                by = judge.killer(place)
                verdict = "survived" if by is None else "killed"
            if by == "":
                continue  # the compiler killed it, which says nothing of the tests
            count[verdict] += 1
            print(f"{verdict} {file}:{place.line}: {place.words}" + (f" ({by})" if by else ""), flush=True)
    print(", ".join(f"{number} {verdict}" for verdict, number in count.items()))
    return count["survived"] > 0


if __name__ == "__main__":
    sys.exit(main())
