"""Do the tests notice when a comparison is turned or a call is left out?  (docs/testing.md)

    mutate.py SOURCE_FOLDER [BUILD_FOLDER] [--seed N] [--comparisons N] [--calls N]
              [--only FOLDER] [--jobs N] [--seconds N] [--out FILE] [--survivors FILE]

The tree is copied to BUILD_FOLDER/mutation and built there, twice: as it is, and with
ASan.  All tests must pass before anything is changed.  Each mutant then changes one
place of the copy's sources, drawn by the seed.  It is killed when a unit test of its
folder, one of the folders that stand on it, or the simulation fails with it.

Prints one line a mutant, then the counts.  Those of equivalent.txt, and those of which
the compiler makes the same code, are equivalent.  --out keeps the verdicts as JSON
lines: a second run with the same file continues.  --survivors judges again only what
survived in such a file.  Exit status: 0 at least 90 % are killed and at most 5 % are
equivalent, 1 fewer, 2 the tests fail without a mutant, or usage.
"""
import argparse
import collections
import concurrent.futures
import fcntl
import json
import os
import random
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "simulation"))
from judge import Judge, Unsound  # noqa: E402
from workshop import Workshop  # noqa: E402

FOLDERS = ["schedule", "store", "stored", "state", "reactor", "link"]
KILLED_LEAST, EQUIVALENT_MOST = 0.90, 0.05
TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
COMPARISON = re.compile(r" (<=|>=|==|!=|<|>) ")
CALL = re.compile(r"^ +[a-z_0-9]+\([^;{}]*\);$", re.MULTILINE)
NOT_DROPPED = re.compile(r"^ +(log_line|assert|progress_say|free|snprintf|if|for|while|switch|return)\b")


class Place:
    """A span of a file and what it becomes."""

    def __init__(self, path, text, start, end, new):
        self.path, self.text, self.start, self.end, self.new = path, text, start, end, new
        self.line = text.count("\n", 0, start) + 1
        line = text.splitlines()[self.line - 1].strip()
        self.words = f"{line}: {text[start:end].strip()} -> {new.strip() or 'nothing'}"
        self.kind = "call" if new.strip() == ";" else "comparison"

    def mutated(self):
        # as many lines as before, so that a line's number says the same
        lines = "\n" * self.text.count("\n", self.start, self.end)
        return self.text[:self.start] + self.new + lines + self.text[self.end:]


def is_code(text, at):
    """Not in a comment, a string, a line of the preprocessor or an assertion."""
    line = text[text.rfind("\n", 0, at) + 1:at]
    statement = text[max(text.rfind(mark, 0, at) for mark in ";{}") + 1:at]
    if statement.lstrip().startswith(("assert(", "static_assert(")):
        return False
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


def draw(source, folders, kind, rng):
    """All places of a kind, in the order in which they are judged."""
    places = []
    for folder in folders:
        root = os.path.join(source, "coordinator", folder)
        for name in sorted(os.listdir(root)):
            if name.endswith(".c"):
                path = os.path.join("coordinator", folder, name)
                with open(os.path.join(root, name), encoding="utf-8") as file:
                    places += kind(path, file.read())
    rng.shuffle(places)
    return places


def equivalent():
    """{(file, words): why} of equivalent.txt: FILE, a tab, the words, a tab, why."""
    known = {}
    with open(os.path.join(HERE, "equivalent.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                path, words, why = line.rstrip("\n").split("\t")
                known[path, words] = why
    return known


class Results:
    """The verdicts so far, and the file that keeps them; the first line says of what."""

    def __init__(self, path, of):
        self.rows, self.file = {}, None
        if not path:
            return
        lines = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                # a line without an end is of a run that was stopped
                lines = [json.loads(line) for line in file if line.endswith("\n")]
        if lines and lines[0] != of:
            raise Unsound(f"{path} has the results of {lines[0]}, not of {of}")
        self.rows = {(row["file"], row["at"]): row for row in lines[1:]}
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in lines or [of])
        self.file = open(path, "a", encoding="utf-8")

    def find(self, place):
        return self.rows.get((place.path, place.start))

    def add(self, place, verdict, by, seconds):
        row = {"file": place.path, "line": place.line, "at": place.start, "kind": place.kind,
               "words": place.words, "verdict": verdict, "by": by, "seconds": round(seconds, 1)}
        if self.file:
            self.file.write(json.dumps(row) + "\n")
            self.file.flush()
        return row


def judged(judge, place, known):
    start = time.monotonic()
    if (place.path, place.words) in known:
        verdict, by = "equivalent", known[place.path, place.words]
    else:
        verdict, by = judge.verdict(place)
    return verdict, by, time.monotonic() - start


def survivors(path):
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return {(row["file"], row["words"]) for row in rows if row.get("verdict") == "survived"}


def judge_all(judge, places, count, results, options, end):
    """Judge places in their order until 'count' of them have a verdict."""
    known, found, under_way = equivalent(), [], collections.deque()
    todo = iter(places)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        while len(found) < count:
            while len(under_way) < min(2 * options.jobs, count - len(found)) and time.monotonic() < end:
                place = next(todo, None)
                if place is None:
                    break
                under_way.append((place, None if results.find(place)
                                  else pool.submit(judged, judge, place, known)))
            if not under_way:
                break
            place, future = under_way.popleft()
            row = results.add(place, *future.result()) if future else results.find(place)
            if row["verdict"] == "refused":
                continue  # by the compiler, which says nothing of the tests
            found.append(row)
            by = f" ({row['by']})" if row["by"] else ""
            print(f"{row['verdict']} {row['file']}:{row['line']}: {row['words']}{by}", flush=True)
    return found


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("build", nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--comparisons", type=int, default=60)
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--only", choices=FOLDERS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--out")
    parser.add_argument("--survivors")
    return parser.parse_args()


def summary(found, wanted):
    count = {verdict: sum(row["verdict"] == verdict for row in found)
             for verdict in ("killed", "survived", "equivalent")}
    if len(found) < wanted:
        print(f"{wanted - len(found)} were not judged")
    print(", ".join(f"{number} {verdict}" for verdict, number in count.items()))
    return (len(found) > 0 and count["killed"] >= KILLED_LEAST * len(found)
            and count["equivalent"] <= EQUIVALENT_MOST * len(found))


def run(options):
    end = time.monotonic() + options.seconds
    source = os.path.abspath(options.source)
    folder = os.path.join(os.path.abspath(options.build or os.path.join(source, "build")), "mutation")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unsound(f"another run uses {folder}") from None
        workshop = Workshop(source, folder)
        tree = workshop.copy()
        results = Results(options.out, {"seed": options.seed, "only": options.only, "tree": tree})
        judge = Judge(workshop, options.jobs)
        judge.check_baseline([options.only] if options.only else FOLDERS)
        folders = [options.only] if options.only else FOLDERS
        rng = random.Random(options.seed)
        found, wanted = [], 0
        for kind, count in (comparisons, options.comparisons), (calls, options.calls):
            places = draw(workshop.tree, folders, kind, rng)
            if options.survivors:
                again = survivors(options.survivors)
                places = [place for place in places if (place.path, place.words) in again]
                count = len(places)
            wanted += count
            found += judge_all(judge, places, count, results, options, end)
        return 0 if summary(found, wanted) else 1


def main():
    try:
        return run(arguments())
    except Unsound as why:
        print(f"mutate.py: {why}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
