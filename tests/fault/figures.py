"""What an experiment showed, read from what its programs printed.

  figure: NAME: VALUE UNIT    printed by rig.figure(); the largest value of a name is the worst
  repetitions: N              printed by a test that repeats; otherwise
  Ran N tests                 cases of unittest
  [  PASSED  ] N test(s).     cases of cmocka, and likewise FAILED
  N of M seeds with findings  seeds of the simulation
  Done N runs in M second(s)  inputs of a fuzz target
"""

import dataclasses
import re

FIGURE = re.compile(r"^figure: (.+): ([0-9.e+-]+) (\S+)$", re.M)
REPEATED = re.compile(r"^repetitions: (\d+)$", re.M)
UNITTEST = re.compile(r"^Ran (\d+) tests? in", re.M)
UNITTEST_SKIPPED = re.compile(r"\(.*skipped=(\d+)", re.M)
UNITTEST_FAILED = re.compile(r"(?:failures|errors)=(\d+)", re.M)
CMOCKA = re.compile(r"^\[  PASSED  \] (\d+) test", re.M)
CMOCKA_FAILED = re.compile(r"^\[  FAILED  \] \S+: (\d+) test|^\[  FAILED  \] (\d+) test", re.M)
FUZZED = re.compile(r"^Done (\d+) runs in", re.M)
SEEDS = re.compile(r"^(\d+) of (\d+) seeds with findings$", re.M)


@dataclasses.dataclass
class Figures:
    repetitions: int = 0
    passed: int = 0
    worst: dict = dataclasses.field(default_factory=dict)  # name: (value, unit)
    longest_s: float = 0.0

    def add(self, other):
        self.repetitions += other.repetitions
        self.passed += other.passed
        self.longest_s = max(self.longest_s, other.longest_s)
        for name, figure in other.worst.items():
            self.worst[name] = max(figure, self.worst.get(name, figure))

    def __str__(self):
        """The worst of each figure; without any, the longest run."""
        if not self.worst:
            return f"longest run {self.longest_s:.0f} s"
        return "; ".join(f"{name} {value:g} {unit}" for name, (value, unit) in sorted(self.worst.items()))


def total(pattern, output):
    return sum(int(next(filter(None, found.groups()))) for found in pattern.finditer(output))


def read(output, seconds, succeeded):
    """The figures of one program that ran for so long."""
    repeated = total(REPEATED, output)
    failed = total(UNITTEST_FAILED, output) + total(CMOCKA_FAILED, output)
    cases = (total(UNITTEST, output) - total(UNITTEST_SKIPPED, output) + total(CMOCKA, output) +
             total(CMOCKA_FAILED, output))
    found, seeds = map(sum, zip((0, 0), *((int(a), int(b)) for a, b in SEEDS.findall(output))))
    repetitions = repeated or cases + seeds + total(FUZZED, output) or 1
    failed = min(failed + found, repetitions)
    if not succeeded and not failed:
        failed = repetitions
    figures = Figures(repetitions, repetitions - failed, {}, seconds)
    for name, value, unit in FIGURE.findall(output):
        figures.worst[name] = max((float(value), unit), figures.worst.get(name, (float(value), unit)))
    return figures
