"""Killed coordinators, workers, runners and compilers; signals."""

import os
import random
import shutil
import signal
import socket
import subprocess
import time
import unittest

import landscape
import rig

KILLS = int(os.environ.get("FA_KILLS", "20"))


class Interrupt(rig.Rig):
    table = None

    def sixteen(self):
        """A folder with as many configurations as leave time for some kills."""
        return self.few(BLOCK_SIZE=[64, 128, 256, 512], ITEMS=[1, 2, 4, 8])

    def uninterrupted(self):
        """The final table of a sweep that nothing interrupts; it depends on nothing else, so one sweep is enough."""
        if Interrupt.table is None:
            folder = self.sixteen()
            hosts = self.hosts(f"localhost workdir={self.with_runner(self.path('elsewhere'))}")
            self.run_coord(folder, "sweep", "--device", "cpu", "--hosts", hosts)
            Interrupt.table = self.final_table(folder)
            self.assertEqual(self.end_workers(), [])
            os.rename(folder, self.path("uninterrupted"))
        return Interrupt.table

    def finish(self, folder, wanted):
        self.run_coord(folder, "sweep", "--device", "cpu")
        self.assertEqual(self.final_table(folder), wanted)
        self.assert_invariants(folder)


class Coordinator(Interrupt):
    def test_a_killed_coordinator_loses_and_repeats_nothing(self):
        """F1: kill -9 at random moments, the same command again each time."""
        wanted = self.uninterrupted()
        seed = int(os.environ.get("FA_SEED", str(random.randrange(1 << 30))))
        chance = random.Random(seed)
        print(f"FA_SEED={seed}")
        folder = self.sixteen()
        kept = set()
        for _ in range(KILLS):
            coord = self.start(folder, "sweep", "--device", "cpu")
            # From before the first message to after the last: one result takes ~20 ms here.
            target = self.settled(folder) + chance.choice((0, 0, 1, 1, 2))
            try:
                rig.until("progress", lambda: coord.poll() is not None or self.settled(folder) >= target)
                time.sleep(chance.random() * 0.15)
            finally:
                coord.kill()
                coord.wait()
            now = set(self.query(folder, "SELECT nonce FROM result")) if self.settled(folder) else set()
            self.assertLessEqual(kept, now, "an acknowledged result was lost")
            kept = now
            # The keeper of a worker that has just ended looks like one until it ends as well.
            rig.until("one worker on one device", lambda: len(self.workers()) <= 1, 10)
        self.finish(folder, wanted)
        self.assertLessEqual(kept, set(self.query(folder, "SELECT nonce FROM result")))
        print(f"repetitions: {KILLS}")
        [(first_s,)] = self.query(folder, "SELECT max(leased - epoch) / 1e9 FROM "
                                          "(SELECT epoch, min(leased_utc) AS leased FROM lease GROUP BY epoch)")
        rig.figure("from a start to its first lease", first_s, "s")

    def test_what_was_killed_before_its_first_host_is_resumed(self):
        """File, device, hosts and search are stored before any GPU is known."""
        landscape.make(self.path("bowl.json"), xs=(1, 32), ys=(2, 4), unrolls=(1, 2))
        with socket.create_server(("127.0.0.1", 0)) as mute:
            hosts = self.hosts(f"nobody@127.0.0.1:{mute.getsockname()[1]} hostkey=SHA256:{'A' * 43}")
            coord = self.start(self.folder, "sweep", "--device", "replay=bowl.json", "--speed-up", "100000",
                               "--db", "x.db", "--hosts", hosts, "--strategy", "random", "--evaluations", "3")
            mute.accept()[0].close()
            coord.kill()
            coord.wait()
        self.assertEqual(self.query(self.folder, "SELECT count(*) FROM host"), [(0,)])
        self.hosts("localhost")
        self.run_coord(self.folder, "resume")
        self.assertEqual(self.query(self.folder, "SELECT hosts_file, device, json_extract(settings, '$.evaluations') "
                                                 "FROM sweep WHERE json_extract(settings, '$.asked') = 0"),
                         [(hosts, "replay", 3)])
        self.assert_invariants(self.folder)

    def test_a_database_that_is_deleted_ends_the_sweep(self):
        folder = self.sixteen()
        coord = self.start(folder, "sweep", "--device", "cpu")
        rig.until("a first result", lambda: self.settled(folder) >= 1)
        os.remove(os.path.join(folder, "vector_add.db"))
        self.assertEqual(coord.wait(60), 7)
        self.assertIn("vector_add.db was deleted, moved or replaced", self.stderr())

    def test_a_second_coordinator_is_told_who_holds_the_database(self):
        folder = self.sixteen()
        coord = self.start(folder, "sweep", "--device", "cpu")
        rig.until("a first result", lambda: self.settled(folder) >= 1)
        second = self.run_coord(folder, "sweep", "--device", "cpu", code=7)
        self.assertIn(str(coord.pid), second.stderr)
        self.assertEqual(coord.wait(240), 0)


class Programs(Interrupt):
    def kill_some(self, folder, find, times):
        """kill -9 the processes that 'find' returns, up to 'times' times, while a sweep runs."""
        coord = self.start(folder, "sweep", "--device", "cpu")
        killed = 0
        deadline = time.monotonic() + 200 * rig.PATIENCE
        while coord.poll() is None and time.monotonic() < deadline:
            victims = find() if killed < times else []
            if victims:
                try:
                    os.kill(victims[0][0], signal.SIGKILL)
                    killed += 1
                except ProcessLookupError:
                    pass
                time.sleep(0.5)
            time.sleep(0.01)
        self.assertEqual(coord.wait(1), 0, self.stderr())
        self.assertGreater(killed, 0)

    def programs(self, part):
        return [p for p in self.processes() if part in p[1].split(" ")[0]]

    def no_leftovers(self):
        """No process and no temporary folder is left after the linger time of the worker."""
        self.assertEqual(self.end_workers(), [])
        left = []
        for root, folders, _ in os.walk(self.env["HOME"]):
            left += [os.path.join(root, f) for f in folders if f.startswith(("build-", "tmp-", "run-"))]
        self.assertEqual(left, [])

    def test_a_killed_worker_is_replaced(self):
        wanted = self.uninterrupted()
        folder = self.sixteen()
        self.kill_some(folder, self.workers, 2)
        self.assertEqual(self.final_table(folder), wanted)
        self.assert_invariants(folder)
        self.no_leftovers()

    def test_a_killed_runner_is_replaced(self):
        wanted = self.uninterrupted()
        folder = self.sixteen()
        self.kill_some(folder, lambda: self.programs("/artifacts/"), 2)
        self.assertEqual(self.final_table(folder), wanted)
        self.assert_invariants(folder)
        self.no_leftovers()

    def test_a_killed_compiler_is_run_again(self):
        wanted = self.uninterrupted()
        shutil.rmtree(self.workdir, ignore_errors=True)  # its runner is built as well
        folder = self.sixteen()
        self.kill_some(folder, lambda: self.programs("/cc1plus"), 2)
        self.assertEqual(self.final_table(folder), wanted)
        self.assert_invariants(folder)
        self.no_leftovers()


class Signals(Interrupt):
    def interrupt(self, number, code):
        folder = self.sixteen()
        coord = self.start(folder, "sweep", "--device", "cpu")
        rig.until("a first result", lambda: self.settled(folder) >= 1)
        began = time.monotonic()
        coord.send_signal(number)
        rig.until("a word", lambda: "stopping" in self.stderr(), 2)
        rig.figure("a word", time.monotonic() - began, "s")
        self.assertEqual(coord.wait(25), code)
        rig.figure("the end", time.monotonic() - began, "s")
        self.assertLess(time.monotonic() - began, 20 * rig.PATIENCE)
        self.assertIn("resume", self.stderr())
        return folder

    def test_ctrl_c_ends_soon_and_can_be_resumed(self):
        folder = self.interrupt(signal.SIGINT, 130)
        self.run_coord(folder, "resume")
        self.assertEqual(set(o for _, _, o in self.final_table(folder)), {"correct"})
        self.assert_invariants(folder)

    def test_sigterm_likewise(self):
        self.interrupt(signal.SIGTERM, 143)

    def replayed(self, *more):
        return ["sweep", "--device", "replay=bowl.json", "--db", "x.db", *more]

    def test_a_lost_terminal_is_a_signal_and_a_second_one_ends_it_at_once(self):
        cache = landscape.make(self.path("bowl.json"), xs=(32, 64), ys=(2, 4), unrolls=(1, 2), compile_ms=1000.0)
        coord = self.start(self.folder, *self.replayed())
        rig.until("a first result", lambda: self.settled(self.folder) >= 1)
        began = time.monotonic()
        coord.send_signal(signal.SIGHUP)
        coord.send_signal(signal.SIGINT)
        self.assertIn(coord.wait(25), (129, 130))
        rig.figure("the end after a second signal", time.monotonic() - began, "s")
        self.assertIn("stopping at once", self.stderr())
        self.assertIn("nothing is lost; to continue: fa-coord resume x.db", self.stderr())
        self.run_coord(self.folder, *self.replayed("--speed-up", "100000"))
        self.assertEqual(len(self.report(self.folder, "x.db")["results"]), len(cache))
        self.run_coord(self.folder, "verify", "x.db")

    def test_a_reader_that_goes_away_ends_no_sweep(self):
        cache = landscape.make(self.path("bowl.json"), xs=(32, 64), ys=(2, 4), unrolls=(1, 2))
        reads, writes = os.pipe()
        coord = subprocess.Popen([os.path.join(self.bin, "fa-coord"), *self.replayed("--speed-up", "100000")],
                                 cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=writes)
        os.close(writes)
        os.close(reads)
        self.assertEqual(coord.wait(60), 0)
        self.assertEqual(len(self.report(self.folder, "x.db")["results"]), len(cache))


if __name__ == "__main__":
    unittest.main()
