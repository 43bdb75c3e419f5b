"""Whole sweeps on a recorded landscape: coordinator, worker, runner and database are the real ones."""

import json
import os
import signal
import sqlite3
import statistics
import time
import unittest

import landscape
import rig
import sweepfile

FAST = "100000"


class Replay(rig.Rig):
    def sweep(self, *args, file="bowl.json", speed_up=FAST, code=0):
        return self.run_coord(self.folder, "sweep", "--device", f"replay={file}", "--speed-up", speed_up,
                              "--db", "x.db", *args, code=code)

    def unconfirmed(self, *args, **how):
        """Only the screening, with the record's own sweep file."""
        self.run_coord(self.folder, "import", how.get("file", "bowl.json"), "--sweep", "plain.json")
        with open(self.path("plain.json")) as f:
            text = f.read()
        with open(self.path("plain.json"), "w") as f:
            f.write(text.replace('"measure":', '"confirm": false,\n"measure":', 1))
        ran = self.sweep("plain.json", *args, **how)
        os.remove(self.path("plain.json"))
        return ran

    def rows(self, sql, *args):
        return self.query(self.folder, sql, *args)

    def outcomes(self):
        return dict(self.rows("SELECT outcome, count(*) FROM outcome GROUP BY 1"))

    def times(self, purpose="screen"):
        """Samples of each configuration, by its tunables."""
        rows = self.rows("SELECT c.params, r.samples FROM result r JOIN config c ON c.key = r.config "
                         "WHERE r.purpose = ? AND r.outcome = 'correct' AND r.counted = 1", purpose)
        return {tuple(json.loads(params).values()): json.loads(samples) for params, samples in rows}

    def test_a_landscape_is_swept_and_failures_keep_their_words(self):
        # hours, as recorded, and every word
        cache = landscape.make(self.path("bowl.json"), xs=(1, 32, 1024), ys=(1, 4), compile_ms=600000.0)
        began = time.monotonic()
        ran = self.sweep()
        self.assertLess(time.monotonic() - began, 300, "hours at high speed-up do not take hours")
        self.assertEqual(self.outcomes(), landscape.words(cache))
        self.assertIn("recorded on Test GPU 9000", ran.stderr)
        report = self.report(self.folder, "x.db")
        self.assertEqual(report["device"], "replay")
        self.assertEqual(report["recorded_on"], "Test GPU 9000")
        text = self.run_coord(self.folder, "report", "x.db").stdout
        self.assertIn("The times were recorded on Test GPU 9000", text)
        self.assert_invariants(self.folder)
        with self.subTest("asked for again, it uses no host, and says the same"):
            rig.until("the worker has ended", lambda: not self.workers())
            unreachable = self.hosts("127.0.0.1:9")
            for again in self.sweep(), self.sweep("--hosts", unreachable), self.run_coord(self.folder, "resume", "x.db"):
                self.assertIn("nothing is left to do: no host is used", again.stderr)
                self.assertEqual(again.stdout, ran.stdout)
            self.assertEqual(self.report(self.folder, "x.db")["cost"], report["cost"])
            self.assertEqual(self.run_coord(self.folder, "report", "x.db").stdout, text)

    def test_samples_are_the_recorded_ones_whatever_the_speed_up(self):
        cache = landscape.make(self.path("bowl.json"), xs=(32, 64), ys=(2, 4), unrolls=(1, 2))
        self.unconfirmed(speed_up="1000")
        measured = self.times()
        self.assertEqual(len(measured), 8)
        for (bx, by, unroll, _), samples in measured.items():
            recorded = {round(t * 1e-3, 12) for t in cache[f"{bx},{by},{unroll}"]["times"]}
            self.assertLessEqual({round(s, 12) for s in samples}, recorded)
            self.assertEqual(len(set(samples)), len(samples), "each once before any comes again")
        builds = self.rows("SELECT DISTINCT round(seconds, 6) FROM build WHERE purpose = 'kernel'")
        self.assertEqual(builds, [(0.4,)])
        os.rename(self.path("x.db"), self.path("first.kept"))
        self.unconfirmed()
        self.assertEqual(self.times(), measured)

    def test_a_file_whose_writer_crashed_is_replayed_as_far_as_it_goes(self):
        landscape.make(self.path("bowl.json"), xs=(32, 64), ys=(4,), unrolls=(2,), closed=False)
        ran = self.unconfirmed()
        self.assertIn("ends before its last brace", ran.stderr)
        self.assertEqual(self.outcomes(), {"correct": 2})

    def test_a_killed_coordinator_resumes_to_the_same_table(self):
        cache = landscape.make(self.path("bowl.json"), xs=(16, 32, 64, 128, 256), ys=(1, 2, 4, 8), compile_ms=4000)
        coord = self.start(self.folder, "sweep", "--device", "replay=bowl.json", "--speed-up", "200", "--db", "x.db")
        rig.until("some are settled", lambda: self.settled(self.folder) > 10)
        coord.send_signal(signal.SIGKILL)
        coord.wait()
        settled = self.settled(self.folder)
        self.assertLess(settled, len(cache))
        self.run_coord(self.folder, "resume", "--speed-up", FAST, "x.db")
        self.assertEqual(self.outcomes(), landscape.words(cache))
        self.assert_invariants(self.folder)

    def stop_with_a_new_result(self, coord, results):
        """Stop it, for good, when its worker still has a lease: that result comes and is not acknowledged."""
        for _ in range(20):
            coord.send_signal(signal.SIGSTOP)
            before, settled = results(), self.settled(self.folder)
            try:
                rig.until("a result that nobody acknowledged", lambda: results() > before, 3)
                return
            except AssertionError:  # all results were there: it gives out more
                coord.send_signal(signal.SIGCONT)
            rig.until("more are settled", lambda: self.settled(self.folder) > settled)
        self.fail("its worker never had a lease when it was stopped")

    def test_results_that_another_sweep_waits_for_are_left_to_it(self):
        cache = landscape.make(self.path("bowl.json"), xs=(16, 32, 64, 128), ys=(1, 2, 4, 8), compile_ms=4000,
                               time_of=lambda *at: 2000 * landscape.time_ms(*at))
        journal = os.path.join(self.workdir, "journal")

        def results():
            """Measurements in the worker's journal; acknowledged ones are removed later."""
            with open(journal, "rb") as f:
                return f.read().count(b"MEASURED")

        coord = self.start(self.folder, "sweep", "--device", "replay=bowl.json", "--speed-up", "200", "--db", "x.db",
                           "--linger", "1")
        rig.until("some are settled", lambda: self.settled(self.folder) > 3)
        self.stop_with_a_new_result(coord, results)
        coord.send_signal(signal.SIGKILL)
        coord.wait()
        other = self.kernel("vector_add")
        sweep = sweepfile.read(other)
        sweep["tunables"] = {"BLOCK_SIZE": [256], "ITEMS": [1], "VECTOR": [False]}
        sweepfile.write(other, sweep)
        ran = self.run_coord(other, "sweep", "--device", "cpu", "--log", self.path("log"))
        self.assertRegex(ran.stderr, rf"(?m)^{rig.STAMP}localhost: its worker waits for another sweep: \w+@[^,]+, pid {coord.pid}, "
                         rf"{self.path('x.db')}, since [^,;]+; it is free in at most \d+ s; waiting$")
        self.assertEqual(ran.stderr.count("; waiting"), 1, "said once")
        with open(self.path("log")) as f:
            log = f.read()
        self.assertIn("RESULT-FOREIGN host=localhost", log)
        self.assertNotIn("HOST-BROKEN", log, "it went on over the connection that waited")
        with self.subTest("their own sweep takes them before it hands out anything"):
            self.run_coord(self.folder, "resume", "--speed-up", FAST, "x.db")
            self.assertEqual(self.outcomes(), landscape.words(cache))
            again = self.rows("SELECT config FROM result WHERE purpose = 'screen' AND round = 0 GROUP BY config HAVING count(*) > 1")
            self.assertEqual(again, [])
            self.assert_invariants(self.folder)

    def test_a_sweep_of_ours_is_a_record_too(self):
        cache = landscape.make(self.path("bowl.json"), xs=(32, 64, 1024), ys=(1, 2, 4), unrolls=(1, 8))
        self.unconfirmed()
        reasons = self.rows("SELECT config, outcome, reason FROM outcome ORDER BY 1")
        os.rename(self.path("x.db"), self.path("earlier.sqlite"))
        self.unconfirmed(file="earlier.sqlite")
        self.assertEqual(self.outcomes(), landscape.words(cache))
        self.assertEqual(self.rows("SELECT config, outcome, reason FROM outcome ORDER BY 1"), reasons)

    def test_two_gpus_of_a_host_differ_as_their_cards_say(self):
        cache = landscape.make(self.path("bowl.json"), ys=(2, 4), unrolls=(1, 2), verify_ms=2000.0)
        with open(self.path("cards.json"), "w") as f:
            json.dump({"cards": [{"gpu": 1, "factor": 1.08}]}, f)
        self.unconfirmed("--hosts", self.hosts("localhost gpus=0,1 slots=4"), "--cards", "cards.json",
                   speed_up="40")
        rows = self.rows("SELECT g.position, c.params, r.samples FROM result r JOIN config c ON c.key = r.config "
                         "JOIN gpu g ON g.uuid = r.gpu WHERE r.purpose = 'screen' AND r.outcome = 'correct'")
        ratios = {0: [], 1: []}
        for gpu, params, samples in rows:
            bx, by, unroll, _ = json.loads(params).values()
            recorded = statistics.median(cache[f"{bx},{by},{unroll}"]["times"]) * 1e-3
            ratios[gpu].append(statistics.median(json.loads(samples)) / recorded)
        self.assertTrue(ratios[0] and ratios[1], "both GPUs measured")
        self.assertAlmostEqual(statistics.median(ratios[0]), 1.0, delta=0.01)
        self.assertAlmostEqual(statistics.median(ratios[1]), 1.08, delta=0.01)

    def test_a_strategy_searches_the_record(self):
        cache = landscape.make(self.path("bowl.json"))
        ran = self.unconfirmed("--strategy", "local", "--evaluations", "60", "--seed", "3")
        settled = sum(self.outcomes().values())
        self.assertLessEqual(settled, 61)
        self.assertGreaterEqual(settled, 60, ran.stderr)
        best = min(e["time"] for e in cache.values() if e["times"]) * 1e-3
        found = self.rows("SELECT min(median_s) FROM outcome WHERE outcome = 'correct'")[0][0]
        self.assertLess(found, best * 1.1)

    def test_an_import_is_reported_explained_exported_and_compared(self):
        cache = landscape.make(self.path("bowl.json"))
        ran = self.run_coord(self.folder, "import", "bowl.json")
        self.assertIn("recorded on Test GPU 9000", ran.stderr)
        self.assertEqual(self.outcomes(), landscape.words(cache))
        report = self.report(self.folder, "bowl.db")
        best = min((e for e in cache.values() if e["times"]), key=lambda e: e["time"])
        self.assertEqual(report["results"][0]["config"]["BX"], best["BX"])
        self.assertEqual(report["results"][0]["n_samples"], 32)
        self.assertIn("UNROLL=8", self.run_coord(self.folder, "explain", "bowl.db",
                                                 "BX=1,BY_=1,UNROLL=8,MODE=plain").stdout)
        self.run_coord(self.folder, "export", "--db", "bowl.db", "--format", "json")
        self.run_coord(self.folder, "compare", "bowl.db", "bowl.db")
        self.run_coord(self.folder, "verify", "bowl.db")
        again = self.run_coord(self.folder, "import", "bowl.json", code=2)
        self.assertIn("bowl.db exists already", again.stderr)

    def test_an_imported_sweep_file_replays_a_part(self):
        landscape.make(self.path("bowl.json"))
        self.run_coord(self.folder, "import", "bowl.json", "--sweep", "part.json")
        with open(self.path("part.json")) as f:
            text = f.read()
        self.assertIn('"UNROLL": [1, 2, 4, 8]', text)
        with open(self.path("part.json"), "w") as f:
            f.write(text.replace('"UNROLL": [1, 2, 4, 8]', '"UNROLL": [1]').replace(
                '"BY_": [1, 2, 4, 8, 16, 32]', '"BY_": [1, 4]').replace(
                '"measure":', '"confirm": false, "measure":'))
        self.sweep("part.json")
        self.assertEqual(sum(self.outcomes().values()), 22)

    def test_through_ssh(self):
        if not rig.find_sshd():
            self.skipTest("no sshd")
        cache = landscape.make(self.path("bowl.json"), xs=(32, 64), ys=(4,))
        self.unconfirmed("--hosts", self.hosts(self.sshd().line(f"workdir={self.with_runner(self.path('far'))} slots=4")))
        self.assertEqual(self.outcomes(), landscape.words(cache))

    def test_bad_input_is_one_message(self):
        landscape.make(self.path("bowl.json"), xs=(64,), ys=(4,))
        with open(self.path("none.json"), "w") as f:
            json.dump({"tune_params": {"A": [1]}, "cache": {"1": {"A": 1, "time": "RuntimeFailedConfig"}}}, f)
        with open(self.path("text"), "w") as f:
            f.write("hello\n")
        with open(self.path("cards.json"), "w") as f:
            f.write('{ "cards": [ { "gpu": 1, "facto": 1.08 } ] }')
        for file, args, said in (("absent.json", (), "absent.json"),
                                 ("none.json", (), "no configuration has a time"),
                                 ("text", (), "text:1"),
                                 ("bowl.json", ("--cards", "cards.json"), "did you mean 'factor'?")):
            ran = self.sweep(*args, file=file, code=2)
            self.assertIn(said, ran.stderr)
        ran = self.run_coord(self.folder, "sweep", "--device", "replay", code=2)
        self.assertIn("--device replay=FILE", ran.stderr)
        ran = self.run_coord(self.folder, "sweep", "--device", "cpu", "--speed-up", "2", code=2)
        self.assertIn("--speed-up works only with --device replay=FILE", ran.stderr)


if __name__ == "__main__":
    unittest.main()
