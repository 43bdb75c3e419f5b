"""What a user sees while a sweep runs, on terminals and in pipes."""

import json
import os
import re
import signal
import termios
import unittest

import landscape
import pseudo_terminal
import rig

BEST = r"^best [\d.]+ ms, [\d.]+x baseline: BX=\d+ BY_=\d+ UNROLL=\d+ MODE=plain$"


class Live(rig.Rig):
    def setUp(self):
        super().setUp()
        self.terminals = []

    def tearDown(self):
        for terminal in self.terminals:
            terminal.close()
        super().tearDown()

    def record(self, **how):
        landscape.make(self.path("bowl.json"), **how)
        self.run_coord(self.folder, "import", "bowl.json", "--sweep", "plain.json")
        with open(self.path("plain.json")) as f:
            text = f.read()
        with open(self.path("plain.json"), "w") as f:
            f.write(text.replace('"measure":', '"confirm": false,\n"measure":', 1))

    def args(self, speed_up):
        return ["sweep", "plain.json", "--device", "replay=bowl.json", "--speed-up", str(speed_up), "--db", "x.db"]

    def on_terminal(self, *args, columns=80):
        terminal = pseudo_terminal.Terminal([os.path.join(self.bin, "fa-coord"), *args], self.folder, self.env, columns)
        self.terminals.append(terminal)
        return terminal

    def assert_clean(self, terminal):
        """The cursor was never hidden, and the terminal reads lines as before."""
        self.assertNotIn(b"\x1b[?", terminal.sent)
        self.assertEqual(termios.tcgetattr(terminal.fd), terminal.modes)
        self.assertNotIn("GPU 0", terminal.look(), "the lanes are gone")

    def test_a_sweep_and_a_second_terminal(self):
        self.record(compile_ms=1000.0)
        sweep = self.on_terminal(*self.args(1))
        sweep.until(r"^bowl  \[.{20}\]  \d+ of 264 tried, \d+ %$")
        sweep.until(r"^  localhost  GPU 0   \S")
        sweep.until(BEST)
        watch = self.on_terminal("watch", "x.db", "--interval", "0.2")
        with self.subTest("a second terminal shows the same"):
            watch.until(r"^bowl  \[.{20}\]  \d+ of 264 tried, \d+ %$")
            watch.until(BEST)
            watch.until(r"^  localhost  GPU 0   (idle|measuring|building)")
            self.assertIn("1 of 1 host ready", watch.look())
        with self.subTest("after a resize, lines fit"):
            sweep.resize(40, 12)
            text = sweep.until(r"^bowl  \[.{10}\]")
            self.assertLess(max(map(len, text.split("\n"))), 40)
        with self.subTest("Ctrl-C leaves a clean screen"):
            sweep.type("\x03")
            self.assertEqual(sweep.end(), 130)
            self.assert_clean(sweep)
            text = sweep.look()
            self.assertIn("stopping", text)
            self.assertRegex(text, r"nothing is lost; to continue:")
            self.assertEqual(len(re.findall(r"of 264 tried", text)), 1)
        with self.subTest("watch ends with the sweep, and says its answer"):
            self.assertEqual(watch.end(), 0)
            self.assert_clean(watch)
            self.assertRegex(watch.look(), r"(?m)^Answer  ")
            self.assertIn("the last run ended: interrupted; to continue: fa-coord resume x.db", watch.look())
        with self.subTest("kill -TERM leaves one, too; a terminal that can nothing else gets lines"):
            rig.until("the worker has ended", lambda: not self.workers())
            self.env["NO_COLOR"] = "1"
            again = self.on_terminal("resume", "x.db", columns=200)
            again.until(rf"^{rig.STAMP}localhost: ready")
            os.kill(again.pid, signal.SIGTERM)
            self.assertEqual(again.end(), 143)
            self.assertNotIn(b"\x1b", again.sent)
            self.assertRegex(again.look(), rf"(?m)^{rig.STAMP}\d+/264 tried  \d+ correct  \d+ failed  ")

    def test_all_commands_count_alike(self):
        self.record(xs=(1, 32, 1024), ys=(1, 4), compile_ms=10.0)
        ran = self.run_coord(self.folder, *self.args(100000))
        [line] = re.findall(rf"(?m)^{rig.STAMP}(.* tried .*)\n(?!.* tried )", ran.stderr)[-1:]
        tried, asked, correct, failed = map(int, re.match(r"(\d+)/(\d+) tried  (\d+) correct  (\d+) failed", line).groups())
        status = json.loads(self.run_coord(self.folder, "status", "--json", "x.db").stdout)
        self.assertEqual((status["tried"], status["asked"], status["correct"]), (tried, asked, correct))
        self.assertEqual((status["done"], status["total"]), (tried, asked))
        report = self.report(self.folder, "x.db")
        self.assertEqual((report["search"]["tried"], report["asked"], report["counts"]["correct"]), (tried, asked, correct))
        self.assertEqual((asked, tried, failed > 0), (24, 24, True))
        self.assertEqual(status["counts"], report["counts"])
        watched = self.run_coord(self.folder, "watch", "x.db")
        self.assertRegex(watched.stderr, rf"\A{rig.STAMP}{tried}/{asked} tried  {correct} correct  {failed} failed  best .*\n\Z")
        self.assertRegex(watched.stdout, r"\AAnswer    The fastest is ")
        self.assertIn(watched.stdout, self.run_coord(self.folder, "report", "x.db").stdout)
        self.assertIn("--interval=0: choose 0.1 to 3600 seconds",
                      self.run_coord(self.folder, "watch", "x.db", "--interval", "0", code=2).stderr)


if __name__ == "__main__":
    unittest.main()
