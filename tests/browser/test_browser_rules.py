"""Rules in the page mean what they mean in a sweep file and in 'report --where'."""

import json
import random
import sqlite3
import unittest

import pages

NAMES = ["BLOCK_M", "STAGES", "SWIZZLE", "rank", "median_s", "normalised_s", "registers", "tflops", "outcome", "reason",
         "spill_bytes", "baseline", "NULL"]
NUMBERS = ["0", "1", "2", "3", "-7", "64", "128", "0.5", "1e-4", "2.5", "0x10", "9223372036854775807", "1e18"]
TEXTS = ["'correct'", "'12abc'", "''", "'2.5'", "'-3'", "'a''b'"]
FIXED = [
    "BLOCK_M / 3 * 3 = BLOCK_M", "5 / 2 = 2", "5.0 / 2 = 2.5", "-7 / 2 = -3", "-7 % 3 = -1", "7.9 % 3 = 1.0",
    "NOT BLOCK_M = 128", "NOT SWIZZLE", "BLOCK_M BETWEEN 65 AND 200", "BLOCK_M NOT BETWEEN 65 AND 200",
    "STAGES IN (2, 4)", "STAGES NOT IN (2, NULL)", "NULL IN (1)", "NULL IS NULL", "1 IS NOT NULL", "STAGES ISNULL",
    "STAGES NOT NULL", "outcome = 'correct' AND rank <= 10", "block_m = 64", "TRUE AND NOT FALSE", "1 / 0 IS NULL",
    "CASE STAGES WHEN 2 THEN SWIZZLE WHEN 3 THEN 1 ELSE 0 END", "CASE WHEN median_s < 1e-4 THEN 1 END",
    "CAST(2.9 AS INTEGER) = 2", "CAST('7x' AS INTEGER) = 7", "CAST(7 AS REAL) / 2 = 3.5", "1 << 62 > 0", "1 << 63 < 0",
    "1 << 64 = 0", "-1 >> 70 = -1", "4 >> -1 = 8", "~5 = -6", "5 & 3 = 1 AND 5 | 3 = 7", "- - 3 = 3", "2 - -3 = 5",
    "9223372036854775807 + 1 > 9e18", "'abc' > 5", "5 < 'abc'", "'10' < 9", "'a' < 'b'",
    "abs(-3) = 3", "abs(-2.5) = 2.5", "ceil(2.1) = 3", "ceiling(-2.1) = -2", "floor(-2.1) = -3", "trunc(-2.9) = -2",
    "coalesce(NULL, NULL, 3) = 3", "ifnull(NULL, 2) = 2", "iif(STAGES = 2, 1, 0)", "nullif(STAGES, 2) IS NULL",
    "exp(0) = 1", "ln(1) = 0", "ln(0) IS NULL", "log(100) = 2", "log(2, 8) = 3", "log10(1000) = 3", "log2(8) = 3",
    "sqrt(-1) IS NULL", "sqrt(BLOCK_M) = 8", "pow(2, 10) = 1024", "power(2, 0.5) < 1.5", "mod(7, 4) = 3",
    "mod(7.5, 2) = 1.5", "round(2.5) = 3", "round(-2.5) = -3", "round(2.345, 2) = 2.35", "sign(-0.5) = -1",
    "min(STAGES, 3) = 3", "max(1, 2.5, 2) = 2.5", "max(1, NULL) IS NULL", "min('a', 1) = 1", "reason LIKE '%'",
    "outcome LIKE 'COR%'", "outcome NOT LIKE '_x%'", "STAGES = 2 = SWIZZLE", "STAGES < 3 < 1", "1 + 2 * 3 = 7",
    "6 - 2 - 1 = 3", "1 < 2 = 1", "3 & 1 < 2", "NOT NULL IS NULL", "NOT 1 + 1", "1 OR NULL", "NULL AND 0 IS NOT NULL",
    "ceil('2.5') = 3", "sqrt('abc') IS NULL", "0 * 1e999 IS NULL", "'5' + 3 = 8", "-'5' = -5", "+'5' = '5'",
]
COUNT = 24  # configurations
WRONG = ["BLOCK_M =", "(BLOCK_M", "BLOCK_M 64", "nothing = 1", "foo(1)", "1 +* 2", "abs(1, 2)", "CASE END", "1;2", "\"a\""]


def expression(draw, depth=0):
    """One of random form; what it means is for SQLite to say."""
    kind = draw.randrange(3 if depth > 3 else 12)
    part = lambda: expression(draw, depth + 1)
    if kind == 0:
        return draw.choice(NAMES)
    if kind == 1:
        return draw.choice(NUMBERS)
    if kind == 2:
        return draw.choice(NAMES if draw.random() < 0.7 else TEXTS)
    if kind < 6:
        return f"({part()} {draw.choice(['+', '-', '*', '/', '%', '&', '|', '<<', '>>'])} {part()})"
    if kind < 8:
        return f"({part()} {draw.choice(['<', '<=', '>', '>=', '=', '<>', '==', '!=', 'IS', 'IS NOT', 'AND', 'OR'])} {part()})"
    if kind == 8:
        return f"({draw.choice(['NOT', '-', '~', '+'])} {part()})"
    if kind == 9:
        return f"({part()} {draw.choice(['', 'NOT '])}IN ({part()}, {part()}))"
    if kind == 10:
        return f"CASE WHEN {part()} THEN {part()} ELSE {part()} END"
    name = draw.choice(["abs", "coalesce", "floor", "iif", "max", "min", "round", "sign", "sqrt", "nullif", "trunc"])
    count = {"coalesce": 2, "iif": 3, "max": 2, "min": 3, "nullif": 2}.get(name, 1)
    return f"{name}({', '.join(part() for _ in range(count))})"


class Rules(pages.Pages):

    def where(self, rules, shift):
        """Whether each rule is true of one configuration, its place in the list and 'shift' further, as fa-coord says.

        One report answers for COUNT rules, each of them at another configuration."""
        out = []
        for first in range(0, len(rules), COUNT):
            some = rules[first:first + COUNT]
            arms = "".join(f" WHEN {(n + shift) % COUNT + 1} THEN ({rule})" for n, rule in enumerate(some))
            text = self.coord("report", self.small, "--csv", "--where", f"CASE rank{arms} END")
            ranks = {int(line.split(",")[1]) for line in text.splitlines()[1:]}
            out += [(n + shift) % COUNT + 1 in ranks for n in range(len(some))]
        return out

    def true_here(self, rules, shift):
        return self.browser.run(f"""{json.dumps(rules)}.map((text, n) =>
            fa.values.truth(fa.rule(text, fa.names(fa.data))((n + {shift}) % {COUNT})) === true)""")

    def here(self, rules):
        return self.browser.run(f"""{json.dumps(rules)}.map(text => {{
            const rule = fa.rule(text, fa.names(fa.data));
            return Array.from(fa.all(fa.data.n).filter(i => fa.values.truth(rule(i))), i => fa.data.key(i)).sort();
        }})""")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.small = cls.path("small.db")
        with sqlite3.connect(cls.database("record")) as source:
            source.execute("VACUUM INTO ?", (cls.small,))
        with sqlite3.connect(cls.small) as db:  # so that each of some hundred reports is quick
            keep = [row[0] for row in db.execute("SELECT key FROM config ORDER BY baseline DESC, key LIMIT ?", (COUNT,))]
            marks = ",".join("?" * len(keep))
            for table in ("outcome", "result", "build"):
                db.execute(f"DELETE FROM {table} WHERE config NOT IN ({marks})", keep)
            for table in ("contestant", "contest_shape", "contest", "tool"):
                db.execute(f"DELETE FROM {table}")
            db.execute("DELETE FROM step")
            db.execute(f"DELETE FROM config WHERE key NOT IN ({marks})", keep)

    def test_rules_choose_what_where_chooses(self):
        self.browser.open(self.page("small"))
        draw = random.Random(11)
        rules = FIXED + [expression(draw) for _ in range(360)]
        answers = []
        for shift in 0, 5, 13:
            theirs = self.where(rules, shift)
            differ = [(rule, there) for rule, there, here in zip(rules, theirs, self.true_here(rules, shift)) if there != here]
            self.assertEqual(differ, [], "a rule, and whether SQLite takes it for true")
            answers.append(theirs)
        self.assertGreater(sum(len(set(answer)) > 1 for answer in zip(*answers)), 10, "rules depend on the configuration")
        self.assertQuiet()

    def test_a_wrong_rule_says_where(self):
        self.browser.open(self.page("small"))
        for rule in WRONG:
            said = self.browser.run(f"(() => {{ try {{ fa.rule({json.dumps(rule)}, fa.names(fa.data)); return ''; }}"
                                    " catch (error) { return error.message; } })()")
            self.assertRegex(said, "at character [0-9]+$", rule)

    def test_gates_warn_in_the_page_of_what_they_warned_of(self):
        """Gates use derived values, variables of shapes and facts of the device."""
        self.browser.open(self.page("record"))
        with sqlite3.connect(self.database("record")) as db:
            gates = db.execute("SELECT name, rule FROM gate WHERE kind = 'warn' AND sweep = (SELECT max(sweep) FROM gate)").fetchall()
            params = db.execute("SELECT key, warnings FROM config").fetchall()
        self.assertGreater(len(gates), 3)
        names, rules = zip(*gates)
        warned = self.here(list(rules))
        for name, keys in zip(names, warned):
            self.assertEqual(keys, sorted(key[:8] for key, warnings in params if name in json.loads(warnings)), name)
        self.assertTrue(any(warned))


if __name__ == "__main__":
    unittest.main()
