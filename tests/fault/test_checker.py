"""The checker finds what is planted, and nothing in a sound sweep."""

import hashlib
import os
import sqlite3
import unittest

import checker

SCHEMA = os.path.join(os.environ["FA_SOURCE_DIR"], "coordinator", "store", "schema", "schema.sql")
WORDS = {"stage": "measure", "purpose": "screen", "outcome": "correct", "sampling": "fixed", "command": "sweep",
         "device": "cpu", "counted": 1, "baseline": 0}
NONCE = "0123456789abcdef" * 2


def insert(db, table, **values):
    """A row in which only what is named matters."""
    row = {}
    for _, name, type, not_null, _, _ in db.execute(f"PRAGMA table_info({table})"):
        if not_null and name not in values:
            row[name] = WORDS.get(name, "" if type == "TEXT" else 0)
    row.update(values)
    db.execute(f"INSERT INTO {table}({', '.join(row)}) VALUES({', '.join('?' * len(row))})", tuple(row.values()))


def record(nonce, owner=b"0" * 32):
    message = b"\x82\xa4type\xa8MEASURED\xa5nonce\xd9\x20" + nonce.encode()
    rest = checker.MARK + bytes(8) + owner + message
    return len(rest).to_bytes(4, "little") + hashlib.blake2b(rest, digest_size=16).digest() + rest


class Journal(unittest.TestCase):
    def test_its_nonces_are_read_in_order(self):
        other = NONCE[::-1]
        self.assertEqual(checker.nonces_of_journal(record(NONCE) + record(other)), [NONCE, other])
        self.assertEqual(checker.nonces_of_journal(b""), [])

    def test_a_torn_or_damaged_record_does_not_count(self):
        self.assertEqual(checker.nonces_of_journal(record(NONCE) + record(NONCE[::-1])[:-1]), [NONCE])
        damaged = bytearray(record(NONCE[::-1]))
        damaged[-1] ^= 1
        self.assertEqual(checker.nonces_of_journal(bytes(damaged) + record(NONCE)), [NONCE])


class Database(unittest.TestCase):
    def setUp(self):
        """One configuration, correct; one run, done."""
        self.db = sqlite3.connect(":memory:")
        self.db.create_function("checksum_short", -1, lambda *columns: 0)  # not what the checker looks at
        with open(SCHEMA) as f:
            self.db.executescript(f.read())
        insert(self.db, "run", epoch=1, ending="done")
        insert(self.db, "config", key="c1", params='{"A": 1, "B": "x"}')
        insert(self.db, "outcome", config="c1", outcome="correct")
        insert(self.db, "result", nonce=NONCE, config="c1")
        insert(self.db, "lease", epoch=1, id=1, config="c1", ended_utc=5, ending="done")
        self.wanted = {(1, "x"): "correct"}

    def tearDown(self):
        self.db.close()

    def test_a_sound_sweep_has_no_findings(self):
        self.assertEqual(checker.lost(self.db, {NONCE}, {NONCE}, set()), [])
        self.assertEqual(checker.twice(self.db), [])
        self.assertEqual(checker.wrong(self.db, self.wanted), ([], 0))
        self.assertEqual(checker.unfinished(self.db), [])

    def test_a_result_that_is_gone_is_found(self):
        self.assertIn("was in the database", checker.lost(self.db, {"gone"}, set(), set())[0])
        self.assertIn("was in a journal", checker.lost(self.db, set(), {"gone"}, set())[0])
        self.assertEqual(checker.lost(self.db, set(), {"gone"}, {"gone"}), [])

    def test_a_result_that_counts_twice_is_found(self):
        self.db.execute("DROP INDEX result_identity")
        insert(self.db, "result", nonce="again", config="c1")
        self.assertIn("counts 2 times", checker.twice(self.db)[0])
        self.db.execute("UPDATE result SET counted = 0 WHERE nonce = 'again'")
        self.assertEqual(checker.twice(self.db), [])

    def test_a_second_outcome_is_found(self):
        insert(self.db, "outcome", config="c1", outcome="lost", source_key="other")
        self.assertIn("has 2 outcomes", checker.twice(self.db)[0])

    def test_another_outcome_needs_three_attempts(self):
        self.db.execute("UPDATE outcome SET outcome = 'lost'")
        self.assertIn("ends as lost, not as correct", checker.wrong(self.db, self.wanted)[0][0])
        for id in range(2, 5):
            insert(self.db, "lease", epoch=1, id=id, config="c1", ended_utc=6, ending="lost")
        self.assertEqual(checker.wrong(self.db, self.wanted), ([], 1))
        self.db.execute("UPDATE outcome SET outcome = 'runtime'")
        self.assertIn("ends as runtime", checker.wrong(self.db, self.wanted)[0][0])

    def test_a_configuration_without_an_outcome_is_found(self):
        self.db.execute("DELETE FROM outcome")
        self.assertIn("ends as None", checker.wrong(self.db, self.wanted)[0][0])
        self.assertIn("is missing", checker.wrong(self.db, {**self.wanted, (2, "x"): "correct"})[0][1])

    def test_what_never_ended_is_found(self):
        insert(self.db, "lease", epoch=1, id=2, config="c1")
        self.assertEqual(checker.unfinished(self.db), ["unfinished: lease 2 of the last run"])
        insert(self.db, "run", epoch=2, ending="partial")
        self.assertEqual(checker.unfinished(self.db), ["unfinished: the last run is partial"])


if __name__ == "__main__":
    unittest.main()
