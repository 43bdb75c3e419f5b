#!/usr/bin/env python3
"""Measure the structure of the source: folders, headers, names, order, rings.

    deploy/measure_house.py [--beyond] [BUILD]

BUILD is a build folder; with it, rings of calls are found too.  --beyond prints
only what is beyond a limit of docs/contributing.md.  It needs Universal Ctags.
"""
import argparse
import os
import re
import subprocess
import sys

import lint_order

FILES_MAX, HEADER_MAX, FUNCTION_MAX, FIELDS_MAX, RING_MAX, CARRIED_MIN = 30, 120, 60, 20, 2, 0.9


class Report:
    def __init__(self, only_beyond):
        self.only_beyond = only_beyond

    def say(self, title, rows, most=40):
        if not self.only_beyond:
            say(title, rows, most)

    def limit(self, title, rows):
        """Rows that there should be none of."""
        if rows or not self.only_beyond:
            say(title, rows)


def say(title, rows, most=40):
    print(f"{title}: {len(rows)}")
    for row in rows[:most]:
        print("   ", row)
    if len(rows) > most:
        print(f"    ... and {len(rows) - most} more")


def files_by_folder():
    folders = {}
    for path in lint_order.tracked("common", *lint_order.PROGRAMS):
        if not path.endswith("CMakeLists.txt"):
            folders.setdefault(os.path.dirname(path), []).append(path)
    return folders


def tags(paths, kinds):
    """(path, name, kind, first line, last line, scope) for each tag."""
    out = subprocess.run(
        ("ctags", "-x", "--language-force=C", "--c-kinds=" + kinds,
         "--fields=+e", "--_xformat=%F\t%N\t%K\t%n\t%e\t%s", "-L", "-"), text=True,
        check=True, input="\n".join(paths), stdout=subprocess.PIPE).stdout
    for line in out.split("\n"):
        words = (line.split("\t") + [""] * 6)[:6]
        if words[0]:
            yield (*words[:3], int(words[3] or 0), int(words[4] or 0), words[5])


def stem(path):
    name = os.path.splitext(os.path.basename(path))[0]
    return name.removesuffix("_internal")


def carries(name, stems, folder_stems):
    """Whether a name begins with the stem of its header or source, or with a
    part of that stem that is the stem of another file of the folder."""
    words = name.split("_")
    for of_file in stems:
        parts = of_file.split("_")
        for n in range(len(parts), 0, -1):
            lead = parts[:n]
            if n < len(parts) and "_".join(lead) not in folder_stems:
                continue
            if words[:n] == lead:
                return True
    return False


def exported_names(folders):
    """(carried, all) and those that are not, of functions that headers offer."""
    paths = [path for files in folders.values() for path in files]
    folder_stems = {folder: {stem(path) for path in files}
                    for folder, files in folders.items()}
    defined = {}
    for path, name, *_ in tags([p for p in paths if p.endswith((".c", ".cc"))], "f"):
        defined.setdefault((path.split("/")[0], name), []).append(path)
    carried, strangers = 0, []
    for path, name, *_ in tags([p for p in paths if p.endswith(".h")], "p"):
        where = defined.get((path.split("/")[0], name), [])
        stems = {stem(path)} | {stem(source) for source in where}
        if carries(name, stems, folder_stems[os.path.dirname(path)]):
            carried += 1
        else:
            strangers.append(f"{path}: {name}")
    return carried, strangers


def rings(edges):
    """Strongly connected components of more than one node (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in edges.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            ring = []
            while not ring or ring[-1] != node:
                ring.append(stack.pop())
            if len(ring) > 1:
                found.append(sorted(ring))

    for node in list(edges):
        if node not in index:
            visit(node)
    return sorted(found, key=len, reverse=True)


def calls(build):
    """{file: files it calls}, for all files of the project's libraries."""
    house, defined, wanted, edges = lint_order.House(), {}, [], {}
    for folder, archive in lint_order.archives(house, build):
        for member, (has, lacks) in lint_order.symbols(archive).items():
            path = folder + "/" + member.removesuffix(".o")
            program = lint_order.program(folder)
            defined.update(((program, symbol), path) for symbol in has)
            wanted.append((program, path, lacks))
    for program, path, lacks in wanted:
        edges[path] = {defined[program, symbol] for symbol in lacks
                       if (program, symbol) in defined}
    return edges


def lines(path):
    return lint_order.read(path).count("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beyond", action="store_true")
    parser.add_argument("build", nargs="?")
    ask = parser.parse_args()
    build = os.path.abspath(ask.build) if ask.build else None
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    report = Report(ask.beyond)
    folders = files_by_folder()
    paths = [path for files in folders.values() for path in files]
    code = [path for path in paths if path.endswith((".c", ".h"))]

    report.say("folders", [f"{len(files):4} {folder}"
                           for folder, files in sorted(folders.items())])
    report.limit(f"folders of more than {FILES_MAX} files (common/ aside)",
                 [f"{folder}: {len(files)}" for folder, files in sorted(folders.items())
                  if len(files) > FILES_MAX and folder != "common"])
    report.limit(f"headers of more than {HEADER_MAX} lines",
                 [f"{path}: {lines(path)}" for path in code
                  if path.endswith(".h") and lines(path) > HEADER_MAX])
    report.limit(f"functions of more than {FUNCTION_MAX} lines",
                 [f"{path}: {name} {last - first + 1}" for path, name, _, first, last, _
                  in tags(code, "f") if last - first + 1 > FUNCTION_MAX])

    fields = {}
    for path, _, _, _, _, scope in tags(code, "m"):
        fields[path, scope] = fields.get((path, scope), 0) + 1
    report.limit(f"structs of more than {FIELDS_MAX} fields",
                 [f"{path}: {scope} {n}" for (path, scope), n in sorted(fields.items())
                  if n > FIELDS_MAX and path.endswith(".h")])

    carried, strangers = exported_names(folders)
    total = carried + len(strangers)
    names = (f"exported functions that carry their file's stem: {carried} of {total} "
             f"({100 * carried / total:.1f} %); that do not")
    if carried < CARRIED_MIN * total:
        report.limit(names, strangers)
    else:
        report.say(names, strangers, most=200)

    house, exceptions = lint_order.House(), lint_order.Exceptions()
    report.limit("includes against the order",
                 [f"{path}: {included}" for path, included
                  in lint_order.includes_against_order(house, exceptions)])
    report.say("exceptions to the order", [f"{a} {b}" for a, b in exceptions.lines])
    if build:
        found = rings(calls(build))
        report.limit("calls against the order",
                     [" ".join(row) for row in lint_order.calls_against_order(
                         house, exceptions, build)])
        report.say("rings of calls between files",
                   [f"{len(ring)}: {' '.join(ring)}" for ring in found])
        report.limit(f"rings of calls between more than {RING_MAX} files",
                     [" ".join(ring) for ring in found if len(ring) > RING_MAX])


if __name__ == "__main__":
    main()
