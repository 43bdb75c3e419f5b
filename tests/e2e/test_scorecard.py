"""What users of hyperfine, GNU parallel, Optuna, gh and Kernel Tuner expect of a program: twenty habits, a test each.

All but a few look at one finished sweep of a record, which the first test that needs it makes.
"""

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import landscape
import pseudo_terminal
import rig

BEST = "BX=64 BY_=4 UNROLL=2 MODE=plain"
CONFIGS = 18


class Scorecard(rig.Rig):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.mkdtemp(prefix="fa-score-", dir="/tmp")
        cls.addClassCleanup(shutil.rmtree, cls.kept)

    def setUp(self):
        super().setUp()
        self.env["COLUMNS"] = "80"
        landscape.make(self.path("bowl.json"), xs=(32, 64, 128), ys=(2, 4), unrolls=(1, 2, 8))
        self.terminals = []

    def tearDown(self):
        for terminal in self.terminals:
            terminal.close()
        super().tearDown()

    def coord(self, *args, **how):
        return self.run_coord(self.folder, *args, **how)

    def sweep(self, *args, speed_up=100000, db="x.db", **how):
        return self.coord("sweep", "--device", "replay=bowl.json", "--speed-up", str(speed_up), "--db", db, *args, **how)

    def swept(self):
        """x.db holds a finished and confirmed sweep."""
        kept = os.path.join(self.kept, "x.db")
        if not os.path.exists(kept):
            self.sweep()
            shutil.copy(self.path("x.db"), kept)
        shutil.copy(kept, self.path("x.db"))

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)

    def read(self, name):
        with open(self.path(name)) as f:
            return f.read()

    def on_terminal(self, *args):
        terminal = pseudo_terminal.Terminal([os.path.join(self.bin, "fa-coord"), *args], self.folder, self.env, 80)
        self.terminals.append(terminal)
        return terminal

    # -- before the first sweep

    def test_01_help(self):
        text = self.coord("--help").stdout
        self.assertEqual(text, self.coord("-h").stdout)
        self.assertEqual(text, self.coord("help").stdout)
        bare = self.coord(code=2)
        self.assertEqual((bare.stdout, bare.stderr), ("", text))
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80)
        for command in ("sweep", "resume", "report", "export"):
            self.assertRegex(text, rf"(?m)^  {command} +[a-z]")
        said = self.coord("sweep", "-h").stdout
        self.assertIn("\nexamples:\n  fa-coord sweep", said)
        self.assertIn("--budget USD", said)

    def test_02_version(self):
        said = self.coord("--version").stdout
        self.assertRegex(said, r"^fa-coord \d+\.\d+\.\d+\S*\n$")
        self.assertEqual(said, self.coord("-V").stdout)
        self.assertEqual(said, self.coord("version").stdout)

    def test_03_suggestions(self):
        self.swept()
        for args, near in ((("swep",), "sweep"), (("sweep", "--budgt", "3"), "--budget"),
                           (("export", "--db", "x.db", "--format", "heder"), "header"),
                           (("report", "x.db", "--show", "rankin"), "ranking"),
                           (("sweep", "--device", "replay=bowl.json", "--strategy", "tpee:9"), "tpe"),
                           (("explain", "x.db", "BXX=64"), "BX"), (("export", "--db", "x.db", "--shape", "recordet"), "recorded"),
                           (("report", "x.db", "--where", "medain_s < 1"), "median_s"), (("help", "exprot"), "export")):
            with self.subTest(args):
                self.assertIn(f"did you mean '{near}'?", self.coord(*args, code=2).stderr)

    def test_04_manual(self):
        page = self.coord("help", "sweep", "--man").stdout.replace("\\-", "-")
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES"):
            self.assertIn(f".SH {section}\n", page)
        for flag in re.findall(r"^  (--[a-z-]+)", self.coord("help", "sweep").stdout, re.MULTILINE):
            self.assertIn(flag, page)
        self.assertTrue(self.coord("help", "--man").stdout.startswith(".TH FA\\-COORD 1 "))

    def test_05_completion(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.coord("completion", shell).stdout
            for word in ("sweep", "export", "budget", "nvbench"):
                self.assertIn(word, script, shell)
        script = self.coord("completion", "bash").stdout
        ran = subprocess.run(["bash", "-c", script + '\nCOMP_WORDS=(fa-coord sweep --dev); COMP_CWORD=2\n_fa_coord\necho "${COMPREPLY[@]}"'],
                             cwd=self.folder, capture_output=True, text=True, env=self.env)
        self.assertEqual((ran.stdout, ran.stderr), ("--device\n", ""))

    def test_10_dry_run_with_dollars(self):
        self.assertTrue(self.coord("init", "--template", "reduction", "red").stdout)
        self.write("hosts.txt", "gpu1 rate=2\ngpu2 rate=1 slots=4 gpus=0,1\n")
        args = ("sweep", "red/sweep.json", "--hosts", "hosts.txt", "--budget", "5", "--dry-run")
        said = self.coord(*args)
        self.assertEqual(said.stderr, "")
        self.assertIn("24 pass the gates", said.stdout)
        self.assertIn("host gpu1, $2 an hour", said.stdout)
        self.assertRegex(said.stdout, r"(?m)^cost: \$0\.0\d+ to \$0\.\d+, likely \$0\.0\d+, at \$3 an hour$")
        self.assertRegex(said.stdout, "from: defaults: no build was ever timed.*: 0.1 to 18 s a build.*\n"
                                      "narrower: slots= for gpu1, which may have 2 to 32; and begin: what 3 builds ")
        self.assertIn("stops at $5\n", said.stdout)
        self.assertIn("then a confirmation: at most 70 blocks of 5 samples, the baseline and at most 32 finalists\n", said.stdout)
        plan = json.loads(self.coord(*args, "--json").stdout)
        estimate = plan["estimate"]
        self.assertAlmostEqual(estimate["build_core_s"], 24 * 0.4)
        self.assertAlmostEqual(estimate["measure_gpu_s"], 24 * 0.05)
        low, high = estimate["wall_range_s"]
        self.assertTrue(low < estimate["wall_s"] < high)
        self.assertGreater(high, 4 * low, "defaults are a wide range")
        self.assertAlmostEqual(estimate["usd"], 3 * estimate["wall_s"] / 3600)
        self.assertEqual((estimate["from"], estimate["learnt_from"]), ("defaults", None))
        self.assertEqual(estimate["cheapest"]["hosts"], [{"like": "gpu2", "count": 1}])
        self.assertGreaterEqual(estimate["cheapest"]["wall_s"], estimate["fastest"]["wall_s"])
        self.assertLessEqual(estimate["cheapest"]["usd"], estimate["fastest"]["usd"])
        checked = self.coord("check", "red", "--hosts", "hosts.txt", "--no-build", "--json").stdout
        self.assertEqual(json.loads(checked)["estimate"], estimate)
        self.assertEqual((plan["budget_usd"], plan["max_hours"]), (5, None))
        self.assertEqual([name for name in os.listdir(self.path("red")) if name.endswith(".db")], [], "nothing is made")
        self.write("hosts.txt", "gpu1\n")
        self.assertIn("cost: unknown, because no host has a price",
                      self.coord("sweep", "red/sweep.json", "--hosts", "hosts.txt", "--dry-run").stdout)

    def test_12_config(self):
        path = os.path.join(self.env["HOME"], ".config", "fa-coord", "config")
        os.makedirs(os.path.dirname(path))
        with open(path, "w") as f:
            f.write("# mine\nsweep.budget = 5\nquiet = true\n")
        self.assertEqual(self.coord("config", "--show-origin").stdout, f"{path}:2\tsweep.budget=5\n{path}:3\tquiet=true\n")
        self.env["FA_COORD_BUDGET"] = "7"
        self.assertIn("FA_COORD_BUDGET\tbudget=7", self.coord("config", "--show-origin").stdout)
        self.write("hosts.txt", "localhost rate=1\n")
        self.coord("init", "--template", "reduction", "red")
        args = ("sweep", "red/sweep.json", "--hosts", "hosts.txt", "--dry-run")
        self.assertIn("stops at $7\n", self.coord(*args).stdout)
        self.assertIn("stops at $9\n", self.coord(*args, "--budget", "9").stdout)

    def test_13_doctor(self):
        said = json.loads(self.coord("doctor", "--device", "replay=bowl.json", "--json").stdout)
        self.assertLessEqual({finding["verdict"] for finding in said["findings"]}, {"ok", "note"})
        wrong = self.coord("doctor", "--device", "replay=none.json", code=1).stdout
        self.assertIn("none.json", wrong)
        self.assertIn("No such file", wrong)

    def test_14_init(self):
        said = self.coord("init", "--template", "stencil", "mine").stdout
        self.assertIn("cd mine\n", said)
        self.assertIn("fa-coord check", said)
        checked = self.run_coord(self.path("mine"), "check", "--no-build").stdout
        self.assertIn("sweep.json is fine", checked)
        self.assertRegex(checked, r"pass \d+ gates? for sm_89\n")
        self.assertIn("cost            ask 'fa-coord check --hosts FILE'\n", checked)
        self.assertIn("nothing is overwritten", self.coord("init", "--template", "stencil", "mine", code=2).stderr)
        self.assertIn("'fa-coord init' begins one", self.coord("sweep", code=2).stderr)

    # -- while it runs

    def test_06_live_progress(self):
        landscape.make(self.path("bowl.json"), compile_ms=1000.0)
        self.write("hosts.txt", "localhost rate=3600\n")
        sweep = self.on_terminal("sweep", "--device", "replay=bowl.json", "--db", "x.db", "--hosts", "hosts.txt",
                                 "--budget", "1000")
        for line in (r"^bowl  \[[#-]+\]  \d+ of 264 tried, \d+ %$", r"^best [\d.]+ ms, [\d.]+x baseline: BX=",
                     r", [\d.]+.*-[\d.]+ (s|min) to go; \$[\d.]+ spent, \$[\d.]+-[\d.]+ to come$", r"^  localhost  GPU 0   (measuring|building|idle)"):
            sweep.until(line)
        sweep.type("\x03")
        self.assertEqual(sweep.end(), 130)
        self.assertRegex(re.sub(r"\s+", " ", sweep.look()), r"to continue: fa-coord resume x\.db --budget 1000\b",
                         "what is printed has the same cap")

    def test_07_piped_progress(self):
        ran = self.sweep()
        for text in (ran.stdout, ran.stderr):
            self.assertNotIn("\x1b", text)
            self.assertNotIn("\r", text)
        self.assertRegex(ran.stderr, rf"(?m)^{rig.STAMP}{CONFIGS}/{CONFIGS} tried  {CONFIGS} correct  0 failed  ")
        self.assertNotRegex(ran.stdout, rf"(?m)^{rig.STAMP}")
        self.assertIn("Verdict: ", ran.stdout)
        quiet = self.sweep("--quiet", db="y.db")
        self.assertNotIn("tried", quiet.stderr)
        self.assertIn("Verdict: ", quiet.stdout)

    def test_15_resume(self):
        landscape.make(self.path("bowl.json"), xs=(32, 64, 128), ys=(2, 4), unrolls=(1, 2, 8), compile_ms=20000.0)
        running = self.start(self.folder, "sweep", "--device", "replay=bowl.json", "--speed-up", "20", "--db", "y.db")

        def settled():
            ran = self.coord("status", "y.db", "--json", code=None)
            return json.loads(ran.stdout)["done"] if ran.returncode == 0 else 0

        rig.until("a configuration is settled", settled)
        running.send_signal(signal.SIGKILL)
        running.wait()
        self.assertLess(settled(), CONFIGS)
        self.coord("resume", "y.db", "--speed-up", "100000", "--quiet")
        self.sweep("--quiet")
        columns = ("key", "outcome", "median_s")
        table = {db: sorted(tuple(row[c] for c in columns) for row in csv.DictReader(io.StringIO(self.coord("report", db, "--csv").stdout)))
                 for db in ("x.db", "y.db")}
        self.assertEqual(table["y.db"], table["x.db"], "as if it had not been killed")
        self.assertIn("done; for the results", self.coord("resume", "y.db").stderr)
        os.mkdir(self.path("moved"))
        for name in ("y.db", "bowl.json"):
            os.rename(self.path(name), self.path("moved/" + name))
        self.assertIn(f"the record is not at {self.path('bowl.json')} any more; moved/bowl.json is taken\n",
                      self.coord("resume", "moved/y.db").stderr)

    def test_16_cost_guard(self):
        self.write("hosts.txt", "localhost rate=36000\n")  # ten dollars a second
        capped = self.sweep("--hosts", "hosts.txt", "--budget", "1", speed_up=1, code=6)
        self.assertIn("the budget of $1 is spent", capped.stderr)
        [said] = re.findall(r"(\S+) is spent, and the rest takes .*; to continue, raise the limit with --budget or "
                            r"--max-hours: fa-coord resume x.db --budget (\S+)\n", capped.stderr)
        self.assertGreater(float(said[1]), float(said[0][1:]), "it would end at once")
        self.assertRegex(self.coord("resume", "x.db", "--budget", "1", code=6).stderr, "the budget of .* is spent")
        self.write("hosts.txt", "localhost\n")
        self.assertIn("no host has a price", self.sweep("--hosts", "hosts.txt", "--budget", "1", db="z.db", code=2).stderr)

    # -- after it

    def test_08_colour_rules(self):
        self.swept()

        def coloured(**env):
            self.env.update(env)
            text = self.coord("report", "x.db").stdout
            for name in env:
                del self.env[name]
            return "\x1b[" in text

        self.assertFalse(coloured(), "a pipe")
        self.assertTrue(coloured(CLICOLOR_FORCE="1"))
        self.assertFalse(coloured(CLICOLOR_FORCE="1", NO_COLOR="1"))
        self.assertTrue(coloured(CLICOLOR_FORCE="1", NO_COLOR=""), "an empty NO_COLOR is none")
        self.assertFalse(coloured(CLICOLOR_FORCE="0"))
        report = self.on_terminal("report", "x.db")
        self.assertEqual(report.end(), 0)
        self.assertIn(b"\x1b[", report.sent)
        self.env["NO_COLOR"] = "1"
        report = self.on_terminal("report", "x.db")
        self.assertEqual(report.end(), 0)
        self.assertNotIn(b"\x1b", report.sent)

    def test_09_machine_output(self):
        self.swept()
        shutil.copy(self.path("x.db"), self.path("y.db"))
        for args in (["status", "x.db"], ["report", "x.db"], ["explain", "x.db", "BX=64,BY_=4,UNROLL=2"], ["verify", "x.db"],
                     ["compare", "x.db", "y.db"], ["config"],
                     ["sweep", "--device", "replay=bowl.json", "--dry-run"]):
            with self.subTest(args):
                self.assertIsInstance(json.loads(self.coord(*args, "--json").stdout), (dict, list))
        report = self.report(self.folder, "x.db")
        rows = list(csv.DictReader(io.StringIO(self.coord("report", "x.db", "--csv").stdout)))
        self.assertEqual(len(rows), CONFIGS)
        self.assertEqual({row["key"]: f"{float(row['median_s']):.6e}" for row in rows},
                         {row["key"]: f"{row['shapes'][0]['median_s']:.6e}" for row in report["results"]})

    def test_11_exit_codes(self):
        self.swept()
        self.write("none.db", "this is text\n")
        self.write("far.txt", "nobody@127.0.0.1:1\n")
        expected = {
            0: ("report", "x.db"),
            1: ("export", "--db", "x.db", "--out", "/dev/full", "--force"),
            2: ("report", "x.db", "--where", "SELECT"),
            3: ("sweep", "--device", "replay=bowl.json", "--hosts", "far.txt", "--db", "h.db"),
            6: ("sweep", "--device", "replay=bowl.json", "--max-hours", "1e-6", "--db", "c.db"),
            7: ("report", "none.db"),
        }
        listed = self.coord("--help").stdout
        for code, args in expected.items():
            with self.subTest(args):
                said = self.coord(*args, code=code)
                self.assertRegex(listed, rf"(?m)^  {code} +\w")
                self.assertEqual(bool(said.stderr), code != 0)
        ran = subprocess.run(f"{self.bin}/fa-coord report x.db >/dev/full", shell=True, cwd=self.folder, env=self.env,
                             capture_output=True, text=True)
        self.assertNotEqual(ran.returncode, 0, "lost output is no success")
        self.assertIn("No space left", ran.stderr)

    def test_17_status(self):
        self.swept()
        text = self.coord("status", "x.db").stdout
        self.assertIn("not running; the last run ended: done", text)
        self.assertIn(f"{CONFIGS} of {CONFIGS} configurations tried: {CONFIGS} correct, 0 failed", text)
        status = json.loads(self.coord("status", "x.db", "--json").stdout)
        self.assertEqual((status["running"], status["asked"], status["tried"], status["correct"]), (False, CONFIGS, CONFIGS, CONFIGS))

    def test_17_a_section_without_content_says_what_there_is(self):
        self.swept()
        said = self.coord("report", "x.db", "--show", "failures")
        self.assertEqual(said.stdout, "")
        self.assertRegex(said.stderr, r"^the report has nothing under failures; it has ranking, confirmation, ")

    def test_18_export(self):
        self.swept()
        self.coord("export", "--db", "x.db", "--out", "tuned.h")
        self.assertIn(BEST, self.read("tuned.h"))
        self.write("use.c", '#include "tuned.h"\nint main(void) { return BOWL_BX == 64 && BOWL_UNROLL == 2 ? 0 : 1; }\n')
        subprocess.run(["cc", "-Wall", "-Werror", "-o", self.path("use"), self.path("use.c")], check=True)
        subprocess.run([self.path("use")], check=True)
        self.assertIn("'tuned.h' exists already; --force overwrites it",
                      self.coord("export", "--db", "x.db", "--out", "tuned.h", code=2).stderr)
        self.coord("export", "--db", "x.db", "--out", "tuned.h", "--force")
        self.assertIn("-DBX=64", self.coord("export", "--db", "x.db", "--format", "flags").stdout)
        self.assertEqual(json.loads(self.coord("export", "--db", "x.db", "--format", "json").stdout)["config"]["BX"], 64)

    def test_19_page(self):
        self.swept()
        self.coord("report", "x.db", "--html", "x.html")
        text = self.read("x.html")
        self.assertLess(len(text), 900_000)
        self.assertIn("default-src 'none'", text)
        self.assertNotRegex(text, r"<(link|img|iframe)\b|<script[^>]* src=")
        for words in ("<svg", "1.399x the baseline", "confirmed on 1 GPU"):
            self.assertIn(words, text)

    def test_20_trace(self):
        self.swept()
        trace = json.loads(self.coord("export", "--db", "x.db", "--format", "trace").stdout)
        spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        self.assertGreaterEqual(sum(event["cat"] == "build" for event in spans), CONFIGS)
        self.assertGreaterEqual(sum(event["cat"] == "measure" for event in spans), CONFIGS)
        self.assertTrue(all(event["dur"] >= 0 and event["ts"] >= 0 for event in spans))


if __name__ == "__main__":
    unittest.main()
