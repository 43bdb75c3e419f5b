"""The table of experiments is complete, its tests and programs exist, and figures are read as they are printed."""

import glob
import os
import re
import subprocess
import unittest

import experiments
import figures
import run

BUILD = os.path.dirname(os.environ["FA_BIN_DIR"])
LABELS = [f"F{n}" for n in range(1, 35)]


def module(name):
    """The source of a module of tests/fault or tests/e2e."""
    [path] = [path for folder in ("fault", "e2e")
              for path in glob.glob(os.path.join(run.ROOT, "tests", folder, f"{name}.py"))]
    with open(path) as f:
        return f.read()


class Table(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = experiments.read()
        cls.tests = run.names(BUILD)

    def test_every_experiment_is_there_once_and_in_order(self):
        self.assertEqual([e.label for e in self.table], LABELS)

    def test_every_short_form_is_a_test_of_ctest_or_says_why_there_is_none(self):
        for e in self.table:
            self.assertEqual([name for name in e.short if name not in self.tests], [], e.label)
            self.assertTrue(e.short or len(e.why_none) > 20, e.label)

    def test_no_short_form_is_slow(self):
        slow = subprocess.run(["ctest", "--test-dir", BUILD, "-N", "-L", "slow"], capture_output=True, text=True, check=True)
        slow = re.findall(r"Test +#\d+: (\S+)", slow.stdout)
        for e in self.table:
            self.assertEqual([name for name in e.short if name in slow], [], e.label)

    def test_what_the_long_forms_run_exists(self):
        for e in self.table:
            for command in e.long:
                if command.program == "ctest":
                    self.assertEqual([name for name in command.arguments if name not in self.tests], [], e.label)
                elif command.program == "unittest":
                    for name in command.arguments:
                        of, *parts = name.split(".")
                        for part in parts:
                            self.assertRegex(module(of), rf"(?m)^ *(class|def) {part}\b", e.label)
                        module(of)

    def test_the_page_has_each_invariant_and_cites_files_that_exist(self):
        with open(run.PAGE) as f:
            page = f.read()
        self.assertEqual(re.findall(r"(?m)^\| (I\d+) \|", page), [f"I{n}" for n in range(1, 11)])
        cited = re.findall(r"`((?:tests|coordinator|worker|common)/[\w./]+)`", page)
        self.assertEqual([name for name in cited if not os.path.exists(os.path.join(run.ROOT, name))], [])

    def test_the_page_has_a_row_for_each_experiment(self):
        with open(run.PAGE) as f:
            page = f.read()
        rows = re.findall(r"(?m)^\| (F\d+) \|", page.split(run.BEGIN)[0])
        self.assertEqual(rows, LABELS)
        self.assertLess(page.index(run.BEGIN), page.index(run.END))

    def test_the_page_names_no_test_that_is_not_there(self):
        with open(run.PAGE) as f:
            named = re.findall(r"`((?:e2e|fault|simulation)\.\w+)`", f.read())
        self.assertEqual([name for name in named if name not in self.tests], [])


class Rows(unittest.TestCase):
    def test_a_command_may_have_settings(self):
        self.assertEqual(experiments.command("A=1 B=2 unittest x.Y z"),
                         experiments.Command({"A": "1", "B": "2"}, "unittest", ["x.Y", "z"]))
        with self.assertRaisesRegex(ValueError, "'make all' begins with none of ctest"):
            experiments.command("make all")

    def test_a_row_may_have_no_short_form_and_two_commands(self):
        e = experiments.parse("F1 | what | - the reason | ctest a; simulate --seeds 1..2")
        self.assertEqual((e.short, e.why_none, len(e.long)), ([], "the reason", 2))


class Figures(unittest.TestCase):
    def check(self, output, repetitions, passed, text="longest run 7 s", succeeded=True):
        found = figures.read(output, 7.2, succeeded)
        self.assertEqual((found.repetitions, found.passed, str(found)), (repetitions, passed, text))

    def test_cases_of_unittest(self):
        self.check("....\nRan 4 tests in 1.2s\n\nOK\n", 4, 4)
        self.check("Ran 4 tests in 1.2s\n\nOK (skipped=1)\n", 3, 3)
        self.check("Ran 4 tests in 1.2s\n\nFAILED (failures=1, errors=2)\n", 4, 1, succeeded=False)

    def test_cases_of_cmocka(self):
        self.check("[==========] tests: 3 test(s) run.\n[  PASSED  ] 3 test(s).\n", 3, 3)
        self.check("[  PASSED  ] 2 test(s).\n[  FAILED  ] tests: 1 test(s), listed below:\n[  FAILED  ] a_b\n", 3, 2,
                   succeeded=False)

    def test_seeds(self):
        self.check("0 of 1000 seeds with findings\n", 1000, 1000)
        self.check("seed 4 (race): I1: x\n2 of 50 seeds with findings\n", 50, 48, succeeded=False)

    def test_inputs_of_a_fuzz_target(self):
        self.check("#2 INITED\nDone 314159 runs in 11 second(s)\n", 314159, 314159)

    def test_repetitions_and_the_worst_of_each_figure(self):
        self.check("repetitions: 20\nfigure: the end: 3.5 s\nfigure: lost: 0 times\nfigure: the end: 2 s\nRan 1 test in 1s\n",
                   20, 20, "lost 0 times; the end 3.5 s")

    def test_a_program_that_dies_has_not_passed(self):
        self.check("Segmentation fault\n", 1, 0, succeeded=False)
        self.check("[  PASSED  ] 3 test(s).\n", 3, 0, succeeded=False)

    def test_sums(self):
        total = figures.Figures()
        total.add(figures.read("Ran 2 tests in 1s\nfigure: x: 2 s\n", 1, True))
        total.add(figures.read("Ran 3 tests in 1s\nfigure: x: 1 s\n", 4, True))
        self.assertEqual((total.repetitions, total.passed, total.longest_s, str(total)), (5, 5, 4, "x 2 s"))


class Page(unittest.TestCase):
    page = f"# Title\n\n{run.BEGIN}\n{run.END}\nafter\n"

    def row(self, label, n):
        return run.row(label, figures.Figures(n, n, {}, 1.0), f"deploy/chaos.sh --long {label}", "2026-01-02")

    def test_rows_are_put_between_the_markers(self):
        page = run.rewrite(self.page, [self.row("F10", 1000), self.row("F9", 3)], "a CPU, 2 cores")
        self.assertEqual(page, "\n".join([
            "# Title", "", run.BEGIN, "Machine: a CPU, 2 cores.", "", *run.HEADING,
            "| F9 | 3 | 3 | longest run 1 s | `deploy/chaos.sh --long F9` | 2026-01-02 |",
            "| F10 | 1,000 | 1,000 | longest run 1 s | `deploy/chaos.sh --long F10` | 2026-01-02 |", run.END, "after", ""]))

    def test_other_rows_stay_if_they_are_of_the_same_machine(self):
        page = run.rewrite(self.page, [self.row("F1", 1), self.row("F2", 2)], "a CPU")
        again = run.rewrite(page, [self.row("F2", 7)], "a CPU")
        self.assertIn("| F1 | 1 |", again)
        self.assertIn("| F2 | 7 |", again)
        self.assertNotIn("| F2 | 2 |", again)
        self.assertNotIn("| F1 |", run.rewrite(page, [self.row("F2", 7)], "another CPU"))


if __name__ == "__main__":
    unittest.main()
