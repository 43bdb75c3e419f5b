"""fa_coord with the real program: a sweep from a dict, watched, stopped, read into pandas and drawn."""

import os
import shutil
import subprocess
import sys
import unittest
import unittest.mock

import rig
import sweepfile

from fa_coord import Database, ProgramError, Run, Sweep

try:
    import matplotlib
    import pandas
    from fa_coord import plots
except ImportError:
    pandas = None

FRAMES = ("results", "samples", "builds", "cost", "hosts", "verdict", "convergence")


@unittest.skipIf(pandas is None, "pandas is not installed")
class Sweeps(rig.Rig):
    def setUp(self):
        super().setUp()
        environment = {**self.env, "FA_COORD": os.path.join(rig.BIN, "fa-coord"), "MPLCONFIGDIR": self.path("home")}
        patch = unittest.mock.patch.dict(os.environ, environment)
        patch.start()
        self.addCleanup(patch.stop)
        matplotlib.use("Agg")

    def sweep(self, **tunables):
        """A folder with the sources of vector_add, and its sweep file as a dict."""
        folder = self.few(**tunables)
        content = sweepfile.read(folder)
        os.remove(os.path.join(folder, "sweep.json"))
        return folder, Sweep(content)

    def test_a_dict_is_swept_read_and_drawn(self):
        folder, sweep = self.sweep(BLOCK_SIZE=[64, 256])
        sweep["tunables"]["ITEMS"] = range(1, 3)
        lines = []
        with Run(sweep.write(folder), device="cpu") as run:
            self.assertEqual(run.wait(every_s=0.1, show=lines.append), 0)
        self.assertRegex(lines[-1], r"^4/4 measured  4 correct  0 failed")
        db = run.database
        with open(db.path, "rb") as f:
            before = f.read()
        frames = {name: getattr(db, name)() for name in FRAMES}
        results = frames["results"]
        self.assertEqual(sorted(zip(results["BLOCK_SIZE"], results["ITEMS"])),
                         [(64, 1), (64, 2), (256, 1), (256, 2)])
        self.assertTrue((results["outcome"] == "correct").all())
        samples = frames["samples"]
        medians = samples.groupby("key")["seconds"].median()
        for key, median in zip(results["key"], results["median_s"]):
            self.assertAlmostEqual(medians[key], median)
        self.assertEqual(sorted(frames["builds"]["key"]), sorted(results["key"]))
        self.assertTrue((frames["builds"]["seconds"] > 0).all())
        self.assertEqual({name: str(frames[name]["VECTOR"].dtype) for name in ("results", "builds", "convergence")},
                         dict.fromkeys(("results", "builds", "convergence"), "bool"))
        self.assertAlmostEqual(frames["convergence"]["best_s"].iloc[-1], results["median_s"].min())
        self.assertAlmostEqual(frames["cost"]["hours"].sum(), frames["hosts"]["hours"].iloc[0])
        self.assertTrue(frames["cost"]["usd"].isna().all())  # unpriced is not 0
        self.assertEqual(list(frames["verdict"].columns)[0], "shape")
        self.draw(db)
        if db.has_views():
            self.assertEqual(len(db.view_rows("fa_sample")), len(samples))
        with open(db.path, "rb") as f:
            self.assertEqual(f.read(), before)
        self.assertEqual([name for name in os.listdir(folder) if name.endswith(("-wal", "-shm"))], [])

    def draw(self, db):
        """Each plot shows what the tables have, and says that times are emulated."""
        axes = plots.intervals(db)
        labels = [label.get_text() for label in axes.get_yticklabels()]
        self.assertEqual(len(labels), 4)
        self.assertIn("baseline", labels)
        self.assertIn("emulated", axes.get_xlabel())
        axes = plots.convergence(db, x="seconds")
        self.assertEqual([len(line.get_xdata()) for line in axes.get_lines()], [4, 4])
        axes = plots.heat_map(db, "BLOCK_SIZE", "ITEMS")
        self.assertEqual(len(axes.texts), 4)
        axes.figure.savefig(self.path("map.png"))
        with self.assertRaisesRegex(ValueError, "no shape 'x'; there are n5k"):
            plots.heat_map(db, "BLOCK_SIZE", "ITEMS", shape="x")

    def test_a_run_is_stopped_and_can_be_resumed(self):
        folder, sweep = self.sweep(BLOCK_SIZE=[64, 128, 256, 512], ITEMS=list(range(1, 17)))
        with Run(sweep.write(folder), device="cpu") as run:
            rig.until("a configuration is measured", lambda: (run.status() or {"done": 0})["done"] > 0)
            with self.assertRaises(TimeoutError):
                run.wait(timeout_s=0)
            self.assertEqual(run.stop(), 130)
        self.assertEqual(run.stop(), 130)  # as of a sweep that has ended
        self.assertEqual(run.wait(), 130)
        status = run.status()
        self.assertEqual((status["running"], status["ending"]), (False, "interrupted"))
        self.assertLess(status["done"], status["total"])
        self.assertEqual(len(run.database.results().query("outcome == 'correct'")), status["counts"]["correct"])
        with Run(os.path.join(folder, "sweep.json"), device="cpu", evaluations=1, strategy="random", seed=1) as again:
            self.assertEqual(again.wait(), 0)

    def test_a_sweep_is_stopped_when_its_python_ends(self):
        folder, sweep = self.sweep(BLOCK_SIZE=[64, 128, 256, 512], ITEMS=list(range(1, 17)))
        path = sweep.write(folder)
        script = "import rig, sys, fa_coord\nrun = fa_coord.Run(sys.argv[1], device='cpu')\nrig.until('began', run.status)"
        done = subprocess.run([sys.executable, "-c", script, path], stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0)
        status = Database(os.path.join(folder, "vector_add.db")).status()
        self.assertEqual((status["running"], status["ending"]), (False, "interrupted"))

    def test_what_the_program_refuses_is_raised_in_its_words(self):
        folder, sweep = self.sweep()
        wrong = Sweep(sweep, launch={**sweep["launch"], "grid": ["M"]})
        with self.assertRaisesRegex(ProgramError, r"^\S+sweep\.json:\d+:\d+: launch: there is no 'M'") as raised:
            wrong.write(folder)
        self.assertEqual(raised.exception.code, 2)
        path = sweep.write(folder, force=True)
        with self.assertRaisesRegex(ProgramError, "nonsense"):
            Run(path, nonsense=1).wait()
        with self.assertRaisesRegex(ProgramError, "there is no database") as raised:
            Database(self.path("none.db")).results()
        self.assertEqual(raised.exception.code, 7)
        shutil.copy(path, self.path("not.db"))
        with self.assertRaises(ProgramError) as raised:
            Database(self.path("not.db")).builds()
        self.assertEqual(raised.exception.code, 7)


if __name__ == "__main__":
    unittest.main()
