#!/usr/bin/env python3
"""Print the warnings that a build folder's compiler has for each of its units.

    deploy/warnings.py BUILD [JOBS]

BUILD is a configured Ninja folder; what it generates is generated, nothing else
is built.  Exits 1 when a unit does not pass.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys


def generated(build):
    """The sources that a custom command writes, as Ninja names them."""
    targets = subprocess.run(("ninja", "-C", build, "-t", "targets", "all"), check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    return re.findall(r"^(\S+\.(?:c|h|cc)): CUSTOM_COMMAND$", targets, re.M)


def ask(unit):
    """What the compiler says of one entry of compile_commands.json; "" is nothing."""
    command = re.sub(r" -o \S+ -c ", " -fsyntax-only ", unit["command"])
    run = subprocess.run(command, shell=True, cwd=unit["directory"], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return run.stdout or ("" if run.returncode == 0 else f"{unit['file']}: not compiled\n")


def main():
    build = sys.argv[1]
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count()
    made = subprocess.run(("ninja", "-C", build, *generated(build)), text=True,
                          stdout=subprocess.PIPE)
    if made.returncode != 0:
        sys.exit(made.stdout)
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        units = json.load(file)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        said = [text for text in pool.map(ask, units) if text]
    sys.stdout.writelines(said)
    print(f"{len(units)} units, {len(said)} with warnings")
    sys.exit(1 if said or not units else 0)


if __name__ == "__main__":
    main()
