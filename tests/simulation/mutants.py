"""Programs with one planted bug each.

A mutant is a pattern (re, with MULTILINE) that occurs exactly once in all source
files, and its replacement.  Only that file is compiled again, with the flags of
the build folder, and linked in front of the libraries: the linker takes the
object that it finds first.  Nothing in the source tree or in the build folder
changes.
"""
import json
import os
import re
import shlex
import subprocess


class Mutant:
    def __init__(self, name, old, new, flags=()):
        """'flags' are those of the program that find it."""
        self.name, self.old, self.new = name, re.compile(old, re.MULTILINE), new
        self.flags = flags


class Builder:
    """Builds mutants of one program of a build folder made with Ninja."""

    def __init__(self, source, build, program, folder):
        self.source, self.build, self.folder = source, build, folder
        self.program = program
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
            self.commands = {entry["file"]: entry for entry in json.load(file)}
        link = subprocess.run(["ninja", "-C", build, "-t", "commands", program], check=True,
                              capture_output=True, text=True).stdout.splitlines()[-1]
        self.link = link.removeprefix(": && ").removesuffix(" && :")

    def sources(self, *folders):
        """The compiled C files below these folders of the source tree."""
        starts = tuple(os.path.join(self.source, folder) + os.sep for folder in folders)
        return sorted(path for path in self.commands
                      if path.startswith(starts) and path.endswith(".c"))

    def find(self, mutant):
        """The file that contains the pattern, and its new text."""
        found = []
        for path in self.sources("coordinator", "common"):
            with open(path, encoding="utf-8") as file:
                text, times = mutant.old.subn(mutant.new, file.read())
            found += [(path, text)] * times
        if len(found) != 1:
            raise LookupError(f"{mutant.name}: its text occurs {len(found)} times, not once: "
                              f"{[path for path, _ in found]}")
        return found[0]

    def compile(self, path, text, here, flags=()):
        """Compiles this text in place of the file into HERE.o; None if it does not compile."""
        with open(here + ".c", "w", encoding="utf-8") as file:
            file.write(text)
        entry = self.commands[path]
        words = shlex.split(entry["command"])
        words[words.index("-o") + 1] = here + ".o"
        words = [here + ".c" if word == path else word for word in words if word != "-Werror"]
        done = subprocess.run(words + list(flags), cwd=entry["directory"], capture_output=True,
                              check=False)
        return None if done.returncode else here + ".o"

    def link_with(self, object_file, out):
        """Links the program with this object in front of the libraries; False if it has this file's functions itself."""
        link = shlex.split(self.link)
        link[link.index("-o") + 1] = out
        first = next(i for i, word in enumerate(link) if word.endswith(".a"))
        link.insert(first, object_file)
        done = subprocess.run(link, cwd=self.build, capture_output=True, text=True, check=False)
        if done.returncode and "multiple definition" not in done.stderr:
            raise ValueError(done.stderr)
        return done.returncode == 0

    def make(self, path, text, name):
        """Builds the program with this text in place of the file; None if it does not compile."""
        here = os.path.join(self.folder, re.sub(r"\W", "_", name))
        object_file = self.compile(path, text, here)
        if object_file and not self.link_with(object_file, here):
            raise ValueError(f"{name}: the program does not take it")
        return object_file and here

    def plant(self, mutant):
        path, text = self.find(mutant)
        program = self.make(path, text, mutant.name)
        if not program:
            raise ValueError(f"{mutant.name}: it does not compile")
        return program
