"""One sweep over hosts of two GPU models: each has its own space, database and verdict, and there is one answer."""

import json
import os
import re
import signal
import sqlite3
import unittest

import landscape
import rig
import sweepfile

FAST = "100000"
LABELS = "old", "new"


def new_time(bx, by, unroll):
    """The bottom is at 16, 4, 2 instead of 64, 4, 2."""
    return landscape.time_ms(4 * bx, by, unroll) / 2


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class GpuModels(rig.Rig):
    def setUp(self):
        super().setUp()
        self.far = self.sshd()
        self.with_runner(self.path("w"))

    def two_models(self, old="rate=1", new="rate=3"):
        return self.hosts(f"localhost model=old {old}", self.far.line(f"model=new workdir={self.path('w')} {new}"))

    def records(self, compile_ms=400.0):
        """The second one has no BY=8: other configurations pass there."""
        landscape.make(self.path("old.json"), xs=(16, 32, 64, 128), ys=(2, 4, 8), unrolls=(1, 2),
                       compile_ms=compile_ms)
        landscape.make(self.path("new.json"), xs=(16, 32, 64, 128), ys=(2, 4), unrolls=(1, 2), compile_ms=compile_ms,
                       time_of=new_time)

    def sweep_args(self, *more, speed_up=FAST):
        return ("sweep", "--device", "replay={model}.json", "--speed-up", speed_up, "--hosts", "hosts.txt",
                "--db", "x.db", *more)

    def done_with(self, label, count):
        report = json.loads(self.run_coord(self.folder, "report", "--json", f"x.{label}.db").stdout)
        self.assertEqual(len(report["results"]), count)
        self.run_coord(self.folder, "verify", f"x.{label}.db")
        return report

    def settled_of(self, label):
        try:
            db = sqlite3.connect(f"file:{self.path(f'x.{label}.db')}?mode=ro", uri=True, timeout=10)
            try:
                return db.execute("SELECT count(*) FROM outcome").fetchone()[0]
            finally:
                db.close()
        except sqlite3.Error:  # it is not there yet
            return 0

    def coordinators(self):
        return [p for p in self.processes() if p[1].split(" ")[0].endswith("/fa-coord")]

    def test_each_model_has_its_own_winner_and_there_is_one_answer(self):
        self.records()
        self.two_models()
        said = self.run_coord(self.folder, *self.sweep_args("--json", "--budget", "8"))
        self.assertRegex(said.stderr, r"(?m)^" + rig.STAMP + "old: ")
        self.assertIn("old: $2 of the budget of $8", said.stderr)
        self.assertIn("new: $6 of the budget of $8", said.stderr)
        self.assertIn("run: fa-coord report x.old.db x.new.db", said.stderr)
        # both were recorded on one
        alike = rf"model=\w+ \(\S+\) and model=\w+ \(\S+\) are the same model, Test GPU 9000 \(recorded\): "
        self.assertEqual(len(re.findall(f"(?m)^warning: {alike}", said.stderr)), 1)
        self.done_with("old", 24)
        self.done_with("new", 16)
        answer = json.loads(said.stdout)
        self.assertEqual([run["exit_code"] for run in answer["runs"]], [0, 0])
        self.assertEqual([run["output"]["verdict"]["state"] for run in answer["runs"]], ["done", "done"])
        old, new = answer["models"]
        self.assertEqual((old["winner"]["config"]["BX"], new["winner"]["config"]["BX"]), (64, 16))
        self.assertEqual(old["winner"]["cost"]["old"], 0)
        self.assertAlmostEqual(old["winner"]["cost"]["new"], 0.4, 2)
        self.assertAlmostEqual(new["winner"]["cost"]["old"], 0.4, 2)
        self.assertEqual(answer["best_for_all"]["config"]["BX"], 32)
        self.assertAlmostEqual(max(answer["best_for_all"]["cost"].values()), 0.2, 2)
        self.assertRegex(answer["answer"], r"^old: BX=64 .*x; new: BX=16 .*x; BX=32 .* on both costs 20 % on ")

        with self.subTest("the commands that name no database speak of both"):
            report = json.loads(self.run_coord(self.folder, "report", "--json").stdout)
            self.assertEqual({m["model"]: m["winner"] for m in report["models"]},
                             {m["model"]: m["winner"] for m in answer["models"]})
            text = self.run_coord(self.folder, "report", "x.old.db", "x.new.db").stdout
            self.assertIn(answer["answer"], text)
            self.assertRegex(text, r"\+0\.0 % +\+40\.\d % +BX=64 ")
            status = json.loads(self.run_coord(self.folder, "status", "--json").stdout)
            self.assertEqual([run["output"]["running"] for run in status["runs"]], [False, False])
            self.assertIn("every machine is released", self.run_coord(self.folder, "release", "--dry-run").stdout)
            refused = self.run_coord(self.folder, "export", code=2).stderr
            self.assertIn("one of x.new.db, x.old.db", refused)
            refused = self.run_coord(self.folder, "report", "--csv", code=2).stderr
            self.assertIn("name one database", refused)
        with self.subTest("one that cannot be read is an error, and the other is shown"):
            ran = self.run_coord(self.folder, "report", "x.old.db", "x.lost.db", code=7)
            self.assertIn("there is no database x.lost.db", ran.stderr)
            self.assertIn("BX=64", ran.stdout)
        with self.subTest("a database of one model takes no hosts of another"):
            refused = self.run_coord(self.folder, "resume", "x.old.db", "--hosts", "hosts.txt", code=2).stderr
            self.assertIn("write --hosts hosts.txt#old for those with model=old", refused)
            self.run_coord(self.folder, "resume", "x.old.db", "--hosts", "hosts.txt#old", "--speed-up", FAST)
            refused = self.run_coord(self.folder, "resume", "x.old.db", "--hosts", "hosts.txt#elder", code=2).stderr
            self.assertIn("no host has model=elder; the file has old, new", refused)

    def spent(self, label):
        """By the ledger, in US dollars."""
        db = sqlite3.connect(f"file:{self.path(f'x.{label}.db')}?mode=ro", uri=True)
        try:
            return db.execute("SELECT sum((end_ns - start_ns) / 3.6e12 * rate_usd_per_h) FROM held").fetchone()[0]
        finally:
            db.close()

    def test_what_one_model_leaves_of_the_budget_the_other_may_spend(self):
        """The old one has ten times the share of the new one, and ends at once: with its confirmation, or because it keeps
        more back for that than it takes.  The second configuration of the new one is built after that."""
        self.records(compile_ms=40)
        landscape.make(self.path("new.json"), xs=(16, 32), ys=(2, 4), unrolls=(1, 2), compile_ms=20000,
                       time_of=new_time)
        slow = rig.PATIENCE  # what a machine takes longer costs as much less
        self.two_models(old=f"rate={36000 / slow:.0f}", new=f"rate={3600 / slow:.0f} slots=1")
        coord = self.start(self.folder, *self.sweep_args("--budget", "220", speed_up=f"{5 / slow:.2f}"))
        self.assertIn(coord.wait(240), (0, 5), self.stderr())
        said = self.stderr()
        self.assertIn("new: $20 of the budget of $220", said)
        [(spent, more)] = re.findall(r"(?m)^old has spent \$([0-9.]+) of its \$200: new gets \$([0-9.]+) more$", said)
        self.assertAlmostEqual(float(spent) + float(more), 200, delta=0.1)
        self.assertAlmostEqual(self.spent("old"), float(spent), delta=0.1)
        self.done_with("new", 8)
        self.assertGreater(self.spent("new"), 20)
        self.assertLess(self.spent("old") + self.spent("new"), 220)

        with self.subTest("the next command knows what was spent"):
            before = self.spent("new")
            coord = self.start(self.folder, "resume", "--budget", "220", "--speed-up", "5")
            self.assertIn(coord.wait(240), (0, 5), self.stderr())
            self.assertIn(f"new: ${before:.4g} of the budget of $220", self.stderr())
            self.assertLess(self.spent("old") + self.spent("new"), 220)

    def test_a_model_whose_hosts_are_lost_leaves_the_other_its_verdict(self):
        self.records()
        self.two_models()
        self.far.stop()
        said = self.run_coord(self.folder, *self.sweep_args("--json"), code=5)
        answer = json.loads(said.stdout)
        self.assertEqual([run["exit_code"] for run in answer["runs"]], [0, 3])
        old, new = answer["models"]
        self.assertEqual(old["state"], "confirmed")
        self.assertEqual((new["winner"], answer["best_for_all"]), (None, None))
        self.assertRegex(answer["answer"], "^old: BX=64 .*; new: no winner; no configuration has times on both$")
        self.assertIn("run the same command again", said.stderr)

    def test_killed_and_interrupted_sweeps_of_all_models_resume(self):
        self.records(compile_ms=4000)
        self.two_models(old="rate=1 slots=1", new="rate=3 slots=1")
        for ending, code in (signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130):
            before = {label: self.settled_of(label) for label in LABELS}
            parent = self.start(self.folder, *self.sweep_args(speed_up="5"))
            rig.until("both have new results", lambda: all(self.settled_of(label) > before[label] for label in LABELS))
            parent.send_signal(ending)
            self.assertEqual(parent.wait(60), code, self.stderr())
            rig.until("no coordinator is left", lambda: not self.coordinators())
        self.assertIn("run the same command again", self.stderr())
        resumed = self.run_coord(self.folder, "resume", "--speed-up", FAST, "--budget", "8")
        self.assertIn("old: $2 of the budget of $8", resumed.stderr)
        self.done_with("old", 24)
        self.done_with("new", 16)
        report = json.loads(self.run_coord(self.folder, "report", "--json").stdout)
        self.assertEqual([m["state"] for m in report["models"]], ["confirmed", "confirmed"])

    def test_gates_are_those_of_each_model_and_a_plan_shows_both(self):
        folder = self.few()
        sweep = sweepfile.read(folder)
        sweep["gates"] = [{"name": "big", "reject": "arch >= 90 AND BLOCK_SIZE < 256", "why": "the new one is big"}]
        sweepfile.write(folder, sweep)
        with open(os.path.join(folder, "hosts.txt"), "w") as f:
            f.write("localhost model=sm_80\n" + self.far.line(f"model=sm_90 workdir={self.path('w')}") + "\n")
        args = "sweep", "--device", "cpu", "--arch", "{model}", "--hosts", "hosts.txt", "--json"
        plan = json.loads(self.run_coord(folder, *args, "--dry-run").stdout)
        self.assertEqual([(run["output"]["arch"], run["output"]["passed"]) for run in plan["runs"]],
                         [("sm_80", 4), ("sm_90", 2)])
        self.assertEqual([n for n in os.listdir(folder) if n.endswith(".db")], [])
        answer = json.loads(self.run_coord(folder, *args).stdout)
        self.assertEqual([m["correct"] for m in answer["models"]], [4, 2])
        self.assertEqual(answer["answer"], "sm_80: no winner; sm_90: no winner; emulated times are not compared")

    def test_bad_input_is_said_once_and_starts_nothing(self):
        self.records()
        self.two_models()
        for lines, args, text in (
                (["localhost model=a", "gpu7"], (), "hosts.txt:2: host 'gpu7' measures and has no model="),
                (["localhost model=old", "gpu7 model=new role=gpu"], (), "hosts.txt#new: no host can build"),
                (["localhost model=old", "gpu7 model=new"], ("--listen", "10.0.0.5:70"), "leave out the port"),
                (["localhost model=a", "gpu7 model=b"], (), "a.json")):
            self.hosts(*lines)
            said = self.run_coord(self.folder, *self.sweep_args(*args), code=2)
            self.assertIn(text, said.stderr)
            self.assertEqual(len(said.stderr.splitlines()), 1, said.stderr)


if __name__ == "__main__":
    unittest.main()
