#!/usr/bin/env python3
"""Run the experiments of docs/reliability.md (experiments.txt), and print their figures as a table.

The short forms are tests that CI runs; here they run side by side.  The long forms run one after the other.

Usage: run.py BUILD [F1 F9 ...] [--jobs N]
       run.py BUILD --long [F1 F9 ...] [--repeat N] [--write]
"""

import argparse
import datetime
import glob
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

import experiments
import figures

ROOT = os.path.dirname(os.path.dirname(experiments.FOLDER))
PAGE = os.path.join(ROOT, "docs", "reliability.md")
BEGIN, END = "<!-- figures: deploy/chaos.sh --long --write -->", "<!-- end of figures -->"
HEADING = ["| label | repetitions | passed | worst figure | command | date |", "|---|---|---|---|---|---|"]
LIMIT_S = 7200  # of one command
REPEAT = 3


def names(build):
    """All tests of a build, with their environments."""
    out = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True)
    found = {}
    for test in json.loads(out.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        found[test["name"]] = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
    return found


def run_tests(build, tests, jobs, settings=None):
    """Run CTest tests; returns (passed, seconds, output) of each."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.xml")
        subprocess.run(["ctest", "--test-dir", build, "-j", str(jobs), "-R", f"^({'|'.join(map(re.escape, tests))})$",
                        "--output-junit", report, "--test-output-size-passed", "1000000",
                        "--test-output-size-failed", "1000000"], env={**os.environ, **(settings or {})}, stdout=sys.stderr, check=False)
        ran = {}
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
            output = case.findtext("system-out") or ""
            ran[case.get("name")] = (case.get("status") == "run", float(case.get("time")), output)
        return ran


def run_program(argv, folder, environment):
    """Run it; returns (passed, seconds, output)."""
    began = time.monotonic()
    ran = subprocess.run(argv, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False)
    if ran.returncode != 0:
        sys.stderr.write(ran.stdout)
    return ran.returncode == 0, time.monotonic() - began, ran.stdout


def fuzz(build, seconds):
    """Each target of build/fuzz, beside 'build'."""
    folder = os.path.join(os.path.dirname(build), "fuzz", "bin")
    targets = [path for path in sorted(glob.glob(os.path.join(folder, "fuzz_*"))) if os.access(path, os.X_OK)]
    if not targets:
        sys.exit(f"run.py: {folder}: no targets; build them: cmake --preset fuzz && cmake --build build/fuzz --target fuzzers")
    for target in targets:
        corpus = os.path.join(ROOT, "tests", "fuzz", "corpus", os.path.basename(target)[len("fuzz_"):])
        with tempfile.TemporaryDirectory() as new:
            yield run_program([target, f"-max_total_time={seconds}", "-max_len=4096", "-timeout=10",
                               "-rss_limit_mb=1024", "-print_final_stats=0", new, *filter(os.path.isdir, [corpus])],
                              new, {})


def run_command(build, tests, experiment, command, repeat):
    """Yield (passed, seconds, output) of each program that a command of a long form starts."""
    if command.program == "ctest":
        for _ in range(1 if command.settings else repeat):
            yield from run_tests(build, command.arguments or experiment.short, 1, command.settings).values()
    elif command.program == "unittest":
        environment = {**tests["e2e.localhost"], **command.settings,
                       "PYTHONPATH": os.pathsep.join((experiments.FOLDER, os.path.join(ROOT, "tests", "e2e")))}
        yield run_program([sys.executable, "-m", "unittest", "-v", *command.arguments], experiments.FOLDER, environment)
    elif command.program == "simulate":
        yield run_program([os.path.join(build, "bin", "simulate"), *command.arguments], build,
                          {"ASAN_OPTIONS": "detect_leaks=0"})
    else:
        yield from fuzz(build, *command.arguments)


def row(label, found, command, date):
    return f"| {label} | {found.repetitions:,} | {found.passed:,} | {found} | `{command}` | {date} |"


def machine():
    """In generic words."""
    with open("/proc/cpuinfo") as f:
        model = re.search(r"(?m)^model name\s*: (.*)$", f.read())
    kernel = ".".join(platform.release().split(".")[:2])
    return f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores, {platform.system()} {kernel}"


def rewrite(page, rows, where):
    """Put rows between the marker lines; those of other experiments stay if they are of the same machine."""
    head, rest = page.split(BEGIN)
    old, tail = rest.split(END)
    said = f"Machine: {where}."
    kept = dict(re.findall(r"(?m)^\| (F\d+) (\|.*)$", old)) if said in old else {}
    kept.update((found.split(" ")[1], found[found.index("|", 1):]) for found in rows)
    lines = [f"| {label} {kept[label]}" for label in sorted(kept, key=lambda label: int(label[1:]))]
    return f"{head}{BEGIN}\n{said}\n\n" + "\n".join(HEADING + lines) + f"\n{END}{tail}"


def run_long(args, chosen, tests):
    rows, failed = [], []
    print("\n".join(HEADING), flush=True)
    for experiment in chosen:
        found = figures.Figures()
        for command in experiment.long:
            for succeeded, seconds, output in run_command(args.build, tests, experiment, command, args.repeat):
                found.add(figures.read(output, seconds, succeeded))
        command = f"deploy/chaos.sh --long {experiment.label}"
        if args.repeat != REPEAT and any(c.program == "ctest" and not c.settings for c in experiment.long):
            command += f" --repeat {args.repeat}"
        rows.append(row(experiment.label, found, command, datetime.date.today()))
        print(rows[-1], flush=True)
        if found.passed < found.repetitions:
            failed.append(experiment.label)
        if args.write:
            with open(PAGE) as f:
                page = rewrite(f.read(), rows[-1:], machine())
            with open(PAGE, "w") as f:
                f.write(page)
    return failed


def run_short(args, chosen):
    tests = sorted({name for experiment in chosen for name in experiment.short})
    began = time.monotonic()
    ran = run_tests(args.build, tests, args.jobs)
    seconds = time.monotonic() - began
    failed = []
    print("| label | what goes wrong | tests | passed | longest |\n|---|---|---|---|---|")
    for experiment in chosen:
        mine = [ran.get(name, (False, 0.0, "")) for name in experiment.short]
        n_passed = sum(passed for passed, _, _ in mine)
        longest = f"{max(took for _, took, _ in mine):.0f} s" if mine else f"- {experiment.why_none}"
        print(f"| {experiment.label} | {experiment.what} | {' '.join(experiment.short)} | "
              f"{n_passed} of {len(mine)} | {longest} |")
        if n_passed < len(mine):
            failed.append(experiment.label)
    print(f"\n{len(tests)} tests in {seconds:.0f} s, {args.jobs} at a time")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="a folder with all programs, as build/dev")
    parser.add_argument("labels", nargs="*", metavar="F", help="F1, F2, ... (default: all)")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--repeat", type=int, default=REPEAT, help="of tests that do not repeat by themselves (3)")
    parser.add_argument("--jobs", type=int, default=4 * os.cpu_count(), help="tests at a time; they mostly wait")
    parser.add_argument("--write", action="store_true", help="put the table into docs/reliability.md")
    args = parser.parse_intermixed_args()
    args.build = os.path.abspath(args.build)
    table = {experiment.label: experiment for experiment in experiments.read()}
    for label in args.labels:
        if label not in table:
            parser.error(f"'{label}' is not in F1 to F{len(table)}")
    chosen = [table[label] for label in args.labels or table]
    failed = run_long(args, chosen, names(args.build)) if args.long else run_short(args, chosen)
    if failed:
        sys.exit(f"run.py: failed: {' '.join(failed)}")


if __name__ == "__main__":
    main()
