"""A database with a row that is not as it was written: no command answers from it, and recover keeps the others."""

import json
import os
import shutil
import sqlite3
import struct
import unittest

import checksums
import landscape
import rig
import sweepfile


class Damage(rig.Rig):
    def fixture(self, name):
        path = self.path(name)
        shutil.copy(os.path.join(rig.FIXTURES, "compare", name), path)
        return path

    def change(self, db, sql):
        connection = sqlite3.connect(db)
        with connection:
            self.assertEqual(connection.execute(sql).rowcount, 1)
        connection.close()

    def refused(self, why, *args):
        ran = self.run_coord(self.folder, *args, code=7)
        self.assertEqual(ran.stdout, "")
        self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
        self.assertIn(f"{why}; 'fa-coord verify' lists what is damaged, 'fa-coord recover' copies the rest",
                      ran.stderr)

    def test_a_changed_time_is_no_answer(self):
        db, other = self.fixture("base.db"), self.fixture("faster.db")
        whole = json.loads(self.run_coord(self.folder, "report", "--json", db).stdout)
        connection = sqlite3.connect(db)
        [nonce] = connection.execute("SELECT max(nonce) FROM result").fetchone()
        connection.close()
        self.change(db, f"UPDATE result SET samples = replace(samples, '0.00', '0.01') WHERE nonce = '{nonce}'")
        row = f"result {nonce}"
        for args in (["report", db], ["report", "--json", db], ["report", "--csv", db], ["export", "--db", db],
                     ["compare", db, other], ["compare", other, db]):
            with self.subTest(args[0]):
                self.refused(f"base.db: the row '{row}' is not as it was written", *args)
        found = self.run_coord(self.folder, "verify", db, code=7).stdout
        self.assertIn(f"checksum: {row}: the row was changed after it was written\n", found)
        told = self.run_coord(self.folder, "recover", db, "--to", "copy.db", code=5).stdout
        self.assertIn("result: 1 rows do not hold\n", told)
        self.run_coord(self.folder, "verify", "copy.db")
        again = json.loads(self.run_coord(self.folder, "report", "--json", "copy.db").stdout)
        self.assertEqual(len(again["results"]), len(whole["results"]))

    def test_deleted_results_are_no_answer(self):
        db, other = self.fixture("base.db"), self.fixture("faster.db")
        self.run_coord(self.folder, "recover", db, "--to", "counted.db")  # the fixture is older than the counts
        db = self.path("counted.db")
        whole = json.loads(self.run_coord(self.folder, "recover", db, "--json", "--to", "all.db").stdout)
        [rows] = [t["kept"] for t in whole["tables"] if t["table"] == "result"]
        self.assertTrue(whole["complete"] and whole["counted"])
        self.change(db, "DELETE FROM result WHERE nonce = (SELECT max(nonce) FROM result WHERE purpose = 'screen')")
        why = f"table 'result': 1 of {rows} rows are missing"
        for args in (["report", db], ["report", "--csv", db], ["export", "--db", db], ["compare", db, other],
                     ["compare", other, db], ["confirm", db], ["resume", db]):
            with self.subTest(args[0]):
                self.refused(f"counted.db: {why}", *args)
        self.assertIn(f"count: {why}\n", self.run_coord(self.folder, "verify", db, code=7).stdout)
        told = self.run_coord(self.folder, "recover", db, "--to", "copy.db", code=5).stdout
        self.assertIn("result: 1 rows are missing\n", told)
        self.run_coord(self.folder, "verify", "copy.db")

    def double(self, db):
        """An event that another program added once more, with the checksum of its new number."""
        connection = sqlite3.connect(db)
        with connection:
            *row, _ = connection.execute("SELECT * FROM event LIMIT 1").fetchone()
            row[0] += 1000000
            [checksum] = struct.unpack("<q", checksums.of(row)[:8])
            connection.execute(f"INSERT INTO event VALUES ({', '.join('?' * (len(row) + 1))})", (*row, checksum))
        connection.close()

    def test_every_command_that_reads_checks_what_it_reads(self):
        landscape.make(self.path("bowl.json"), xs=(32, 64), ys=(2,), unrolls=(1, 2))
        sweep = ["sweep", "--device", "replay=bowl.json", "--speed-up", "100000", "--db"]
        self.run_coord(self.folder, *sweep, "x.db")
        key = self.report(self.folder, "x.db")["results"][0]["key"]
        kernel = self.few()
        built = os.path.join(kernel, sweepfile.read(kernel)["name"] + ".db")
        commands = (
            ["report", "hurt.db"], ["report", "--json", "hurt.db"], ["report", "--html", "page.html", "hurt.db"],
            ["status", "hurt.db"], ["status", "--json", "hurt.db"], ["watch", "hurt.db"],
            ["explain", "hurt.db", key], ["explain", "--sanitize", "hurt.db", key], ["profile", "hurt.db"],
            ["bench", "--db", "hurt.db"], ["confirm", "hurt.db"],
            ["fuzz", kernel, "--device", "cpu", "--db", "hurt.db"], ["fuzz", kernel, "--device", "cpu", "--best", "2"],
            ["export", "--db", "hurt.db"], ["export", "--format", "views", "--db", "hurt.db"],
            ["export", "--format", "trace", "--db", "hurt.db"], ["compare", "hurt.db", "x.db"],
            ["compare", "x.db", "hurt.db"], ["serve", "hurt.db"], ["resume", "hurt.db"],
            ["resume", "--metrics", "m.prom", "hurt.db"], [*sweep, "hurt.db", "--metrics", "m.prom"],
            ["sweep", "--device", "replay=hurt.db", "--db", "y.db"], ["space", kernel],
            ["space", kernel, "--build", "--db", "hurt.db"], ["space", kernel, "--build", "--list", "--db", "hurt.db"])
        changed = self.query_of("x.db", "SELECT max(nonce) FROM result")
        damages = (
            (lambda db: self.change(db, f"UPDATE result SET max_error = 1e-9 WHERE nonce = '{changed}'"),
             f"the row 'result {changed}' is not as it was written"),
            (lambda db: self.change(db, "DELETE FROM outcome WHERE config = (SELECT max(config) FROM outcome)"),
             "table 'outcome': 1 of 4 rows are missing"),
            (self.double, "table 'event': "))
        for damage, why in damages:
            shutil.copy(self.path("x.db"), self.path("hurt.db"))
            damage(self.path("hurt.db"))
            shutil.copy(self.path("hurt.db"), built)
            for args in commands:
                with self.subTest(why=why, args=args):
                    ran = self.run_coord(self.folder, *args, code=7)
                    self.assertEqual(ran.stdout, "")
                    self.assertIn(f".db: {why}", ran.stderr)
                    self.assertIn("; 'fa-coord verify' lists what is damaged, 'fa-coord recover' copies the rest",
                                  ran.stderr)
                    for left in "page.html", "y.db":
                        self.assertFalse(os.path.exists(self.path(left)), left)
            with open(self.path("m.prom")) as f:
                self.assertEqual(f.read(), "", "metrics of what does not hold")

    def query_of(self, db, sql):
        connection = sqlite3.connect(self.path(db))
        [value] = connection.execute(sql).fetchone()
        connection.close()
        return value

    def test_a_damaged_row_steers_no_sweep(self):
        landscape.make(self.path("bowl.json"), xs=(32, 64), ys=(2,), unrolls=(1, 2))
        sweep = ["sweep", "--device", "replay=bowl.json", "--speed-up", "100000", "--db", "x.db"]
        self.run_coord(self.folder, *sweep, "--log", "sound.log")
        with open(self.path("sound.log")) as f:
            self.assertIn(" TURNS ", f.read())
        db = self.path("x.db")
        for sql, why in (("UPDATE outcome SET median_s = 1e-9 WHERE rowid_is_first", "the row 'outcome"),
                         ("DELETE FROM outcome WHERE rowid_is_first", "table 'outcome': 1 of 4 rows are missing")):
            shutil.copy(db, self.path("hurt.db"))
            first = "(config, shape) = (SELECT config, shape FROM outcome LIMIT 1)"
            self.change(self.path("hurt.db"), sql.replace("rowid_is_first", first))
            for args in (["resume", "hurt.db"], [*sweep[:-1], "hurt.db"]):
                with self.subTest(sql=sql, args=args):
                    ran = self.run_coord(self.folder, *args, "--log", "hurt.log", code=7)
                    self.assertIn(f"hurt.db: {why}", ran.stderr)
                    self.assertIn("'fa-coord recover' copies the rest", ran.stderr)
                    if os.path.exists(self.path("hurt.log")):
                        with open(self.path("hurt.log")) as f:
                            self.assertEqual(f.read(), "", "no host was called")

    def test_what_is_not_damaged_is_recovered_whole(self):
        db = self.fixture("base.db")
        self.assertIn("rows: nothing is lost", self.run_coord(self.folder, "recover", db, "--to", "copy.db").stdout)
        first, second = (self.run_coord(self.folder, "report", "--json", name).stdout for name in (db, "copy.db"))
        self.assertEqual(first.replace("base.db", "copy.db"), second)

    def rows(self, sql):
        connection = sqlite3.connect(f"file:{self.path('copy.db')}?mode=ro", uri=True)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def test_results_of_a_lost_sweep_are_gone_on_with(self):
        landscape.make(self.path("bowl.json"), xs=(32, 64), ys=(2,), unrolls=(1, 2))
        sweep = ["sweep", "--device", "replay=bowl.json", "--speed-up", "100000", "--db"]
        self.run_coord(self.folder, *sweep, "x.db")
        results = self.report(self.folder, "x.db")["results"]
        self.change(self.path("x.db"), "UPDATE sweep SET name = name || 'x'")
        told = self.run_coord(self.folder, "recover", "x.db", "--to", "copy.db", code=5).stdout
        self.assertIn("sweep: 1 rows do not hold\n", told)
        kept = self.rows("SELECT count(*) FROM result WHERE purpose = 'screen'")
        why = self.run_coord(self.folder, "report", "copy.db", code=7).stderr
        self.assertIn("copy.db: what the sweep was is lost; 'fa-coord sweep' with its sweep file and", why)
        self.run_coord(self.folder, *sweep, "copy.db")
        self.assertEqual(self.rows("SELECT count(*) FROM result WHERE purpose = 'screen'"), kept, "not measured again")
        again = self.report(self.folder, "copy.db")["results"]
        self.assertEqual([r["key"] for r in again], [r["key"] for r in results])
        self.run_coord(self.folder, "verify", "copy.db")


if __name__ == "__main__":
    unittest.main()
