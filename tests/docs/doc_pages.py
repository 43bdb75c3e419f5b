"""The pages of the documentation: their links, their anchors, and the commands in their blocks."""

import glob
import html
import os
import re
import subprocess
import unicodedata

SOURCE = os.environ["FA_SOURCE_DIR"]

# Programs that a block of commands may begin with.  A block that begins with another word is output or data.
PROGRAMS = {"c++", "case", "cd", "chromium", "cmake", "cp", "ctest", "echo", "eval", "export", "fa-coord", "for", "gdb",
            "git", "grep", "gunzip", "kill", "mkdir", "mkdocs", "ncu", "nvcc", "objdump", "podman", "python3", "sqlite3", "ssh",
            "sed", "sudo", "until", "xargs"}
FOLDERS = ("build/", "common/", "coordinator/", "worker/", "deploy/", "docs/", "kernels/", "tests/")
SYNOPSIS = re.compile(r"\[-|\[[A-Z]|[A-Z]\.\.\.| \.\.\.$")
DIAGRAM = re.compile(r"\S+ {4,}[^#\s]")


def paths():
    """README.md and all pages of docs/, from the root of the repository."""
    pages = glob.glob("docs/**/*.md", root_dir=SOURCE, recursive=True)
    return ["README.md", *sorted(pages)]


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
        return f.read()


def blocks(text):
    """(line number of the first line, language, lines) of each fenced or indented block."""
    found, current, language, fence = [], None, "", None
    before = ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = re.match(r"\s*(```+|~~~+)\s*(\w*)", line)
        if fence:
            if mark and mark[1] == fence:
                fence, current = None, None
            else:
                current[2].append(line)
        elif mark:
            fence, current = mark[1], [number + 1, mark[2], []]
            found.append(current)
        elif line.startswith("    ") and (current or not before.strip()):
            if not current:
                current = [number, "", []]
                found.append(current)
            current[2].append(line[4:])
        elif line.strip():
            current = None
        elif current:
            current[2].append("")
        before = line
    return [tuple(block) for block in found]


def prose(text):
    """The text with its blocks made empty, so that line numbers stay."""
    lines = text.split("\n")
    for first, _, block in blocks(text):
        for i in range(first - 1, first - 1 + len(block)):
            lines[i] = ""
    return "\n".join(lines)


def first_word(line):
    """The program of a command line, after what it sets in the environment."""
    words = line.split()
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words.pop(0)
    return words[0] if words else ""


def is_command(line):
    word = first_word(line)
    if DIAGRAM.match(line):
        return False
    if word in PROGRAMS:
        return True
    if not word.startswith(FOLDERS):
        return False
    path = os.path.join(SOURCE, word)
    return word.startswith("build/") or (os.path.isfile(path) and os.access(path, os.X_OK))


def is_whole(command):
    """Whether bash would not wait for another line."""
    if command.endswith("\\"):
        return False
    if not re.search(r"""['"<|]|\$\(|\b(case|for|until|if|do)\b""", command):
        return True
    ran = subprocess.run(["bash", "-n"], input=command + "\n", capture_output=True, text=True)
    return ran.returncode == 0 and not ran.stderr


def parts(block):
    """(line number, lines) of what blank lines separate in a block; comment lines belong to what follows."""
    first, _, lines = block
    part = []
    for i, line in enumerate([*lines, ""]):
        if line.strip():
            part.append(line)
        elif part:
            yield first + i - len(part), part
            part = []


def is_shell(lines):
    spoken = [line for line in lines if not line.lstrip().startswith("#")]
    return bool(spoken) and is_command(spoken[0])


def commands(text):
    """(line number, command) of a page, each as long as bash reads it; what a synopsis shows is one, too."""
    found = []
    for block in blocks(text):
        for first, lines in parts(block) if block[1] in ("", "sh", "bash") else []:
            at = 0 if is_shell(lines) else len(lines)
            while at < len(lines):
                command, began = lines[at], at
                at += 1
                if command.lstrip().startswith("#"):
                    continue
                if is_synopsis(command):
                    while at < len(lines) and lines[at].startswith("  "):
                        command += " " + lines[at].strip()
                        at += 1
                while not is_synopsis(command) and not is_whole(command) and at < len(lines):
                    command += "\n" + lines[at]
                    at += 1
                found.append((first + began, command))
    return found


def unknown(text):
    """(line number, line) of blocks that look like commands and begin with no program of PROGRAMS."""
    found = []
    for block in blocks(text):
        for first, lines in parts(block) if block[1] in ("", "sh", "bash") else []:
            line = lines[0]
            if not is_shell(lines) and (block[1] or re.match(r"(\$ |\./|[a-z][\w./-]*( \S+)* --?[a-z])", line)):
                found.append((first, line))
    return found


def is_synopsis(command):
    word = first_word(command)
    return (word == "fa-coord" or word.startswith(FOLDERS)) and bool(SYNOPSIS.search(command.split("#")[0]))


def without_comment(command):
    return re.sub(r"(^|\s)#\s.*", "", command) if "\n" not in command else command


def calls(command):
    """(subcommand, flags) of each call of fa-coord in a command or in its synopsis."""
    found = []
    bare = re.sub(r"'[^']*'", "''", without_comment(command)).replace("\\\n", " ")
    for part in re.split(r"&&|\|\||;|\n|\$\(|\| (?=[a-z])", bare):
        call = re.search(r"(?:^|[\s/(\"])fa-coord\s+([a-z]+)(?![\w/.])(.*)", part)
        if call:
            found.append((call[1], re.findall(r"(?:^|[\s\[|(])(--[a-z][a-z-]*)", call[2])))
    return found


def slug(heading):
    """The anchor of a heading on a code host (GitHub: lower case, no punctuation, blanks to hyphens)."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    kept = "".join(c for c in text if c in "-_ " or unicodedata.category(c)[0] in "LN")
    return kept.replace(" ", "-")


def anchors(text):
    """The anchors that the headings of a page and its <a id=...> have."""
    found = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    for _, heading in re.findall(r"^(#+)\s+(.*?)\s*#*$", prose(text), re.MULTILINE):
        name, n = slug(heading), 0
        while (name if n == 0 else f"{name}-{n}") in found:
            n += 1
        found.add(name if n == 0 else f"{name}-{n}")
    return found


def links(text):
    """(line number, target) of each link and picture; code is not searched."""
    found = []
    plain = re.sub(r"`[^`\n]*`", lambda m: " " * len(m[0]), prose(text))
    # A link's text may go over the end of a line.
    for match in re.finditer(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)", plain):
        found.append((plain.count("\n", 0, match.start()) + 1, html.unescape(match[1])))
    for match in re.finditer(r"^\[[^]]+\]:\s*(\S+)", plain, re.MULTILINE):
        found.append((plain.count("\n", 0, match.start()) + 1, match[1]))
    return found
