"""The table of the cheats is complete, and docs/measuring.md has it as it is."""

import os
import re
import unittest

import judge
import table

ROOT = os.path.dirname(os.path.dirname(table.FOLDER))
FEWEST = 40


def kernels_of(file):
    with open(os.path.join(table.FOLDER, f"{file}.cu")) as source:
        return re.findall(r"^(?:ADD|ROWS|PRODUCT|SCRATCH|WIDE|NARROW|WHOLE|ORDER)_PAIR\((\w+)\)$", source.read(), re.MULTILINE)


def page():
    with open(os.path.join(ROOT, "docs", "measuring.md")) as text:
        return text.read()


class Table(unittest.TestCase):
    def setUp(self):
        self.cheats = table.read()

    def test_there_are_forty_pairs_and_each_name_is_one(self):
        names = [c.name for c in self.cheats]
        self.assertGreaterEqual(len(names), FEWEST)
        self.assertEqual(len(names), len(set(names)))

    def test_every_pair_of_the_sources_is_in_the_table(self):
        for file in table.FILES:
            self.assertEqual(sorted(kernels_of(file)), sorted(c.name for c in self.cheats if c.file == file), file)

    def test_every_expectation_is_an_outcome_or_a_reason(self):
        known = table.OUTCOMES + tuple(f"no {why}" for why in table.REASONS) + ("open",)
        for c in self.cheats:
            self.assertIn(c.cpu, known, c.name)
            self.assertIn(c.cuda, known, c.name)
            self.assertIn(c.problem, judge.PROBLEMS, c.name)
            self.assertEqual(c.stopped_by == "-", c.cpu == c.cuda == "open", c.name)

    def test_the_documentation_has_the_table(self):
        rows = "\n".join(table.markdown(self.cheats))
        self.assertTrue(rows in page(), f"docs/measuring.md, 'Cheats and faults', should have:\n{rows}")

    def test_every_published_pattern_names_its_tests(self):
        names = {c.name for c in self.cheats}
        patterns = re.search(r"### Published patterns\n(.*?)\n### ", page(), re.DOTALL).group(1).splitlines()
        tests = [re.findall(r"`(\w+)`", row.split(" | ")[-1]) for row in patterns if row.startswith("| ")][1:]
        self.assertGreaterEqual(len(tests), 8)
        for of_row in tests:
            self.assertTrue(of_row and names.issuperset(of_row), of_row)


class Verdict(unittest.TestCase):
    def test_a_cheat_needs_its_own_label(self):
        self.assertEqual(judge.verdict("runtime", "runtime"), "labelled")
        self.assertEqual(judge.verdict("runtime", "correctness"), "MISSED")
        self.assertEqual(judge.verdict("runtime", "correct"), "MISSED")
        self.assertEqual(judge.verdict("runtime", "error"), "MISSED")

    def test_what_cannot_exist_is_correct(self):
        self.assertEqual(judge.verdict("no process", "correct"), "cannot")
        self.assertEqual(judge.verdict("no process", "crash"), "MISSED")
        self.assertEqual(judge.verdict("no sealed", "correctness"), "labelled")

    def test_what_nothing_stops_may_be_found(self):
        self.assertEqual(judge.verdict("open", "correct"), "open")
        self.assertEqual(judge.verdict("open", "correctness"), "labelled")
        self.assertEqual(judge.verdict("open", "constraints"), "MISSED")
        self.assertEqual(judge.verdict("open", "error"), "MISSED")


if __name__ == "__main__":
    unittest.main()
