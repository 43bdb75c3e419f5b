"""Hosts with start= and stop= are acquired for a sweep and released at its end, whatever that is."""

import glob
import json
import os
import re
import signal
import subprocess
import time
import unittest

import rented
import rig


class RentedHosts(rented.Rented):
    def test_a_host_is_acquired_used_and_released(self):
        line = self.machine("box", "rate=0.68")
        ignores = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # as some programs that start it do
        subprocess.run([f"{self.bin}/fa-coord", "sweep", "--device", self.record(), "--db", "a.db", "--hosts",
                        self.hosts(line)], cwd=self.folder, env=self.env, timeout=100, check=True, preexec_fn=ignores)
        self.assertFalse(self.runs("box"))
        self.assertEqual(len(self.clock("box", "start")), 1)
        self.assertEqual(len(self.clock("box", "stop")), 1)
        [(host, state, machine, why)] = self.rows(self.path("a.db"), "host, state, machine, why")
        self.assertRegex(host, "@box$")
        self.assertEqual((state, why), ("released", ""))
        self.assertRegex(machine, r"^m-fa-\w{12}$")
        self.run_coord(self.folder, "verify", "a.db")

    # -- a sweep that ends otherwise

    def begin(self, line, *args, **options):
        """Start a sweep over this line, in the folder of the test."""
        self._start(self.folder, 100, "sweep", "--device", self.record(**options), "--db", "a.db",
                    "--hosts", self.hosts(line), *args)

    def until_state(self, state):
        self.until(state, lambda: self.rows(self.path("a.db"), "state") == [(state,)])

    def test_ctrl_c_releases_the_host(self):
        self.begin(self.machine("box", "rate=0.68"), compile_ms=20000.0)
        self.until("it is in use", lambda: "ready:" in self.stderr())
        self.coord.send_signal(signal.SIGINT)
        self.until("it noticed", lambda: "stopping" in self.stderr())
        self.coord.send_signal(signal.SIGINT)
        self.finish_with(130)
        self.assertFalse(self.runs("box"))
        self.assertEqual(self.machines(self.folder, "a.db"), [])
        self.assert_billed()

    def test_the_end_of_the_budget_releases_the_host(self):
        self.begin(self.machine("box", "rate=3600"), "--budget", "2", compile_ms=20000.0)
        self.finish_with(6)
        self.assertFalse(self.runs("box"))

    def test_a_budget_that_is_spent_acquires_nothing(self):
        self.begin(self.machine("box", "rate=3600"), "--budget", "0.5", compile_ms=20000.0)
        self.finish_with(6)
        self.run_coord(self.folder, "resume", "a.db", "--budget", "0.4", code=6)
        self.assertEqual(len(self.clock("box", "asked")), 1)

    def finish_with(self, code):
        self.assertEqual(self.coord.wait(100), code, self.stderr())

    # -- the plan

    def test_a_gpu_is_acquired_when_the_builds_end(self):
        build = self.machine("build", "role=builder slots=2 rate=0.12")
        gpu = self.machine("gpu", "role=gpu rate=0.68")
        spare = self.machine("spare", "role=gpu rate=0.68")
        record = self.record(xs=(1, 2, 4, 8, 16, 32, 64, 128), ys=(1, 2), compile_ms=250.0)
        hosts = self.hosts(build, gpu, spare)
        args = "sweep", "--device", record, "--db", "a.db", "--hosts", hosts, "--plan", "cheapest"
        said = self.run_coord(self.folder, *args, "--dry-run").stdout
        self.assertRegex(said, r"plan cheapest: start= acquires \w+@build for the builds, and \w+@gpu to measure")
        self.run_coord(self.folder, *args)
        [(acquired,)] = self.query(self.folder, "SELECT started_utc FROM acquisition WHERE host LIKE '%@gpu'")
        [(built,)] = self.query(self.folder, "SELECT count(*) FROM build WHERE received_utc < ?", acquired)
        self.assertGreaterEqual(built, 8)
        self.assertFalse(self.runs("gpu") or self.runs("build"))
        self.assertEqual(self.clock("spare", "asked"), [])
        with self.subTest("the confirmation does not wait for the machine that is left out"):
            [(waited,)] = self.query(self.folder, "SELECT ((SELECT min(leased_utc) FROM lease WHERE purpose = 'confirm')"
                                     " - (SELECT max(at_utc) FROM event WHERE name = 'HOST-READY')) / 1e9")
            self.assertLess(waited, 3)
        self.run_coord(self.folder, "sweep", "--plan", "cheap", code=2)

    def test_a_spot_machine_that_vanishes_is_started_again(self):
        self.begin(self.machine("box", "spot"), xs=(16, 32, 64), compile_ms=1500.0)
        self.until("one is built", lambda: self.count("build", "purpose = 'kernel'") > 0)
        self.vanish("box")
        self.finish_with(0)
        self.assertIn("the spot machine is gone", self.stderr())
        self.assertEqual(len(self.clock("box", "start")), 2)
        self.assertFalse(self.runs("box"))

    def vanish(self, name):
        """As if the machine were taken away, with all that runs on it."""
        for pid, command in self.processes():
            if f"--workdir {self.path(name)} " in command + " ":
                rented.boxes.send(pid, signal.SIGKILL)
        pid = int(self.read(name, "pid"))
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            for child in f.read().split():
                rented.boxes.send(int(child), signal.SIGKILL)
        rented.boxes.send(pid, signal.SIGKILL)

    # -- commands that fail

    def test_a_start_that_fails_is_stopped_and_run_again(self):
        line = self.machine("box")
        self.behave("box", "fails", "1")
        self.begin(line)
        self.finish_with(0)
        self.assertIn("not acquired: start= failed with status 3: no machine is left in this zone", self.stderr())
        self.assertEqual([len(self.clock("box", word)) for word in ("asked", "start", "stop")], [2, 1, 2])
        self.assertEqual(self.rows(self.path("a.db"), "state"), [("released",), ("released",)])

    def test_a_host_that_cannot_be_started_is_given_up(self):
        line = self.machine("box")
        self.behave("box", "fails", "1000")
        self.begin(line)
        self.finish_with(3)
        self.assertEqual(len(self.clock("box", "asked")), 3)
        self.assertIn("it could not be acquired", self.stderr())

    def test_a_stop_that_fails_is_said_and_run_again(self):
        line = self.machine("box", "rate=0.68")
        self.behave("box", "stop_fails", "2")
        self.begin(line)
        self.finish_with(0)
        self.assertEqual(self.stderr().count("stop= failed with status 4: the cloud does not answer"), 2)
        self.assertFalse(self.runs("box"))

    def test_a_host_that_is_not_released_is_money_still_running(self):
        line = self.machine("box", "rate=0.68")
        self.behave("box", "stop_fails", "1000")
        self.begin(line)
        self.until("it is run again", lambda: "it is run again" in self.stderr())
        self.coord.send_signal(signal.SIGINT)
        self.finish_with(5)
        self.assertRegex(self.stderr(), r"@box: STILL RUNNING, costs \$0.68 an hour since .*the cloud does not answer")
        [machine] = self.machines(self.folder, "a.db")
        self.assertEqual((machine["usd_per_hour"], machine["state"]), (0.68, "stopping"))
        for command in ("status",), ("report",), ("report", "--cost"), ("watch",):
            said = self.run_coord(self.folder, *command, "a.db").stdout
            self.assertRegex(said, r"(?m)^\w+@box: STILL RUNNING")
        self.behave("box", "stop_fails", "0")
        self.run_coord(self.folder, "release", "a.db")
        self.assertFalse(self.runs("box"))
        self.assertEqual(self.machines(self.folder, "a.db"), [])

    def test_a_stop_that_hangs_is_left_by_the_second_ctrl_c(self):
        self.behave_at_end("slow_stop")
        self.coord.send_signal(signal.SIGINT)
        self.until("it is said", lambda: re.search(r"@box: waiting for stop= \(pid \d+\), Ctrl-C again leaves it",
                                                   self.stderr()))
        self.coord.send_signal(signal.SIGINT)
        self.assertEqual(self.coord.wait(10), 5, self.stderr())
        self.assertRegex(self.stderr(), r"@box: STILL RUNNING, costs \$0.68 .*: stop= did not end and was left")
        self.behave_again("box", "slow_stop")

    def behave_at_end(self, what):
        """Start a sweep, and wait until it runs a stop= that behaves so."""
        line = self.machine("box", "rate=0.68")
        self.behave("box", what)
        self.begin(line)
        self.until("stop= runs", lambda: self.clock("box", "tried"))

    def test_an_interrupted_sweep_waits_ten_seconds_for_a_start(self):
        line = self.machine("box", "rate=0.68")
        self.behave("box", "slow")
        self.begin(line)
        self.until("start= runs", lambda: self.clock("box", "asked"))
        self.coord.send_signal(signal.SIGINT)
        self.assertEqual(self.coord.wait(30), 130, self.stderr())
        self.assertRegex(self.stderr(), r"its start= still runs \(pid \d+\); waiting up to 10 s for its end")
        self.assertEqual(self.machines(self.folder, "a.db"), [])
        self.behave_again("box", "slow")

    # -- a database that is gone

    def test_machines_of_a_deleted_database_are_released(self):
        self.begin(self.machine("box", "rate=0.68"), xs=(16, 32, 64), compile_ms=1000.0)
        self.until("one is built", lambda: self.count("build", "purpose = 'kernel'") > 0)
        for name in glob.glob(self.path("a.db*")):
            os.unlink(name)
        self.finish_with(7)
        self.assertFalse(self.runs("box"))
        self.assertRegex(self.stderr(), "@box: released\n.*the end of 1 machine is not noted")

    # -- kill -9 of the coordinator

    def kill_when(self, what, check):
        self.until(what, check)
        self.end_coordinator()

    def assert_billed(self):
        """The ledger has each acquisition from its start= to the end of its stop=, at its rate."""
        acquired = self.rows(self.path("a.db"), "host, started_utc, released_utc, rate_usd_per_h")
        self.assertTrue(all(released for _, _, released, _ in acquired))
        hours = sum(released - started for _, started, released, _ in acquired) / 3.6e12
        self.assertEqual({rate for *_, rate in acquired}, {0.68})
        cost = json.loads(self.run_coord(self.folder, "report", "--json", "a.db").stdout)["cost"]
        self.assertAlmostEqual(cost["total_hours"], hours, delta=0.3 / 3600)
        self.assertAlmostEqual(cost["total_usd"], 0.68 * hours, delta=0.3 * 0.68 / 3600)
        self.assertEqual(cost["unpriced"], [])
        self.run_coord(self.folder, "verify", "a.db")

    def test_what_a_killed_sweep_starts_is_stopped_when_it_has_started(self):
        line = self.machine("box", "rate=0.68")
        self.behave("box", "slow")
        self.begin(line)
        self.kill_when("start= runs", lambda: self.clock("box", "asked"))
        [machine] = self.machines(self.folder, "a.db")
        self.assertEqual(machine["state"], "starting")
        release = self.start(self.folder, "release", "a.db")
        rig.until("it waits for start=", lambda: "its start= still runs" in self.stderr())
        self.behave_again("box", "slow")
        self.assertEqual(release.wait(60), 0, self.stderr())
        self.assertEqual(len(self.clock("box", "start")), 1)
        self.assertFalse(self.runs("box"))
        self.assert_billed()

    def test_the_next_command_stops_what_a_killed_one_used(self):
        line = self.machine("box", "rate=0.68")
        self.begin(line, compile_ms=20000.0)
        self.kill_when("it is in use", lambda: "ready:" in self.stderr())
        self.assertTrue(self.runs("box"))
        self.assertEqual(self.machines(self.folder, "a.db")[0]["state"], "acquired")
        self.end_workers()
        time.sleep(2)  # in which it costs money, and nobody looks
        self.record()
        self._start(self.folder, 100, "resume", "a.db")
        self.finish_with(0)
        self.assertIn("@box: released", self.stderr())
        self.assertEqual([len(self.clock("box", word)) for word in ("start", "stop")], [2, 2])
        self.assertFalse(self.runs("box"))
        self.assert_billed()

    def end_in_use(self):
        """kill -9 of a sweep that has one machine, which goes on."""
        self.begin(self.machine("box", "rate=0.68"), compile_ms=20000.0)
        self.kill_when("it is in use", lambda: "ready:" in self.stderr())
        self.end_workers()

    def test_machines_of_a_database_that_cannot_be_written_are_released(self):
        self.end_in_use()
        full = subprocess.run(["/bin/sh", "-c", 'ulimit -f 100; exec "$0" release a.db', f"{self.bin}/fa-coord"],
                              cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=100)
        self.assertEqual(full.returncode, 7, full.stderr)
        self.assertRegex(full.stderr, "@box: released\n.*may not grow so large.*the end of 1 machine is not noted")
        self.assertFalse(self.runs("box"))
        self.run_coord(self.folder, "release", "a.db")
        self.assertEqual(self.machines(self.folder, "a.db"), [])
        self.assert_billed()

    def test_a_resume_that_cannot_begin_says_what_runs(self):
        self.end_in_use()
        said = self.run_coord(self.folder, "confirm", "a.db", code=1).stderr
        self.assertRegex(said, r"nothing can be confirmed: .*\n\w+@box: STILL RUNNING, .*'fa-coord release' stops it")
        os.rename(self.path("hosts.txt"), self.path("elsewhere.txt"))
        said = self.run_coord(self.folder, "resume", "a.db", code=2).stderr
        self.assertRegex(said, r"hosts.txt: No such file .*\n\w+@box: STILL RUNNING, .*'fa-coord release' stops it")
        self.run_coord(self.folder, "release", "a.db")

    def test_ctrl_c_in_a_resume_that_stops_what_is_left_says_what_runs(self):
        self.end_in_use()
        self.behave("box", "slow_stop")
        self.record()
        self._start(self.folder, 100, "resume", "a.db")
        self.until("stop= runs", lambda: self.clock("box", "tried"))
        self.coord.send_signal(signal.SIGINT)
        self.until("it is said", lambda: "Ctrl-C again leaves it" in self.stderr())
        self.coord.send_signal(signal.SIGINT)
        self.assertIn(self.coord.wait(10), (130, -signal.SIGINT))
        self.assertRegex(self.stderr(), r"@box: STILL RUNNING, costs \$0.68 .*: stop= did not end and was left")
        self.behave_again("box", "slow_stop")

    def test_a_fresh_sweep_stops_what_the_old_database_has(self):
        self.begin(self.machine("box", "rate=0.68"), compile_ms=20000.0)
        self.kill_when("it is in use", lambda: "ready:" in self.stderr())
        self.end_workers()
        self.run_coord(self.folder, "sweep", "--device", self.record(), "--db", "a.db", "--fresh",
                       "--hosts", self.hosts(self.machine("other")))
        self.assertFalse(self.runs("box") or self.runs("other"))
        [old] = glob.glob(self.path("a.db.[0-9]*"))
        self.assertEqual(self.rows(old, "state"), [("released",)])

    def test_a_release_that_was_killed_is_done_again(self):
        line = self.machine("box", "rate=0.68")
        self.behave("box", "slow_stop")
        self.begin(line)
        self.kill_when("stop= runs", lambda: self.clock("box", "tried"))
        self.assertTrue(self.runs("box"))
        time.sleep(2)
        self.behave_again("box", "slow_stop")
        self.run_coord(self.folder, "release", "a.db")
        self.assertFalse(self.runs("box"))
        self.assertEqual(self.machines(self.folder, "a.db"), [])
        self.assert_billed()


if __name__ == "__main__":
    unittest.main()
