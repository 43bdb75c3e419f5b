"""A sweep on the nodes of a real Slurm (slurm_rig.py), on the cpu device."""

import hashlib
import json
import os
import re
import shutil
import signal
import tempfile
import unittest

import rig
import slurm_rig

WHY_NOT = slurm_rig.missing()


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Slurm(rig.Rig):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.mkdtemp(prefix="fa-slurm-", dir="/tmp")
        os.chmod(cls.home, 0o755)
        cls.slurm = slurm_rig.Slurm(os.path.join(cls.home, "s"))

    @classmethod
    def tearDownClass(cls):
        cls.slurm.stop()
        shutil.rmtree(cls.home, ignore_errors=True)

    def setUp(self):
        super().setUp()
        os.makedirs(self.path("tmp"))
        self.env.update(SLURM_CONF=self.slurm.env["SLURM_CONF"], TMPDIR=self.path("tmp"))

    def name(self, folder, partition="gpu"):
        """The name of the sweep's jobs; the runner is put where their workers look for it."""
        self.run_coord(folder, "invite", "other")  # draws the keys
        with open(os.path.join(folder, "vector_add.db.dial")) as f:
            key = re.search(r"(?m)^server (\S+) ", f.read())[1]
        name = f"fa-{hashlib.blake2b(key.encode(), digest_size=16).hexdigest()[:12]}-{partition}"
        for task in range(1, 4):
            self.with_runner(self.path("tmp", f"{name}-{task}"))
        return name

    def line(self, attributes="nodes=2", partition="gpu"):
        return self.hosts(f"slurm:{partition} workdir={self.path('shared')} time=30 {attributes}")

    def sweep(self, folder, hosts):
        return self.start(folder, "sweep", "--device", "cpu", "--hosts", hosts, "--listen", "127.0.0.1",
                          "--log", self.path("log"))

    def log(self):
        if not os.path.exists(self.path("log")):
            return ""
        with open(self.path("log")) as f:
            return f.read()

    def states(self, name):
        """The states of the jobs of this name."""
        return [line.split("|")[1] for line in self.slurm.jobs("%j", "%T") if line.split("|")[0] == name]

    def spans(self, name):
        """From when to when Slurm had given a node to each of these jobs, in seconds since 1970."""
        said = self.slurm.run("env", "SLURM_TIME_FORMAT=%s", "squeue", "--noheader", "--array", "--states=all",
                              f"--name={name}", "--format=%K|%S|%e").stdout
        rows = [line.split("|") for line in said.split("\n")[:-1]]
        return [(int(task), int(start), int(end)) for task, start, end in rows if start.isdigit()]

    def assert_billed(self, folder, spans, name):
        """The ledger says what Slurm bills: each host, to a millisecond."""
        billed = {}
        for task, start, end in spans:
            host = f"slurm:{name.split('-')[-1]}-{task}"
            billed[host] = billed.get(host, 0) + end - start
        sums = self.query(folder, "SELECT host, sum(end_ns - start_ns) / 1e9 FROM held GROUP BY host")
        self.assertEqual({host: round(s, 3) for host, s in sums}, {h: float(s) for h, s in billed.items() if s})
        # the intervals of a proof are in its own database
        sums = [self.query(folder, f"SELECT host, sum(end_ns - start_ns) FROM {table} GROUP BY host")
                for table in ("held WHERE phase <> 'proof'", "interval")]
        self.assertEqual(*sums)
        [[outside]] = self.query(folder, """
            SELECT count(*) FROM interval i WHERE NOT EXISTS(SELECT 1 FROM held h WHERE h.host=i.host AND
            h.epoch=i.epoch AND h.start_ns<=i.start_ns AND h.end_ns>=i.end_ns)""")
        self.assertEqual(outside, 0)

    def assert_none_left(self, name):
        """None waits or runs; one that was cancelled takes a moment to go."""
        rig.until("the jobs are over", lambda: not {"PENDING", "RUNNING", "COMPLETING"} & set(self.states(name)))
        self.assertEqual(os.listdir(self.path("shared")), [])

    def test_from_submit_to_verdict(self):
        folder = self.few(confirm=True)
        name = self.name(folder)
        coord = self.sweep(folder, self.line("nodes=2 rate=3600"))
        rig.until("a job", lambda: self.states(name))
        with self.subTest("no secret is in the script"):
            with open(self.path("shared", name, "job.sh")) as f:
                self.assertNotIn("secret", f.read())
            invitation = self.path("shared", name, "slurm:gpu-1")
            self.assertEqual(os.stat(invitation).st_mode & 0o777, 0o600)
            self.assertEqual(os.stat(os.path.dirname(invitation)).st_mode & 0o777, 0o700)
        self.assertIn(coord.wait(240), (0, 1), self.stderr() + self.slurm.logs())
        hosts = self.query(folder, "SELECT DISTINCT host FROM result WHERE counted = 1 ORDER BY 1")
        self.assertEqual(hosts, [("slurm:gpu-1",), ("slurm:gpu-2",)])
        self.assert_none_left(name)
        self.assert_invariants(folder)
        with self.subTest("the ledger has what Slurm bills"):
            spans = self.spans(name)
            self.assertEqual(len(spans), 2)
            self.assert_billed(folder, spans, name)
            cost = json.loads(self.run_coord(folder, "report", "--json").stdout)["cost"]
            self.assertAlmostEqual(cost["total_usd"], sum(end - start for _, start, end in spans), places=2)
            self.run_coord(folder, "verify")

    def test_a_job_that_is_cancelled_is_asked_for_again(self):
        folder = self.few(BLOCK_SIZE=[32, 64, 128, 256], ITEMS=[1, 2, 4])
        name = self.name(folder)
        coord = self.sweep(folder, self.line("nodes=1"))
        rig.until("a result", lambda: self.settled(folder))
        self.slurm.run("scancel", f"--name={name}")
        self.assertEqual(coord.wait(240), 0, self.stderr() + self.slurm.logs())
        self.assertEqual(len(re.findall("SLURM-SUBMIT name=.* job=", self.log())), 2)
        self.assert_none_left(name)
        self.assert_invariants(folder)

    def test_a_killed_coordinator_finds_its_jobs_again(self):
        folder = self.few(BLOCK_SIZE=[32, 64, 128, 256])
        name = self.name(folder)
        coord = self.sweep(folder, self.line("nodes=1"))
        rig.until("a result", lambda: self.settled(folder))
        coord.kill()
        coord.wait()
        self.run_coord(folder, "resume")
        self.assertEqual(len(self.states(name)), 1)
        self.assert_none_left(name)
        self.assert_invariants(folder)
        self.assert_billed(folder, self.spans(name), name)  # with the time between the commands

    def test_accounting_knows_more_than_squeue(self):
        """sacct is a stand-in: a real one needs slurmdbd and its database.  It has a run of an hour ago, which squeue does
        not know, and an end that has not reached it."""
        folder = self.few()
        name = self.name(folder)
        os.makedirs(self.path("bin"))
        with open(self.path("bin", "sacct"), "w") as f:
            f.write(f"""#!/bin/sh
            echo "$@" >>{self.path('asked')}
            [ "$SLURM_TIME_FORMAT" = %s ] || exit 1
            now=$(date +%s)
            job=$(squeue --noheader --array --states=all --name={name} --format=%F_%K)
            start=$(squeue --noheader --array --states=all --name={name} --format=%S)
            echo "7_1|PREEMPTED|$((now - 3600))|$((now - 3570))"
            echo "7_[2-4]|PENDING|Unknown|Unknown"
            [ -z "$job" ] || echo "$job|RUNNING|$start|Unknown"
            """)
        os.chmod(self.path("bin", "sacct"), 0o755)
        self.env["PATH"] = f"{self.path('bin')}:{os.environ['PATH']}"
        coord = self.sweep(folder, self.line("nodes=1 rate=3600"))
        self.assertEqual(coord.wait(240), 0, self.stderr() + self.slurm.logs())
        self.assert_none_left(name)
        self.assert_invariants(folder)
        with open(self.path("asked")) as f:
            self.assertRegex(f.read(), f"--allocations --duplicates .*--name={name} --starttime=now-\\d+ ")
        self.assert_billed(folder, [*self.spans(name), (1, 0, 30)], name)

    def test_the_next_command_cancels_what_a_killed_one_left(self):
        folder = self.few()
        name = self.name(folder)
        coord = self.sweep(folder, self.line("nodes=3"))  # there are two, so one waits
        rig.until("one waits", lambda: "PENDING" in self.states(name))
        coord.kill()
        coord.wait()
        ran = self.run_coord(folder, "resume", "--hosts", self.hosts("localhost"))
        self.assertIn(f"jobs of an earlier command are cancelled: {name}", ran.stderr)
        rig.until("the jobs are over", lambda: not {"PENDING", "RUNNING", "COMPLETING"} & set(self.states(name)))

    def test_a_queue_that_never_starts_is_said_and_given_up(self):
        folder = self.few()
        name = self.name(folder, "closed")
        ran = self.run_coord(folder, "sweep", "--device", "cpu", "--hosts", self.line("nodes=1", "closed"), code=3)
        self.assertRegex(ran.stderr, r"its job \d+_1 cannot start: PartitionDown")
        self.assert_none_left(name)

    def test_an_unknown_partition_is_said(self):
        folder = self.few()
        ran = self.run_coord(folder, "sweep", "--device", "cpu", "--hosts", self.line("nodes=1", "nosuch"), code=3)
        self.assertIn("sbatch fails: ", ran.stderr)
        self.assertIn("Invalid partition name", ran.stderr)

    def test_ctrl_c_leaves_no_job(self):
        folder = self.few()
        name = self.name(folder)
        coord = self.sweep(folder, self.line("nodes=3"))  # there are two, so one waits
        rig.until("one waits", lambda: "PENDING" in self.states(name) and "RUNNING" in self.states(name))
        coord.send_signal(signal.SIGINT)
        coord.wait(60)
        self.assert_none_left(name)

    def test_a_node_more_is_asked_for_while_there_is_work(self):
        folder = self.few(BLOCK_SIZE=[32, 64, 128, 256, 512], ITEMS=[1, 2, 4, 8])
        name = self.name(folder)
        coord = self.sweep(folder, self.line("nodes=1-2"))
        rig.until("one more is asked for", lambda: re.search("SLURM-SUBMIT name=.* tasks=2", self.log()))
        coord.send_signal(signal.SIGINT)
        coord.wait(60)
        self.assert_none_left(name)

    def test_the_work_of_a_node_that_goes_down_is_done_by_the_other(self):
        folder = self.few(BLOCK_SIZE=[32, 64, 128, 256], ITEMS=[1, 2, 4])
        name = self.name(folder)
        coord = self.sweep(folder, self.line("nodes=2"))
        rig.until("a result", lambda: self.settled(folder))
        node = self.slurm.run("squeue", "-h", f"--name={name}", "--states=RUNNING", "-o", "%N").stdout.split()[0]
        self.slurm.run("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
        try:
            self.assertEqual(coord.wait(240), 0, self.stderr() + self.slurm.logs())
        finally:
            self.slurm.run("scontrol", "update", f"nodename={node}", "state=resume")
        self.assert_none_left(name)
        self.assert_invariants(folder)

    def run_on_two_nodes(self, folder, meanwhile):
        """A sweep on two nodes, which ends well whatever 'meanwhile' does to the first one that runs."""
        name = self.name(folder)
        coord = self.sweep(folder, self.line("nodes=2"))
        rig.until("a result", lambda: self.settled(folder))
        rig.until("both run", lambda: self.states(name).count("RUNNING") == 2)
        meanwhile(name)
        self.assertEqual(coord.wait(240), 0, self.stderr() + self.slurm.logs())
        self.assert_none_left(name)
        self.assert_invariants(folder)

    def test_a_job_that_is_requeued_costs_its_leases_only(self):
        def requeue(name):
            job = self.slurm.run("squeue", "-h", "--array", f"--name={name}", "--states=RUNNING", "-o", "%i").stdout.split()[0]
            self.assertEqual(self.slurm.run("scontrol", "requeue", job).returncode, 0)

        folder = self.few(BLOCK_SIZE=[32, 64, 128, 256], ITEMS=[1, 2, 4])
        self.run_on_two_nodes(folder, requeue)
        self.assertEqual(self.query(folder, "SELECT count(*) FROM outcome WHERE outcome = 'correct'"), [(12,)])

    def test_a_job_that_is_preempted_costs_its_leases_only(self):
        def preempt(name):
            self.slurm.run("sbatch", "--partition=urgent", "--job-name=urgent", "--exclusive", "--nodes=1", "--wrap", "sleep 300",
                           "--output=/dev/null")
            rig.until("it has the node of another", lambda: self.states("urgent") == ["RUNNING"])

        folder = self.few(BLOCK_SIZE=[32, 64, 128, 256], ITEMS=[1, 2, 4])
        try:
            self.run_on_two_nodes(folder, preempt)
        finally:
            self.slurm.run("scancel", "--name=urgent")
        self.assertEqual(self.query(folder, "SELECT count(*) FROM outcome WHERE outcome = 'correct'"), [(12,)])

    def test_the_controller_of_slurm_is_restarted(self):
        folder = self.few(BLOCK_SIZE=[32, 64, 128, 256], ITEMS=[1, 2, 4])
        name = self.name(folder)
        coord = self.sweep(folder, self.line("nodes=1"))
        rig.until("a result", lambda: self.settled(folder))
        self.slurm.stop_controller()
        try:
            before = self.settled(folder)
            rig.until("more results without it", lambda: self.settled(folder) > before)
        finally:
            self.slurm.start_controller()
        self.assertEqual(coord.wait(240), 0, self.stderr() + self.slurm.logs())
        self.assertEqual(len(re.findall("SLURM-SUBMIT name=.* job=", self.log())), 1)
        self.assert_none_left(name)
        self.assert_invariants(folder)

    def test_gpus_are_asked_for(self):
        folder = self.few()
        name = self.name(folder)
        coord = self.sweep(folder, self.line("nodes=1 gpus=2"))
        rig.until("a job", lambda: "RUNNING" in self.states(name))
        said = self.slurm.run("scontrol", "show", "job", "--oneliner").stdout
        [job] = [line for line in said.split("\n") if f"JobName={name} " in line]
        self.assertRegex(job, r"TresPerNode=gres[:/]gpu:2\b")
        self.assertEqual(coord.wait(240), 0, self.stderr() + self.slurm.logs())
        self.assert_none_left(name)
        with self.subTest("more than a node has"):
            folder = self.few(to=self.path("more"))
            ran = self.run_coord(folder, "sweep", "--device", "cpu", "--hosts", self.line("nodes=1 gpus=3"), code=3)
            self.assertIn("sbatch fails: ", ran.stderr)


if __name__ == "__main__":
    unittest.main()
