#!/usr/bin/env python3
"""Which C files of a folder can be compiled as one file.

    join.py LIBRARIES

Each line of the file LIBRARIES is a library and the paths of its sources, between semicolons.  Standard output has a
line for each source: its path, the library and the number of its group there, between semicolons.  Files of a group
share no name that is not exported: functions, variables, constants, tags and macros.  A macro of one is no word of
another.
"""

import re
import sys

SPOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.S)
STATIC = re.compile(r"^static\b[^;{=()]*?\b(\w+)\s*[\[=;(]", re.M)
AFTER_BODY = re.compile(r"^\}\s*(?:const\s+)?(\w+)\s*(?:\[[^\]]*\])*\s*[=;]", re.M)
TAG = re.compile(r"\b(?:struct|enum|union)\s+(\w+)\s*\{")
ENUM = re.compile(r"\benum\b[^{;()]*\{(.*?)\}", re.S)
CONSTANT = re.compile(r"(?:^|,)\s*(\w+)", re.M)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)
WORD = re.compile(r"\w+")


class Names:
    def __init__(self, text=""):
        text = SPOKEN.sub(" ", text)
        self.macros = set(MACRO.findall(text))
        self.words = set(WORD.findall(text))
        self.own = {*STATIC.findall(text), *AFTER_BODY.findall(text), *TAG.findall(text)}
        for body in ENUM.findall(text):
            self.own.update(CONSTANT.findall(body))

    def clash(self, other):
        return self.own & other.own or self.macros & other.words or other.macros & self.words

    def add(self, other):
        self.macros |= other.macros
        self.words |= other.words
        self.own |= other.own


def groups(paths):
    """The number of each path's group: the first that it does not clash with."""
    together, numbers = [], []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            names = Names(file.read())
        number = next((k for k, group in enumerate(together) if not group.clash(names)), len(together))
        if number == len(together):
            together.append(Names())
        together[number].add(names)
        numbers.append(number)
    return numbers


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = file.read().splitlines()
    for line in lines:
        library, *paths = filter(None, line.split(";"))
        for path, number in zip(paths, groups(paths)):
            print(f"{path};{library};{number}")


if __name__ == "__main__":
    main()
