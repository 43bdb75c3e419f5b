"""What a sweep cost: prices of their time, hosts that never were ready, one sum everywhere."""

import contextlib
import csv
import io
import json
import os
import re
import socket
import sqlite3
import time
import unittest

import landscape
import rig


class Ledger(rig.Rig):
    def sweep(self, *args, code=0):
        """A whole small replay, without a confirmation."""
        if not os.path.exists(self.path("plain.json")):
            landscape.make(self.path("bowl.json"), xs=(32, 64), ys=(2, 4), unrolls=(1, 2))
            self.run_coord(self.folder, "import", "bowl.json", "--sweep", "plain.json")
            with open(self.path("plain.json")) as f:
                text = f.read()
            with open(self.path("plain.json"), "w") as f:
                f.write(text.replace('"measure":', '"confirm": false,\n"measure":', 1))
        return self.run_coord(self.folder, "sweep", "plain.json", "--device", "replay=bowl.json", "--speed-up",
                              "1000", "--db", "x.db", *args, code=code)

    def cost(self):
        return self.report(self.folder, "x.db")["cost"]

    def assert_one_sum(self, stderr):
        """The live line, the report and 'status' say the same; returns the dollars."""
        cost = self.cost()
        status = json.loads(self.run_coord(self.folder, "status", "x.db", "--json").stdout)
        self.assertEqual(status["priced_usd"], cost["priced_usd"])
        shown = float(re.findall(r"\$(\d+\.\d+)", stderr)[-1])
        # the hosts are still held while they are told to stop, which takes up to 2 s
        rates = sum(host["rate_usd_per_h"] or 0 for host in cost["hosts"])
        self.assertLessEqual(shown, cost["priced_usd"] + 1e-4)
        self.assertGreater(shown, cost["priced_usd"] - 30 * rates / 3600)
        return cost["priced_usd"]

    def test_a_new_rate_leaves_the_past_its_price(self):
        self.sweep("--hosts", self.hosts("localhost rate=3.6"))
        [before] = self.cost()["hosts"]
        self.assertAlmostEqual(before["usd"], before["hours"] * 3.6)
        self.run_coord(self.folder, "confirm", "x.db", "--hosts", self.hosts("localhost rate=360"))
        [after] = self.cost()["hosts"]
        self.assertEqual([held["rate_usd_per_h"] for held in after["held"]], [3.6, 360])
        self.assertEqual([held["phase"] for held in after["held"]], ["search", "confirm"])
        self.assertAlmostEqual(after["held"][0]["usd"], before["usd"], places=12)
        self.assertAlmostEqual(after["usd"], before["usd"] + after["held"][1]["seconds"] * 0.1)
        text = self.run_coord(self.folder, "report", "x.db", "--cost").stdout
        self.assertRegex(text, r"(?m)^localhost +\d{4}-\S+ \S+ +search +\S+ +3\.6000 ")
        self.assertRegex(text, r"(?m)^localhost +\d{4}-\S+ \S+ +confirm +\S+ +360\.0000 ")

    def test_each_result_has_the_machine_of_its_time(self):
        self.sweep()
        views = self.run_coord(self.folder, "export", "--db", "x.db", "--format", "views").stdout
        with contextlib.closing(sqlite3.connect(f"file:{self.path('x.db')}?mode=ro", uri=True)) as db:
            db.executescript(views)
            rows = db.execute("SELECT DISTINCT driver IS NULL, toolkit <> '', boot_id, worker_version <> '' "
                              "FROM fa_result").fetchall()
        with open("/proc/sys/kernel/random/boot_id") as f:
            self.assertEqual(rows, [(0, 1, f.read().strip(), 1)])

    def gpu_time(self):
        """Seconds and dollars of each kind, of the view fa_gpu_time."""
        views = self.run_coord(self.folder, "export", "--db", "x.db", "--format", "views").stdout
        with contextlib.closing(sqlite3.connect(f"file:{self.path('x.db')}?mode=ro", uri=True)) as db:
            db.executescript(views)
            return {(f"{host} {gpu}", kind): (seconds, usd) for host, gpu, kind, seconds, usd in db.execute(
                "SELECT host, gpu, kind, sum(seconds), sum(usd) FROM fa_gpu_time GROUP BY 1, 2, 3")}

    def test_what_the_money_was_spent_on_adds_up(self):
        self.sweep("--hosts", self.hosts("localhost rate=0.68"))
        self.run_coord(self.folder, "confirm", "x.db", "--hosts", self.path("hosts.txt"))
        report = self.report(self.folder, "x.db")
        lines = report["spending"]
        [host] = report["cost"]["hosts"]
        gpus = {line["name"] for line in lines if line["scope"] == "gpu"}
        self.assertEqual(len(gpus), 1)
        for scope, parts in ("gpu", 9), ("phase", 2), ("run", 2):
            of_scope = [line for line in lines if line["scope"] == scope]
            self.assertEqual(len(of_scope), parts)
            self.assertAlmostEqual(sum(line["seconds"] for line in of_scope), host["hours"] * 3600, 6)
            self.assertAlmostEqual(sum(line["usd"] for line in of_scope), host["usd"], 9)
        items = {(line["scope"], line["item"]): line for line in lines}
        for item in "measuring", "confirmation", "setup":
            self.assertGreater(items["gpu", item]["seconds"], 0, item)
        self.assertLess(0, items["spent", "until_winner"]["usd"])
        self.assertLess(items["spent", "until_winner"]["usd"], host["usd"])
        builds = self.query(self.folder, "SELECT sum(seconds) FROM build WHERE purpose = 'kernel'")[0][0]
        held = self.query(self.folder, "SELECT sum(held_s) FROM result WHERE purpose = 'screen'")[0][0]
        self.assertAlmostEqual(items["serial", "tuner"]["seconds"], builds + held, 6)
        self.assertAlmostEqual(items["serial", "tuner"]["usd"], (builds + held) * 0.68 / 3600, 9)
        with self.subTest("as a view"):
            in_sql = self.gpu_time()
            for line in lines:
                if line["scope"] == "gpu":
                    seconds, usd = in_sql.pop((line["name"], line["item"]), (0, 0))
                    self.assertAlmostEqual(seconds, line["seconds"], 6, line["item"])
                    self.assertAlmostEqual(usd, line["usd"], 9, line["item"])
            self.assertEqual(in_sql, {})
        with self.subTest("as CSV"):
            text = self.run_coord(self.folder, "report", "x.db", "--cost", "--csv").stdout
            rows = list(csv.DictReader(io.StringIO(text)))
            self.assertEqual([(r["scope"], r["name"], r["item"]) for r in rows],
                             [(line["scope"], line["name"], line["item"]) for line in lines])
            for row, line in zip(rows, lines):
                self.assertAlmostEqual(float(row["seconds"]), line["seconds"], 4)
        with self.subTest("in 80 columns"):
            self.env["COLUMNS"] = "80"
            text = self.run_coord(self.folder, "report", "x.db", "--cost").stdout
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
            self.assertIn("a serial tuner, one GPU host", text)

    def test_a_host_that_never_was_ready_is_paid_for_and_counts_for_the_budget(self):
        with socket.socket() as closed:  # it takes no connections, and no other program gets its port
            closed.bind(("127.0.0.1", 0))
            self.sshd()  # for its key
            away = (f"root@127.0.0.1:{closed.getsockname()[1]} key={self.sshds[0].path('user')} "
                    f"hostkey={self.sshds[0].fingerprint()} rate=3600")
            hosts = self.hosts("localhost rate=0.36", away)
            ran = self.sweep("--hosts", hosts)
            spent = self.assert_one_sum(ran.stderr)
            cost = self.cost()
            self.assertEqual(cost["unpriced"], [])
            [usd] = [host["usd"] for host in cost["hosts"] if host["rate_usd_per_h"] == 3600]
            self.assertGreater(usd, 0)
            self.assertEqual(cost["total_usd"], spent)
            text = self.run_coord(self.folder, "report", "x.db", "--cost").stdout
            self.assertNotIn("unpriced", text)
            # what was paid before is spent, so that nothing more is
            again = self.run_coord(self.folder, "confirm", "x.db", "--hosts", hosts, "--budget", f"{spent / 2:.6f}",
                                   code=6)
            self.assertIn("is spent", again.stderr)
            self.assertEqual(self.query(self.folder, "SELECT count(*) FROM result WHERE purpose = 'confirm'"), [(0,)])


class Budgets(rig.Rig):
    """A search that would take a minute, and caps of some seconds, more on a slow machine."""

    def setUp(self):
        super().setUp()
        landscape.make(self.path("bowl.json"))
        self.run_coord(self.folder, "import", "bowl.json", "--sweep", "plain.json")
        with open(self.path("plain.json")) as f:
            text = f.read()
        confirm = '{ "blocks": 4, "blocks_max": 6, "finalists_max": 2 }'
        with open(self.path("plain.json"), "w") as f:
            f.write(text.replace('"measure":', f'"confirm": {confirm},\n"measure":', 1))

    def seconds(self):
        """For a part of the search and a confirmation: several times what a whole small sweep takes here."""
        landscape.make(self.path("small.json"), xs=(32, 64), ys=(2,), unrolls=(1,))
        began = time.monotonic()
        self.run_coord(self.folder, "sweep", "--device", "replay=small.json", "--speed-up", "1000", "--db", "y.db")
        took = time.monotonic() - began
        for name in os.listdir(self.folder):
            if name.startswith("y.db"):
                os.remove(self.path(name))
        return 2 + 2 * took

    def sweep(self, *args, code=6):
        return self.run_coord(self.folder, "sweep", "plain.json", "--device", "replay=bowl.json", "--speed-up", "2",
                              "--db", "x.db", *args, code=code)

    def assert_a_verdict_on_a_part(self, ran):
        report = self.report(self.folder, "x.db")
        self.assertEqual(report["verdict"]["state"], "done", ran.stderr)
        self.assertGreater(report["search"]["not_tried"], 0)
        self.assertIn("is for the confirmation", ran.stderr)
        self.assertIn("Verdict: ", ran.stdout)
        self.assertIn("to continue, raise the limit with --budget or --max-hours: fa-coord resume x.db", ran.stderr)
        self.assertEqual(self.query(self.folder, "SELECT ending FROM run ORDER BY epoch"), [("budget",), ("done",)])
        return report

    def test_a_budget_for_a_part_ends_with_a_verdict_and_is_kept(self):
        usd = self.seconds()  # a dollar a second
        ran = self.sweep("--budget", f"{usd}", "--hosts", self.hosts("localhost rate=3600"))
        report = self.assert_a_verdict_on_a_part(ran)
        self.assertLess(report["cost"]["total_usd"], usd)
        if report["search"]["tried"] > 16:
            self.assertRegex(ran.stderr, r"at this pace about \d+ of 264 configurations fit, and then their confirmation")
        self.assertGreater(report["cost"]["total_usd"], 0)

    def test_a_time_cap_ends_with_a_verdict_too(self):
        self.assert_a_verdict_on_a_part(self.sweep("--max-hours", f"{self.seconds() / 3600}"))

    def test_a_confirmation_that_outlasts_its_cap_ends_with_a_last_look(self):
        seconds = self.seconds()  # and small.json
        self.run_coord(self.folder, "import", "small.json", "--sweep", "long.json")
        with open(self.path("long.json")) as f:
            text = f.read()
        confirm = '{ "blocks_max": 4000, "blocks_group": 4000 }'  # one look, at the end
        with open(self.path("long.json"), "w") as f:
            f.write(text.replace('"measure":', f'"confirm": {confirm},\n"measure":', 1))
        ran = self.run_coord(self.folder, "sweep", "long.json", "--device", "replay=small.json", "--speed-up", "1000",
                             "--db", "x.db", "--max-hours", f"{seconds / 3600}", code=None)
        verdict = self.report(self.folder, "x.db")["verdict"]
        self.assertEqual(verdict["state"], "done", ran.stderr)
        self.assertEqual(verdict["looks"]["taken"], 1)
        self.assertIn(verdict["blocks"], range(1, 3999))
        self.assertIn(verdict["looks"]["end"], ("clear", "budget"))
        self.assertEqual(ran.returncode, 6 if "is for the confirmation" in ran.stderr
                         or verdict["looks"]["end"] == "budget" else 0)

    def test_a_budget_that_buys_no_verdict_is_said_before_a_host_is_used(self):
        ran = self.sweep("--budget", "0.5", "--hosts", self.hosts("localhost rate=3600"))
        said = re.search(r"\$0\.5 of the budget are left, and the baseline and a confirmation take about \$\d.*: there "
                         r"may be no verdict; raise --budget", ran.stderr)
        self.assertTrue(said, ran.stderr)
        self.assertNotRegex(ran.stderr[:said.start()], rf"(?m)^{rig.STAMP}")  # what hosts do has its time
        self.assertIn("the budget of $0.5 is spent", ran.stderr)


if __name__ == "__main__":
    unittest.main()
