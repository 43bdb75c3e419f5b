"""The commands in README.md and docs/ name subcommands, flags and scripts that exist."""

import os
import re
import subprocess
import unittest

import doc_pages

COORD = os.path.join(os.environ["FA_BIN_DIR"], "fa-coord")
SCRIPT = re.compile(r"^(?:[A-Z_]+=\S* )*((?:deploy|docs|kernels|tests)/[\w/.]+\.(?:sh|py))\b([^#|]*)")


class Flags(unittest.TestCase):
    known = {}

    def flags(self, command):
        """The flags that 'fa-coord COMMAND --help' lists; None when there is no such command."""
        if command not in self.known:
            ran = subprocess.run([COORD, command, "--help"], capture_output=True, text=True, timeout=60)
            listed = set(re.findall(r"^  (--[a-z-]+)", ran.stdout, re.MULTILINE))
            self.known[command] = None if ran.returncode else listed
        return self.known[command]

    def wrong(self, calls):
        for command, flags in calls:
            known = self.flags(command)
            if known is None:
                yield f"fa-coord has no command '{command}'"
            else:
                yield from (f"fa-coord {command} has no flag {flag}" for flag in flags if flag not in known)

    def test_commands_in_blocks(self):
        wrong, found = [], 0
        for path in doc_pages.paths():
            for line, command in doc_pages.commands(doc_pages.read(path)):
                calls = doc_pages.calls(command)
                found += len(calls)
                wrong += [f"{path}:{line}: {text}" for text in self.wrong(calls)]
        self.assertEqual(wrong, [])
        self.assertGreater(found, 100)

    def test_commands_in_sentences(self):
        wrong = []
        for path in doc_pages.paths():
            text = doc_pages.prose(doc_pages.read(path))
            for code in re.finditer(r"`(fa-coord [^`]*)`", text):
                line = text.count("\n", 0, code.start()) + 1
                wrong += [f"{path}:{line}: {what}" for what in self.wrong(doc_pages.calls(code[1].replace("\n", " ")))]
        self.assertEqual(wrong, [])

    def test_scripts_have_the_flags_that_are_given(self):
        wrong = []
        for path in doc_pages.paths():
            for line, command in doc_pages.commands(doc_pages.read(path)):
                script = SCRIPT.match(command)
                if not script:
                    continue
                text = doc_pages.read(script[1])
                for flag in re.findall(r"(?:^|[\s\[])(--[a-z][a-z-]*)", script[2]):
                    if not re.search(re.escape(flag) + r"(?![a-z-])", text):
                        wrong.append(f"{path}:{line}: {script[1]} has no flag {flag}")
        self.assertEqual(wrong, [])

    def test_each_block_of_commands_is_known_as_one(self):
        self.assertEqual([f"{path}:{line}: is this a command? {text}" for path in doc_pages.paths()
                          for line, text in doc_pages.unknown(doc_pages.read(path))], [])

    def test_a_flag_that_is_gone_is_found(self):
        page = "Text\n\n    fa-coord sweep --no-such-flag 1 # --nor-this\n    fa-coord swep\n\nMore\n"
        found = [what for _, command in doc_pages.commands(page) for what in self.wrong(doc_pages.calls(command))]
        self.assertEqual(found, ["fa-coord sweep has no flag --no-such-flag", "fa-coord has no command 'swep'"])


if __name__ == "__main__":
    unittest.main()
