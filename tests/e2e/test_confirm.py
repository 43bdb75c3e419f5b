"""Screening, proof, blocks and verdict: in one command, killed on the way, and with wrong configurations."""

import contextlib
import json
import os
import signal
import sqlite3
import unittest

import checksums
import landscape
import rig
import sweepfile


class Confirm(rig.Rig):
    def blocks(self, folder):
        """Measurements of each block: its pass and number, and how many."""
        return self.query(folder, """
            SELECT round / 10000, round % 10000, count(*) FROM result
            WHERE purpose = 'confirm' AND counted = 1 GROUP BY round ORDER BY round""")

    def confirmed(self, folder):
        return sum(n for _, _, n in self.blocks(folder)) if self.settled(folder) else 0

    def steps_out(self, folder):
        return self.query(folder, "SELECT count(*) FROM lease WHERE purpose = 'confirm' AND ended_utc IS NULL")[0][0]

    def checked_launches(self, folder):
        """Of all blocks; each measurement counts its samples, and the launches before them."""
        [[launches, fewest]] = self.query(folder, """
            SELECT sum(checked), min(checked - json_array_length(samples)) FROM result
            WHERE purpose = 'confirm' AND counted = 1 AND varied = 0""")
        self.assertGreater(fewest, 0)
        return launches

    def proof_launches(self, folder):
        """Of each one that took part, in the database of the proof."""
        took_part = [key for key, in self.query(folder, "SELECT config FROM contestant WHERE pass = 1")]
        database = os.path.splitext(self.database(folder))[0] + ".fuzz.db"
        with contextlib.closing(sqlite3.connect(f"file:{os.path.join(folder, database)}?mode=ro", uri=True)) as db:
            found = dict(db.execute("SELECT config, sum(checked) FROM result WHERE counted = 1 GROUP BY config"))
        return {key: found[key] for key in took_part}

    def verdict(self, folder):
        return self.report(folder, self.database(folder))["verdict"]

    def test_one_command_confirms_over_two_hosts(self):
        folder = self.few(confirm=True)
        # both by the same way, so that both are there when the confirmation begins
        sshd = self.sshd()
        hosts = self.hosts(sshd.line(f"workdir={self.with_runner(self.path('w1'))}").replace("127.0.0.1", "localhost"),
                           sshd.line(f"rate=1 workdir={self.with_runner(self.path('w2'))}"))
        ran = self.run_coord(folder, "sweep", "--device", "cpu", "--hosts", hosts)
        self.assertIn("the cpu device emulates, so its times say nothing about a GPU: the baseline and ", ran.stdout)
        self.assertNotIn("x baseline", ran.stdout)
        verdict = self.verdict(folder)
        self.assertEqual((verdict["state"], verdict["success"], verdict["emulated"]), ("done", False, True))
        self.assertEqual((verdict["blocks"], verdict["gpus"]), (3, 2))
        many = 1 + len(verdict["finalists"])
        self.assertEqual(self.blocks(folder), [(1, n, many) for n in (1, 2, 3)])
        self.assertEqual(self.query(folder, "SELECT DISTINCT json_array_length(samples) FROM result"
                                            " WHERE purpose = 'confirm'"), [(2,)])
        for table in "build", "result":  # no registers on the cpu device
            self.assertEqual(self.query(folder, f"SELECT DISTINCT registers, spill_bytes, static_smem FROM {table}"),
                             [(None, None, None)])
        self.assertIsNone(self.report(folder)["results"][0]["registers"])
        launches, proof = self.checked_launches(folder), self.proof_launches(folder)
        self.assertRegex(ran.stdout, f"\nThey were right in all {launches + sum(proof.values()):,} checked launches, "
                                     rf"{sum(proof.values()):,} of them in the proof and the others at \w+, "
                                     "with the same bits for the same inputs[.\n]")
        self.assertEqual({each["key"]: each["checked"]["proof"] for each in [verdict["baseline"], *verdict["finalists"]]},
                         proof)
        self.assertEqual(verdict["checked_wanted"], None)
        self.assertEqual(sum(each["checked"]["launches"] for each in [verdict["baseline"], *verdict["finalists"]]), launches)
        self.assertEqual({(each["checked"]["measurements"], each["checked"]["known"], each["checked"]["bits"])
                          for each in [verdict["baseline"], *verdict["finalists"]]}, {(3, 3, "same")})
        cost = self.report(folder)["cost"]
        self.assertEqual(verdict["hours"], cost["total_hours"])
        self.assertGreater(cost["proof_hours"], 0)
        self.assertIsNone(verdict["cost_usd"])
        self.assert_invariants(folder)
        with self.subTest("again: all is there, and the verdict is printed"):
            again = self.run_coord(folder, "sweep", "--device", "cpu", "--hosts", hosts)
            self.assertEqual(again.stdout, ran.stdout)
            self.assertEqual(len(self.blocks(folder)), 3)
        with self.subTest("confirm makes another pass"):
            self.run_coord(folder, "confirm")
            self.assertEqual([b[:2] for b in self.blocks(folder)], [(p, n) for p in (1, 2) for n in (1, 2, 3)])
            self.assertEqual(self.verdict(folder)["pass"], 2)
        with self.subTest("bench compares two, and leaves the verdict alone"):
            refused = self.run_coord(folder, "bench", "--shape", "n5", code=2)
            self.assertIn("did you mean 'n5k'?", refused.stderr)
            bench = json.loads(self.run_coord(folder, "bench", "--shape", "all", "--json").stdout)
            self.assertEqual((bench["emulated"], bench["complete"], bench["pass"]), (True, True, 3))
            self.assertEqual([s["shape"] for s in bench["shapes"]], ["n5k"])
            self.assertGreater(bench["shapes"][0]["winner"]["median_s"], 0)
            self.assertEqual(self.verdict(folder)["pass"], 2)
        with self.subTest("bench measures those that are named as well, each once"):
            unknown = self.run_coord(folder, "bench", "--config", "BLOCK_SIZE=64,ITEMS=3,VECTOR=false", code=2)
            self.assertIn("is not a configuration of this sweep", unknown.stderr)
            keys = [result["key"] for result in self.report(folder)["results"]]
            flags = [part for key in [*keys, keys[0][:12]] for part in ("--config", key)]
            bench = json.loads(self.run_coord(folder, "bench", *flags, "--json").stdout)
            self.assertEqual((bench["pass"], bench["rejected"]), (4, []))
            self.assertEqual(sorted(m["key"] for m in bench["shapes"][0]["measured"]), sorted(keys))
            self.assertEqual({c["state"] for c in bench["configurations"]}, {None, "measured, not confirmed", "named"})
            self.assertEqual(self.verdict(folder)["pass"], 2)
        with self.subTest("sources that changed are not compared with what was"):
            with open(os.path.join(folder, "vector_add.cu"), "a") as f:
                f.write("// another byte\n")
            refused = self.run_coord(folder, "confirm", code=2)
            self.assertIn("run fa-coord sweep first", refused.stderr)
            self.assertEqual(len(self.blocks(folder)), 12)

    def test_a_killed_confirmation_is_gone_on_with(self):
        folder = self.few(confirm=True)
        measured = 0
        for _ in range(2):
            coord = self.start(folder, "sweep", "--device", "cpu")
            try:
                rig.until("another block's", lambda: coord.poll() is not None or self.confirmed(folder) > measured, 120)
                self.assertIsNone(coord.poll(), self.stderr())
            finally:
                coord.kill()
                coord.wait()
            measured = self.confirmed(folder)
            self.assertEqual(self.verdict(folder)["state"], "begun")
        kept = set(self.query(folder, "SELECT nonce FROM result"))
        self.run_coord(folder, "resume")
        self.assertLessEqual(kept, set(self.query(folder, "SELECT nonce FROM result")))
        verdict = self.verdict(folder)
        self.assertEqual((verdict["state"], verdict["pass"]), ("done", 1))
        many = 1 + len(verdict["finalists"])
        whole = [n for _, n, found in self.blocks(folder) if found == many]
        self.assertEqual(verdict["blocks"], len(whole))
        self.assertGreaterEqual(len(whole), 3)
        self.assert_invariants(folder)

    def test_what_is_wrong_at_a_fuzz_shape_cannot_win(self):
        folder = self.fixture("forgets_tail")
        with self.subTest("the sweep file wants no confirmation, so there is none"):
            ran = self.run_coord(folder, "sweep", "--device", "cpu")
            self.assertEqual(ran.stdout, "")
            self.assertEqual(self.verdict(folder)["state"], "none")
            self.assertEqual([n for n in os.listdir(folder) if n.endswith(".fuzz.db")], [])
        with self.subTest("for what was changed since, it is refused before it takes any time"):
            kernel = os.path.join(folder, "double.cu")
            with open(kernel) as f:
                before = f.read()
            with open(kernel, "a") as f:
                f.write("// changed\n")
            self.assertIn("run fa-coord sweep first", self.run_coord(folder, "confirm", code=2).stderr)
            with open(kernel, "w") as f:
                f.write(before)
        with self.subTest("and for a database that cannot take the verdict"):
            os.link(os.path.join(folder, "tail.db"), os.path.join(folder, "too.db"))
            self.assertIn("has 2 names", self.run_coord(folder, "confirm", "tail.db", code=7).stderr)
            os.unlink(os.path.join(folder, "too.db"))
            self.assertEqual([n for n in os.listdir(folder) if n.endswith(".fuzz.db")], [])
        with self.subTest("it is made all the same when asked for, within its cap"):
            capped = self.run_coord(folder, "confirm", "--max-hours", "0.000001", code=6)
            self.assertIn("the cap of 1e-06 hours is reached", capped.stderr)
            self.assertIn("or --max-hours: fa-coord confirm ", capped.stderr)
        with self.subTest("and finds what is wrong"):
            ran = self.run_coord(folder, "confirm")
            self.assertIn("correctness at the fuzz shape n-257", ran.stdout)
            verdict = self.verdict(folder)
            self.assertEqual(verdict["finalists"], [])
            self.assertEqual([r["config"] for r in verdict["rejected"]], [{"WIDTH": 4}])
            self.assertEqual(self.blocks(folder), [])
            self.assert_invariants(folder)
        with self.subTest("nor be called correct"):
            rows = {r["config"]["WIDTH"]: r for r in self.report(folder)["results"]}
            self.assertEqual((rows[4]["outcome"], rows[4]["rank"], rows[1]["rank"]), ("correctness", None, 1))
            said = self.run_coord(folder, "explain", "WIDTH=4").stdout
            self.assertIn("refuted: correctness at the fuzz shape n-257", said)
            self.assertNotIn("rank", said)

    def test_a_confirmation_that_failed_is_begun_again(self):
        landscape.make(self.path("bowl.json"), xs=(32, 64), ys=(2,), unrolls=(1, 2))
        self.run_coord(self.folder, "sweep", "--device", "replay=bowl.json", "--speed-up", "100000", "--db", "x.db")
        for number, command in enumerate((["confirm", "x.db"], ["resume", "x.db"]), 2):
            with self.subTest(command=command):
                db = sqlite3.connect(self.path("x.db"))
                with contextlib.closing(db), db:
                    db.execute("UPDATE contest SET ending = 'failed' WHERE pass = ?", (number - 1,))
                    checksums.seal(db, "contest")
                self.assertEqual(self.report(self.folder, "x.db")["verdict"]["state"], "failed")
                self.run_coord(self.folder, *command)
                verdict = self.report(self.folder, "x.db")["verdict"]
                self.assertEqual((verdict["state"], verdict["pass"]), ("done", number))
        self.run_coord(self.folder, "verify", "x.db")

    def test_a_baseline_that_is_wrong_confirms_nothing(self):
        folder = self.fixture("forgets_tail", confirm=True)
        sweepfile.write(folder, {**sweepfile.read(folder), "baseline": {"WIDTH": 4}})
        ran = self.run_coord(folder, "sweep", "--device", "cpu", code=1)
        self.assertIn("the baseline is wrong: correctness at the fuzz shape n-257", ran.stderr)
        verdict = self.verdict(folder)
        self.assertEqual((verdict["state"], verdict["success"], verdict["best_config"]), ("failed", False, None))
        self.assertEqual((verdict["finalists"], verdict["tie_set"], verdict["target_speedup"]), ([], [], 1.1))
        self.assertEqual((verdict["baseline"]["config"], verdict["baseline"]["median_s"]), ({"WIDTH": 4}, None))
        self.assertEqual([r["config"] for r in verdict["rejected"]], [{"WIDTH": 4}])
        self.assertEqual(self.blocks(folder), [])
        with self.subTest("without a proof it is compared, at every shape"):
            shapes = [{"name": "s", "N": 256}, {"name": "t", "N": 512}]
            sweepfile.write(folder, {**sweepfile.read(folder), "confirm": {"fuzz": False}, "emulation_shapes": shapes})
            self.run_coord(folder, "sweep", "--device", "cpu")
            verdict = self.verdict(folder)
            self.assertEqual(verdict["state"], "done")
            self.assertEqual([n for _, _, n in self.blocks(folder)], [4, 4, 4])
            self.assertEqual([s["shape"] for s in verdict["shapes"]], ["s", "t"])
            for shape in verdict["shapes"]:
                self.assertGreater(shape["baseline"]["median_s"], 0)
                self.assertEqual(shape["best_config"], {"WIDTH": 1})
            best = json.loads(self.run_coord(folder, "export", "--shape", "t", "--format", "json").stdout)
            self.assertEqual(best["best_at"], "t")

    def test_blocks_that_lose_their_worker_are_made_again(self):
        landscape.make(self.path("bowl.json"), xs=(1, 64), ys=(4,), unrolls=(1, 2), verify_ms=300.0)
        coord = self.start(self.folder, "sweep", "--device", "replay=bowl.json", "--speed-up", "4", "--db", "x.db")
        # A kill between two blocks drops no block, so kill three times, each while a step is leased.
        for rows in (3, 9, 15):
            rig.until("a step of a block", lambda: coord.poll() is not None or self.confirmed(self.folder) >= rows
                      and self.steps_out(self.folder) > 0, 120)
            for pid, _ in self.workers():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.assertEqual(coord.wait(120), 0, self.stderr())
        verdict = self.verdict(self.folder)
        self.assertEqual((verdict["state"], verdict["looks"]["end"]), ("done", "clear"))
        self.assertGreaterEqual(verdict["blocks"], 8)
        self.assertGreaterEqual(verdict["blocks_dropped"], 1)
        self.assertEqual(verdict["rejected"], [])
        self.assert_invariants(self.folder)

    def test_a_killed_pass_makes_the_looks_that_it_would_have_made(self):
        landscape.make(self.path("bowl.json"), xs=(1, 64), ys=(4,), unrolls=(1, 2), verify_ms=300.0)
        command = ("sweep", "--device", "replay=bowl.json", "--speed-up", "20", "--db")
        coord = self.start(self.folder, *command, "x.db")
        try:
            rig.until("a block", lambda: coord.poll() is not None or self.confirmed(self.folder) >= 9, 120)
            self.assertIsNone(coord.poll(), self.stderr())
        finally:
            coord.kill()
            coord.wait()
        self.assertIn("of at most 70 blocks are complete", self.report(self.folder, "x.db")["verdict"]["sentence"])
        self.run_coord(self.folder, "resume", "x.db")
        self.run_coord(self.folder, *command, "whole.db")
        whole, resumed = (self.report(self.folder, db)["verdict"] for db in ("whole.db", "x.db"))
        for key in "state", "looks", "blocks", "best_config":
            self.assertEqual(resumed[key], whole[key])
        self.assertEqual(resumed["looks"]["end"], "clear")

    def test_recorded_cards_that_differ_confirm_what_was_recorded(self):
        landscape.make(self.path("bowl.json"), xs=(1, 32, 64), ys=(2, 4), unrolls=(1, 2))
        with open(self.path("cards.json"), "w") as f:
            json.dump({"cards": [{"gpu": 1, "factor": 1.08}]}, f)
        command = ("sweep", "--device", "replay=bowl.json", "--speed-up", "100000", "--db", "x.db",
                   "--hosts", self.hosts("localhost gpus=0,1 slots=4"), "--cards", "cards.json")
        with self.subTest("a cap that comes before any host leaves what can be resumed"):
            capped = self.run_coord(self.folder, *command, "--max-hours", "1e-6", code=6)
            self.assertIn("to continue, raise the limit with --budget or --max-hours: fa-coord resume x.db", capped.stderr)
            self.run_coord(self.folder, "resume", "x.db", "--max-hours", "1e-6", code=6)
        ran = self.run_coord(self.folder, *command)
        self.assertRegex(ran.stdout, r"Verdict: BX=64 BY_=4 UNROLL=2 MODE=plain is 2\.4\d\d?x the baseline, 95 % interval "
                                     r"\[.*\], confirmed on 2 GPUs; all times "
                                      "are recorded ones\.")
        verdict = self.report(self.folder, "x.db")["verdict"]
        # far(1, 64) = 6, far(2, 4) = 1, far(1, 2) = 1: 1 + 1.2 + 0.15 + 0.05 of the fastest.
        self.assertAlmostEqual(verdict["speedup"], 2.4, delta=0.01)
        self.assertLess(verdict["speedup_ci_95"][0], verdict["speedup"])
        self.assertTrue(verdict["success"])
        self.assertEqual((verdict["verdict"], verdict["looks"]["end"], verdict["gpus"]), ("FAST", "clear", 2))
        self.assertLess(verdict["blocks"], 20)
        self.assertIn(f"{verdict['blocks']} of at most 70 blocks, because the question is answered", ran.stdout)
        self.assertEqual([tie["key"] for tie in verdict["tie_set"]], [verdict["best_key"]])
        self.assertEqual([n for _, _, n in self.blocks(self.folder)],
                         [1 + len(verdict["finalists"])] * verdict["blocks"])
        exported = json.loads(self.run_coord(self.folder, "export", "--db", "x.db", "--format", "json").stdout)
        self.assertEqual(exported["state"], "confirmed")


if __name__ == "__main__":
    unittest.main()
