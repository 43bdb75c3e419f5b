"""The Python subset of the coordinator beside Python itself, and its SQL beside SQLite, on drawn expressions.

FA_PY_PEER is the program py_peer.  Everything comes from a fixed seed.
"""
import math
import os
import random
import sqlite3
import subprocess
import unittest

DRAWN = 6000
NAMES = "abcxyt"
FUNCTIONS = {"abs": abs, "all": all, "any": any, "bool": bool, "float": float, "int": int, "len": len, "list": list,
             "max": max, "min": min, "pow": pow, "exp": math.exp, "fabs": math.fabs, "gcd": math.gcd, "log": math.log, "log10": math.log10,
             "prod": math.prod, "trunc": math.trunc, "range": range, "round": round, "set": set, "sorted": sorted, "sum": sum,
             "tuple": tuple, "ceil": math.ceil, "floor": math.floor, "math": math, "True": True, "False": False}

# Python that is not in the subset; what Python refuses, too; and forms that a draw seldom makes
OUTSIDE = ["lambda: 1", "a.real", "[1, 2][0:1]", "[].append(1)", "'a' * 2", "{}", "{'a': 1}", "f'{a}'", "a is b",
           "b''", "1j", "...", "None", "max(1, key=a)", "print", "a @ b", "2 ** 63", "10 ** 30 > 1"]
REFUSED = ["", "a b", "1 +", "(a", "a)", "[1, 2", "a = 1", "a if b", "007", "1__0", "1_", "'a", "f(1)",
           "__import__('os')", "open('x')", "a not b", "not", "a <> b", "a ? b", "1e", "0x", "0b2", "0o8", "0b", "$", "a[1:2]",
           "a := 1", "x for x in [1]", "max()", "max([])", "max(1)", "min(True, 'a')", "1 < 'a'",
           "[1, 2] + 1", "-'a'", "[1][1]", "[1][-2]", "1 // 0", "1 % 0", "1 / 0", "0 ** -1", "0.0 ** -1.0", "log(0)", "log(2, 1)", "log(-1)", "exp(1000)", "gcd(1.5, 2)", "prod(['a', 'b'])", "# a", "round('a', 1)",
           "1.5 // 0.0", "1 << -1", "1.5 << 1", "sum(['a'])", "range(1.5)", "range(1, 2, 0)", "nothing", "1 in 2",
           "len(3)", "[k for k in 3]"]
FORMS = ["[1, 2] + list(range(32, 100+1, 32))", "a in [1, 2] + [3]", "max([a] + [b])", "1 < 2 < 3", "3 > 2 > 2", "1 < 2 > 1 == 1", "not 1 == 2", "-2 ** 2", "2 ** -1", "2 ** 3 ** 2", "-7 // 2", "-7 % 3",
         "7 % -3", "-7.5 // 2", "-7.5 % 2", "7.5 % -2", "0.3 // 0.1", "1e300 * 1e10", "5 and 0", "0 or 'x'", "[] or 3",
         "a if t else b", "1 if a else 2 if b else 3", "(1,)", "()", "(1, 2)[1]", "[3, 4, 5][-1]", "1_000", "0x1F", "0o17", "0B101 + 0b_1", "set([1, 2]) == set([2, 1])",
         ".5", "1.",
         "1e-3", "'a' in 'cab'", "2 in [1, 2]", "2 not in (1, 2)", "[k * k for k in range(5) if k % 2]",
         "sum(i * j for i in range(3) for j in range(i))", "any(a == 2 ** k for k in range(8))",
         "all(a % k for k in range(2, 4))", "a in [2 ** k for k in range(8)]", "max(a, b, c)", "min(a, 3) * 2",
         "sum(1 for k in [a, b, c] if k > 2)", "len([k for k in range(9) if a > k])", "math.ceil(a / 3) <= c",
         "~a & 7", "a ^ c", "(a | 1) << 2", "a >> 1", "True + True", "True & False", "round(2.5)", "round(-3.5)",
         "int(-2.7)", "abs(b)", "10 // c * c <= 10", "a / c == 2", "a // c ** 2", "bool(a) == t", "t == True", "t == 1",
         "sorted([3, 1, 2])", "list(range(10, 0, -3))", "list(range(5, 5))", "'a' < 'b'", '"its"',
         "'a' == 1", "1 == 1.0 == True", "9007199254740993 == 9007199254740992.0", "9007199254740993 > 9007199254740992.0",
         "b // c", "b % c", "b // -c", "x // y", "x % y", "(a and b) + 1", "(b or c) > 2", "not a", "not (a and t)",
         "a <= b <= c <= 100", "[k for k in range(3)] == [0, 1, 2]", "any(k == a or k == b for k in (1, 2, 4))",
         "t is True", "t is not True", "a is True", "not t is False", "(a > 1) is t", "round(x, 1)", "round(y / 3, 2) == 0.08",
         "round(a, 1)", "round(2.675, 2)", "round(1e300, 3)", "math.gcd(a, b)", "gcd(12, -18)", "gcd()", "gcd(0, 0)", "math.log(c, 2) < 2",
         "log(c)", "math.log10(c)", "math.fabs(b)", "math.prod([a, b, x])", "prod([])", "math.trunc(y)", "math.exp(y / 9)",
         "a < 3 # and more", "a in {1, 2}", "{2, 1} == {1, 2, 1}", "len({k % 2 for k in range(9)}) == 2", "a<1or b>4", "1if t else 0", "a==2and b",
         "a+1in[1,2]", "x % 0.1", "y // 0.1 == 9", "x % -0.1 == 0", "y % 0.3 > 0.1", "1.0 // 0.1 == 9 * a"]

# Python raises an error for a division by zero only if it gets there
DIVISIONS = ["8 % b == 0 or a >= 0", "not (8 % b == 0 and a < 0)", "1 if 8 % b else 1", "a in (a, 8 % b)",
             "any([8 % b, 1])", "not all(8 % k for k in [b, 9])", "b == 0 or 8 % b == 0", "b and 8 % b == 0", "0 <= a < 8 // b < 3",
             "not 8 // b < a < -1", "any(k for k in [1, 2] if 8 % b < 9)", "8 % (abs(b) + 1) < 9", "8 // max(c, 2)"]


class Draw:
    """Expressions over a b c (whole), x y (real), t (a truth)."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def number(self, depth, names="abcxy"):
        pick = self.random.choice
        if depth == 0:
            return pick([*names, str(self.random.randrange(10)), str(self.random.randrange(10)), "0.5", "2.25"])
        a, b = self.number(depth - 1, names), self.number(self.random.randrange(depth), names)
        return pick([
            lambda: f"({a} + {b})", lambda: f"({a} - {b})", lambda: f"{a} * {b}", lambda: f"{a} / {b}",
            lambda: f"{a} // {b}", lambda: f"{a} % {b}", lambda: f"-{a}", lambda: f"({a}) ** {self.random.randrange(4)}",
            lambda: f"max({a}, {b})", lambda: f"min({a}, {b}, 3)", lambda: f"abs({a})", lambda: f"int({a})",
            lambda: f"({a} if {self.truth(depth - 1)} else {b})", lambda: f"({a} or {b})", lambda: f"({a} and {b})",
            lambda: f"sum(k * {a} for k in range({self.random.randrange(4)}))",
            lambda: f"sum([{a}, {b}, 1])"])()

    def whole(self, depth):
        pick = self.random.choice
        if depth == 0:
            return pick([*"abc", str(self.random.randrange(12))])
        a, b = self.whole(depth - 1), self.whole(self.random.randrange(depth))
        return pick([f"({a} + {b})", f"({a} - {b})", f"{a} * {b}", f"({a} // {b})", f"({a} % {b})", f"({a} & {b})",
                     f"({a} | {b})", f"({a} ^ {b})", f"~{a}", f"({a} << {self.random.randrange(4)})", f"({a} >> 1)"])

    def truth(self, depth):
        pick = self.random.choice
        if depth == 0:
            return pick(["t", "True", "a", "b == 0", "c > 2", "x < 1"])
        a, b = self.number(depth - 1), self.number(self.random.randrange(depth))
        return pick([
            lambda: f"{a} < {b}", lambda: f"{a} <= {b} < {self.number(1)}", lambda: f"{a} == {b}", lambda: f"{a} != {b}",
            lambda: f"{a} >= {b}", lambda: f"{self.whole(depth)} == {self.whole(depth - 1)}",
            lambda: f"{self.whole(depth)} <= {self.whole(depth - 1)}", lambda: f"(not {self.truth(depth - 1)})",
            lambda: f"({self.truth(depth - 1)} and {self.truth(depth - 1)})",
            lambda: f"({self.truth(depth - 1)} or {self.truth(depth - 1)})",
            lambda: f"({a} in [1, 2, {b}])", lambda: f"({a} not in range(4))",
            lambda: f"any({self.number(depth - 1, 'abck')} == k for k in range(1, 4))",
            lambda: f"all(k < {a} for k in (1, 2) if {b} > k)"])()

    def values(self):
        r = self.random
        return {"a": r.randrange(10), "b": r.randrange(-9, 10), "c": 2 ** r.randrange(5), "x": r.randrange(16) / 4,
                "y": r.randrange(-36, 36) / 4, "t": r.random() < 0.5}


def of_python(expression, values):
    """The value, or None where Python raises an error."""
    try:
        value = eval(expression, {"__builtins__": {}, **FUNCTIONS, **values})  # of our own draws only
    except (ArithmeticError, TypeError, ValueError, SyntaxError, NameError, LookupError, AttributeError):
        return None
    return None if isinstance(value, complex) else list(value) if isinstance(value, (tuple, range)) else value


def divides_by_zero(expression, values):
    try:
        eval(expression, {"__builtins__": {}, **FUNCTIONS, **values})
    except ZeroDivisionError:
        return True
    except (ArithmeticError, TypeError, ValueError, SyntaxError, NameError, LookupError, AttributeError):
        pass
    return False


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=4e-16)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


class Peer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.peer = subprocess.Popen([os.environ["FA_PY_PEER"]], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        cls.db = sqlite3.connect(":memory:")

    @classmethod
    def tearDownClass(cls):
        cls.peer.stdin.close()
        cls.peer.stdout.close()
        cls.peer.wait(timeout=10)
        cls.db.close()

    def setUp(self):
        self.zeros = 0  # expressions with a division by zero that have SQL

    def ask(self, expression, values):
        fields = [str(int(v) if isinstance(v, bool) else v) for v in values.values()]
        self.peer.stdin.write("\t".join([expression, *fields]) + "\n")
        self.peer.stdin.flush()
        return self.peer.stdout.readline().rstrip("\n").split("\t")

    def check(self, expression, values):
        """Returns what was compared: the value, the SQL."""
        wanted = of_python(expression, values)
        got, sql, fails = self.ask(expression, values)
        where = f"{expression} with {values}: Python {wanted!r}, ours {got}"
        if divides_by_zero(expression, values):
            self.assertEqual(fails, "1", where)
            self.zeros += self.sql(sql, None, values, where)
            return False, False
        if got.startswith("!"):
            limit = "64 bits" in got or "too large" in got
            self.assertTrue(wanted is None or limit, where)
        else:
            self.assertIsNotNone(wanted, where)
            self.assertTrue(same(wanted, eval(got, {"float": float})), where)
        return wanted is not None and not got.startswith("!"), wanted is not None and self.sql(sql, wanted, values, where)

    def sql(self, sql, wanted, values, where):
        if sql.startswith("!"):
            return False
        columns = ", ".join(f"? AS {name}" for name in values)
        found = self.db.execute(f"SELECT {sql} FROM (SELECT {columns})", list(values.values())).fetchone()[0]
        self.assertEqual(found, None if wanted is None else int(bool(wanted)), f"{where}, SQL {sql}")
        return True

    def test_forms(self):
        draw = Draw(1)
        for expression in FORMS:
            for _ in range(4):
                values = draw.values()
                self.assertTrue(self.check(expression, values)[0] or of_python(expression, values) is None, expression)

    def test_a_division_by_zero_is_null_where_python_gets_there(self):
        draw = Draw(2)
        for expression in DIVISIONS:
            for b in 0, 1, -3:
                self.check(expression, draw.values() | {"b": b})
        self.assertGreaterEqual(self.zeros, 5)

    def test_what_python_refuses_is_refused(self):
        values = Draw(1).values()
        for expression in REFUSED:
            self.assertIsNone(of_python(expression, values), expression)
            self.assertTrue(self.ask(expression, values)[0].startswith("!"), expression)

    def test_what_is_outside_of_the_subset_is_refused(self):
        values = Draw(1).values()
        for expression in OUTSIDE:
            self.assertTrue(self.ask(expression, values)[0].startswith("!"), expression)

    def test_drawn_expressions(self):
        draw = Draw(20)
        compared = in_sql = 0
        for i in range(DRAWN):
            depth = 1 + i % 3
            expression = draw.truth(depth) if i % 2 else draw.number(depth)
            value, sql = self.check(expression, draw.values())
            compared += value
            in_sql += sql
        self.assertGreater(compared, DRAWN * 0.7, "most have a value")
        self.assertGreater(in_sql, DRAWN * 0.6, "most can be a gate")
        self.assertGreater(self.zeros, DRAWN * 0.01, "some divide by zero")


if __name__ == "__main__":
    unittest.main()
