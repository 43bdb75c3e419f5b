#!/usr/bin/env python3
"""Report includes and calls that break the order of the folders.

    deploy/lint_order.py [BUILD]

The CMakeLists have the order: a program's add_subdirectory() lines are its
folders from bottom to top, and a folder may include only from folders that its
libraries LINK.  BUILD is a build folder; with it, the symbols of the static
libraries are checked for calls upwards too.  deploy/order_exceptions.txt lists
permitted exceptions, one a line: FROM TO (folders or files), then the reason.
"""
import os
import re
import subprocess
import sys

PROGRAMS = ("coordinator", "worker")
EXCEPTIONS = "deploy/order_exceptions.txt"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def tracked(*patterns):
    out = subprocess.run(("git", "ls-files", "--", *patterns), check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return [path for path in out.split("\n") if path and os.path.exists(path)]


def without_comments(cmake):
    return re.sub(r"#[^\n]*", "", cmake)


class House:
    """The folders that have a CMakeLists, bottom to top, and what they link."""

    def __init__(self):
        self.order = []   # folders, bottom to top
        self.library = {} # fa_NAME -> folder
        self.links = {}   # folder -> folders
        self.wants = {}   # folder -> [fa_NAME]
        self._walk("common")
        for program in PROGRAMS:
            self._walk(program)
        for folder, names in self.wants.items():
            self.links[folder] = {self.library[name] for name in names
                                  if name in self.library} - {folder}

    def _walk(self, folder):
        text = without_comments(read(folder + "/CMakeLists.txt"))
        for name in re.findall(r"add_subdirectory\((\S+?)\)", text):
            self._walk(folder + "/" + name)
        self.order.append(folder)
        self.wants[folder] = []
        for kind, name, rest in re.findall(
                r"(fa_library|fa_program|add_library|target_link_libraries)"
                r"\((\S+)([^()]*(?:\([^()]*\)[^()]*)*)\)", text):
            if kind == "fa_library":
                self.library["fa_" + name] = folder
            elif kind == "add_library" and name.startswith("fa_"):
                self.library[name] = folder
            if kind == "target_link_libraries":
                self.wants[folder] += re.findall(r"\bfa_\w+", rest)
            elif "LINK" in rest:
                self.wants[folder] += re.findall(r"\bfa_\w+",
                                                 rest.split("LINK", 1)[1])

    def folder_of(self, path):
        """The innermost folder with a CMakeLists that has the file, or None."""
        folder = os.path.dirname(path)
        while folder and folder not in self.links:
            folder = os.path.dirname(folder)
        return folder or None

    def below(self, folder):
        """All folders that a folder links, directly or indirectly."""
        found, todo = set(), [folder]
        while todo:
            for other in self.links[todo.pop()] - found:
                found.add(other)
                todo.append(other)
        return found

    def sources(self):
        for path in tracked("common", *PROGRAMS):
            if path.endswith((".c", ".h", ".cc", ".hh", ".cu")):
                yield path


class Exceptions:
    def __init__(self):
        self.lines, self.used = [], set()
        if os.path.exists(EXCEPTIONS):
            for line in read(EXCEPTIONS).split("\n"):
                words = line.split("#")[0].split()
                if len(words) >= 2:
                    self.lines.append((words[0], words[1]))

    def allow(self, source, target):
        """Does an exception cover this use? Source and target are each a file or a folder."""
        for line in self.lines:
            if all(path == place or path.startswith(place + "/")
                   for path, place in zip((source, target), line)):
                self.used.add(line)
                return True
        return False

    def unused(self):
        return [line for line in self.lines if line not in self.used]


def links_against_order(house, exceptions):
    rank = {folder: i for i, folder in enumerate(house.order)}
    for folder in house.order:
        for other in sorted(house.links[folder]):
            if rank[other] > rank[folder] and not exceptions.allow(folder, other):
                yield f"{folder}/CMakeLists.txt: links {other}, which is above it"


def includes_against_order(house, exceptions):
    """(file, included file) for each of them, in order."""
    for path in house.sources():
        mine = house.folder_of(path)
        for included in re.findall(r'^#include "((?:common|coordinator|worker)/[^"]+)"',
                                   read(path), re.M):
            other = house.folder_of(included)
            if other in (mine, None) or other in house.links[mine]:
                continue
            if not exceptions.allow(path, included):
                yield path, included


def needless_links(house):
    """Links between libraries that no include needs."""
    needed = {}
    for path in house.sources():
        for included in re.findall(r'^#include "([^"]+)"', read(path), re.M):
            needed.setdefault(house.folder_of(path), set()).add(
                house.folder_of(included))
    for folder in house.order:
        if folder not in PROGRAMS and folder not in needed.get(folder, ()):
            continue
        for other in sorted(house.links[folder] - needed.get(folder, set())):
            yield folder, other


def symbols(archive):
    """{member: (defined, undefined)} of a static library or an object."""
    out = subprocess.run(("nm", "-gA", archive), check=True, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    found = {}
    for line in out.split("\n"):
        match = re.match(r"(.*):(?:[0-9a-f]+| +) ([A-Za-z]) (\S+)$", line)
        if match:
            member = match[1].rsplit(":", 1)[-1]
            sets = found.setdefault(member, (set(), set()))
            sets[match[2] in "Uw"].add(match[3])
    return found


def program(folder):
    """The program that a file belongs to: both may have a function of one name, since they are never linked."""
    return folder.split("/")[0]


def archives(house, build):
    for name, folder in sorted(house.library.items()):
        path = f"{build}/{folder}/lib{name}.a"
        if os.path.exists(path):
            yield folder, path


def calls_against_order(house, exceptions, build):
    """(folder, object, symbol, folder that defines it) for each of them."""
    defined, wanted = {}, []
    for folder, archive in archives(house, build):
        for member, (has, lacks) in symbols(archive).items():
            defined.update(((program(folder), symbol), folder) for symbol in has)
            wanted.append((folder, member, lacks))
    for folder, member, lacks in wanted:
        allowed = house.below(folder) | {folder}
        path = folder + "/" + member.removesuffix(".o")
        for symbol in sorted(lacks):
            other = defined.get((program(folder), symbol),
                                defined.get(("common", symbol)))
            if other and (other not in allowed or is_above(house, folder, other)):
                if not exceptions.allow(path, other):
                    yield folder, member, symbol, other


def is_above(house, folder, other):
    return house.order.index(other) > house.order.index(folder)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    house, exceptions = House(), Exceptions()
    bad = list(links_against_order(house, exceptions))
    bad += [f"{path}: includes {included}, which its library does not link"
            for path, included in includes_against_order(house, exceptions)]
    if len(sys.argv) > 1:
        bad += [f"{folder}/{member}: calls {symbol}(), which is above it in {other}"
                for folder, member, symbol, other
                in calls_against_order(house, exceptions, sys.argv[1])]
        bad += [f"{EXCEPTIONS}: '{a} {b}' is no longer needed"
                for a, b in exceptions.unused()]
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
