"""The Python subset of the coordinator beside Python itself, and its SQL beside SQLite, on drawn expressions.

FA_PY_PEER is the program py_peer.  Everything comes from a fixed seed.
"""
import math
import operator
import os
import random
import re
import sqlite3
import struct
import subprocess
import unittest

DRAWN = 2400
FUNCTIONS = {"abs": abs, "all": all, "any": any, "bin": bin, "bool": bool, "divmod": divmod, "float": float, "int": int, "len": len,
             "list": list, "max": max, "min": min, "pow": pow, "range": range, "reversed": reversed, "round": round, "set": set,
             "sorted": sorted, "str": str, "sum": sum, "tuple": tuple, "math": math, "True": True, "False": False,
             **{name: getattr(math, name) for name in ("ceil", "exp", "fabs", "floor", "gcd", "isqrt", "lcm", "log", "log10", "log2",
                                                       "prod", "sqrt", "trunc")}}


def of_numpy(of_math, otherwise):
    """As NumPy has it where math raises an error."""
    def function(x):
        try:
            return of_math(x)
        except (ValueError, OverflowError):
            return otherwise(x)
    return function


def logarithm(of_math):
    return of_numpy(of_math, lambda x: -math.inf if x == 0 else math.nan)


class Numpy:
    """What the subset has of NumPy; a stand-in, because not every machine has NumPy."""

    pi, e, inf, nan = math.pi, math.e, math.inf, math.nan
    prod, sum, any, all = math.prod, sum, any, all
    abs, fabs, gcd, lcm, fmod, maximum, minimum = abs, math.fabs, math.gcd, math.lcm, math.fmod, max, min
    arange, int32, int64, float64 = range, int, int, float
    power, mod, floor_divide = operator.pow, operator.mod, operator.floordiv
    log, log2, log10 = logarithm(math.log), logarithm(math.log2), logarithm(math.log10)
    sqrt = of_numpy(math.sqrt, lambda x: math.nan)
    exp = of_numpy(math.exp, lambda x: math.inf)

    def max(x): return max(iter(x))
    def min(x): return min(iter(x))
    def ceil(x): return float(math.ceil(x))
    def floor(x): return float(math.floor(x))
    def trunc(x): return float(math.trunc(x))
    def rint(x): return float(round(x))
    def float32(x): return struct.unpack("f", struct.pack("f", x))[0]


FUNCTIONS |= {"np": Numpy, "numpy": Numpy}

# Python that is not in the subset; what Python refuses, too; and forms that a draw seldom makes
OUTSIDE = ["lambda: 1", "a.real", "[].append(1)", "{}", "{'a': 1}", "f'{a:4}'", "f'{a!r}'", "a is b", "'%d' % a", "s.title()",
           "b''", "1j", "...", "max(1, key=a)", "print", "a @ b", "2 ** 127", "10 ** 39 > 1", "'\\x41'", "r'a'", "{1} | {2}",
           "str({1})", "str(range(3))", "sorted([1], reverse=True)", "[x for x, y in [(1, 2)]]", "(a := 1)", "math.nothing", "math", "s.upper", "np.array([1])",
           "(2 ** 80 + 1) / 3"]
REFUSED = ["", "a b", "1 +", "(a", "a)", "[1, 2", "a = 1", "a if b", "007", "1__0", "1_", "'a", "f(1)",
           "__import__('os')", "open('x')", "a not b", "not", "a <> b", "a ? b", "1e", "0x", "0b2", "0o8", "0b", "$", "a[1:2]",
           "a := 1", "x for x in [1]", "max()", "max([])", "max(1)", "min(True, 'a')", "1 < 'a'",
           "[1, 2] + 1", "-'a'", "[1][1]", "[1][-2]", "1 // 0", "1 % 0", "1 / 0", "0 ** -1", "0.0 ** -1.0", "log(0)", "log(2, 1)", "log(-1)", "exp(1000)", "gcd(1.5, 2)", "prod(['a', 'b'])", "# a", "round('a', 1)",
           "1.5 // 0.0", "1 << -1", "1.5 << 1", "sum(['a'])", "range(1.5)", "range(1, 2, 0)", "nothing", "1 in 2",
           "len(3)", "[k for k in 3]", "math.len([1])", "math.max(1, 2)", "np.max(1, 2)", "math.pi()", "None + 1", "None < 1",
           "[1, 2][::0]", "[1][1.0]", "{1, 2}[0]", "{1, 2}[:1]", "3[0]", "3[:1]", "'ab'[2]", "'ab'[-3]", "a[", "[1][]", "[1, 2][0:1:2:3]",
           "int('a')", "int('1.5')", "int('')", "int('-')", "int('1 2')", "float('a')", "float('1e')", "int([1])", "'a' + 1", "1 + 'a'",
           "'a' * 1.5", "[1] * 'a'", "'a' * 'b'", "[1] + (1,)", "range(3) + range(3)", "(1, 2) < [1, 3]", "[1] < ['a']", "range(2) < range(3)",
           "{[1]}", "set([[1]])", "len(k for k in [1])", "(k for k in [1])[0]", "f'{a'", "f'a}'", "f'{}'", "f'{a b}'", "'a'.count()",
           "'a'.index('b')", "[1].index(2)", "a.count(1)", "'a'.find(1)", "'a'.startswith(['a'])", "a.bit_length(1)", "x.bit_length()",
           "a.is_integer(1)", "s.upper(1)", "'a'.split('')", "math.sqrt(-1)", "math.log2(0)", "math.factorial(-1)", "math.isqrt(-1)",
           "math.fmod(1, 0)", "math.pow(0, -1)", "math.gcd(1.0, 2)", "math.lcm('a')", "bin(1.0)", "divmod(1, 0)", "sum([1], [2])", "sum(1, 2)",
           "round(1.5, 'a')", "'a' in [1]['a']", "a && t", "a || t", "!t", "a = b", "[k for k in [1], 2]", "None()", "f(1"]
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
         "[1, 2, 3, 4][1:3]", "[1, 2, 3, 4][::-1]", "[1, 2, 3, 4][-2:]", "[1, 2, 3, 4][:-1:2]", "[1, 2][5:]", "[1, 2][-9:9]", "[1, 2, 3][2:0:-1]",
         "[1, 2, 3][::2]", "(1, 2, 3)[1:]", "list(range(9)[2:8:3])", "[a, b, c][:2] == [a, b]", "max([a, b, c][1:])", "sum([1, 2, 3][a:])",
         "'abcdef'[1:4]", "'abc'[::-1]", "'abc'[0]", "'abc'[-1]", "s[0] == 'n'", "s[1:]", "'h\u00e9llo'[1:3]", "len('h\u00e9')", "'h\u00e9'[::-1]", "[1][-5:5:7]",
         "str(a)", "str(x)", "str(t)", "str(None)", "str('a')", "str()", "str(-0.0)", "str(1e22)", "str(1e-7)", "str(0.1 + 0.2)", "str([1, 'a', (2,)])",
         "str((a, b))", "str(10 ** 30)", "str(a) + 'x' + str(b) == '3x4'", "int(str(a) + str(c))", "len(str(c))", "str(float('inf'))", "str(float('nan'))",
         "f'{a}x{b}'", "f'{{{a + 1}}}'", "f''", "f'{x}'", "f'{a}' == str(a)", "F\"{s}'\"", "f'{s[0]}{max(a, b)}'", "f'{t}'", "len(f'{a}{b}')",
         "'a' * 3", "2 * 'ab'", "'a' * -1", "[a] * 2", "(1, 2) * 2", "[0] * 0", "'a' + 'b' 'c'[0:0] == 'ab' or True", "'a\\'b'", "'a\\nb'", "'\\q'",
         "s == 'nn'", "s != 'nt'", "s in ('nn', 'tt')", "s not in ['tn']", "s < 'nz'", "s >= 'nt'", "s == 'nn' and a > 2", "s + 'x' == 'nnx'",
         "s.startswith('n')", "s.endswith(('n', 't'))", "s.upper()", "'AbC'.lower()", "s.count('n')", "s.find('t')", "s.replace('n', 'm')",
         "' a b '.strip()", "'xaax'.strip('x')", "'a,b,,c'.split(',')", "' a  b '.split()", "''.split()", "''.split(',')", "'12'.isdigit()", "''.isdigit()",
         "[1, 2, 1].count(1)", "(3, 4).index(4)", "range(5).index(3)", "'abab'.count('ab')", "'aaa'.count('')", "s.index('n') if 'n' in s else -1",
         "s", "not s", "'n' in s", "s and a", "s or a", "min(s, 'nt')", "sorted(s)", "list(s)", "set(s) == {'n'}", "any(k == 't' for k in s)",
         "[k for k in 'ab']", "max('abc')", "tuple('ab')", "all(s)", "s is None", "None is None", "a is not None", "None == None", "None == 0", "None",
         "not None", "a if None else b", "[None, 1][0]", "None in [None]", "a in (None, 3)", "t is None", "x is None or x > 1", "[None] == [None]",
         "int('12')", "int(' -7 ')", "int('+1_000')", "float('1.5')", "float(' 1e3 ')", "float('-inf')", "float('nan') == 1", "int('0012')", "int()",
         "float()", "bool()", "int(t)", "float(t)", "a.bit_length()", "(a & (a - 1)) == 0", "bin(a).count('1') == 1", "bin(b)", "a.bit_count()", "t.bit_length()",
         "(a / c).is_integer()", "x.is_integer()", "math.log2(c).is_integer()", "float('inf').is_integer()", "divmod(a, c)", "divmod(y, 2)", "divmod(-7, 2)[1]",
         "np.prod([a, b, c])", "np.ceil(a / c)", "numpy.floor(y)", "np.log2(c)", "np.log2(a)", "np.log2(b) < 2", "np.sqrt(b)", "np.log(x)", "np.exp(c)",
         "np.max([a, b])", "np.min([a, c])", "np.sum([a, b])", "np.maximum(a, b)", "np.minimum(a, b)", "np.abs(b)", "np.any([a > 1, t])",
         "np.all([a > 1, t])", "np.mod(a, c)", "np.power(c, 2)", "np.floor_divide(b, c)", "np.rint(y)", "np.trunc(y)", "np.pi > 3", "np.gcd(a, c)",
         "np.int32(y)", "np.float32(x)", "np.float32(0.1)", "list(np.arange(3))", "np.log10(a + 1)", "np.inf > a", "np.fmod(y, 2)", "np.ceil(a / c) * c <= 12",
         "math.pi", "math.e < math.tau", "math.inf > a", "a < math.nan", "math.pow(a, 2)", "math.pow(c, -1)", "math.fmod(y, 3)", "math.isqrt(c)",
         "math.isqrt(10 ** 30)", "math.factorial(c)", "math.lcm(a, c)", "math.lcm()", "math.lcm(4, 6, 10)", "math.isinf(x)", "math.isnan(y)", "math . ceil(y)",
         "math.log2(c)", "math.sqrt(c)", "math.log2(a + 1) * 2", "math.ceil(math.log2(c))", "sqrt(x)", "log2(c) == 3 or log2(c) > 3",
         "2 ** 63", "2 ** 64 - 1", "-2 ** 100", "10 ** 30 // 7", "10 ** 30 % 7", "-10 ** 30 // 7", "-10 ** 30 % 7", "2 ** 100 > a", "a < 2 ** 63", "2 ** 63 == 2.0 ** 63",
         "2 ** 63 + 1 == 2.0 ** 63", "a * 2 ** 62 < 2 ** 64", "(1 << 70) >> 68", "~(1 << 70)", "-2 ** 126 - 2 ** 126", "2 ** 64 / 2 ** 60", "0xFFFFFFFFFFFFFFFF", "18446744073709551616 > a",
         "float(2 ** 70)", "int(1e30)", "1e30 > 10 ** 30", "2 ** 70 in (a, 2 ** 70)", "c ** 20 % 7", "c ** 30 > 10 ** 20", "3 ** (c * 2) % 10", "1 << c * 4", "(1 << c * 4) % 5 == 1",
         "c ** 15 & 1023", "c ** 15 * c // 3", "a << 62", "b << 61", "(a << 60) // 3", "abs(b) ** 18", "b ** 17", "b ** 17 % 10 == 7", "-(2 ** 63) + a", "math.gcd(2 ** 90, 6 ** 40)",
         "[1, 2] < [1, 3]", "(1, 2) < (1, 2, 0)", "(a, b) < (c, 1)", "(a, b) == (3, 4)", "[1] == (1,)", "(1,) == [1]", "[0, 1] == range(2)", "range(3) == range(0, 3)",
         "[1] != (1,)", "{1} < {1, 2}", "{1, 5} < {2}", "{2, 1} <= {1, 2}", "{1} > {2}", "[(1, 2), (2, 1)] == sorted([(2, 1), (1, 2)])", "(a, c) in [(1, 2), (4, 4)]", "(1) == 1",
         "max((a, 1), (c, 0))", "max([[1, 2], [1, 3]])", "True == 1", "True in [1]", "1.0 in [True]", "True is True", "True + 1.0", "[True, 1.0] == [1, 1]", "'1' == 1", "(1 == True) is True",
         "list(reversed([1, 2]))", "sum([1, 2], 3)", "sum([], 0.5)", "round(1234, -2)", "round(1250, -2)", "round(-1350, -2)", "round(2.5, None)", "round(b, -1)", "sum(k for k in range(4) if k)",
         "(k for k in [1]) == 1", "bool(k for k in [])", "list(k for k in 'ab')", "tuple([1])", "list((1,))", "len(range(0, 9, 2))", "3 in range(9)", "range(9)[2]",
         "b // c == -1", "b % c", "y // 2", "y % 2", "y // -2", "-7 // -2", "7 // -2", "7.0 // 2", "-7 % -3", "2 ** -2", "c ** -1", "(-2) ** 2", "(-2) ** -1", "-2.0 ** 2", "0 ** 0", "0.0 ** 0", "2 ** 0.5", "7 / 2", "6 / 3", "-1 / 2",
         "1 if a > 2 else 0 if b else 2", "a > 2 if t else b < 0", "a < b < c", "a < b > c", "a == b != c", "1 < a < 5 < c", "a in (1, 2) == t", "not a in (1, 2)",
         "a+1in[1,2]", "x % 0.1", "y // 0.1 == 9", "x % -0.1 == 0", "y % 0.3 > 0.1", "1.0 // 0.1 == 9 * a"]

# Python raises an error for a division by zero only if it gets there
DIVISIONS = ["len('ab'[8 % b:]) < 9 and a >= 0", "str(8 % b) == '2' or t", "np.ceil(8 / b) > a or t", "8 % b == 0 or a >= 0", "not (8 % b == 0 and a < 0)", "1 if 8 % b else 1", "a in (a, 8 % b)",
             "any([8 % b, 1])", "not all(8 % k for k in [b, 9])", "b == 0 or 8 % b == 0", "b and 8 % b == 0", "0 <= a < 8 // b < 3",
             "not 8 // b < a < -1", "any(k for k in [1, 2] if 8 % b < 9)", "8 % (abs(b) + 1) < 9", "8 // max(c, 2)"]


class Draw:
    """Expressions over a b c (whole), x y (real), t (a truth), s (a text)."""

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
            lambda: f"sum([{a}, {b}, 1])", lambda: f"sum([{a}, {b}, 2][{self.place()}:{self.place()}])",
            lambda: f"len(str({self.whole(depth - 1)}))", lambda: f"np.ceil({a} / 2)", lambda: f"math.floor({a})",
            lambda: f"np.prod([{self.whole(depth - 1)}, {b}])", lambda: f"np.maximum({a}, {b})", lambda: f"len({self.text(depth - 1)})",
            lambda: f"np.log2(abs({a}) + 1)", lambda: f"math.log2(abs({a}) + 1)", lambda: f"({a}, {b})[{self.random.randrange(-2, 2)}]",
            lambda: f"{self.text(depth - 1)}.count('n')", lambda: f"round({a}, 1)", lambda: f"{self.whole(depth)} * 2 ** 60"])()

    def place(self):
        return self.random.choice(["", "", "0", "1", "2", "-1", "-2", "a", "b"])

    def text(self, depth):
        pick = self.random.choice
        if depth == 0:
            return pick(["s", "s", "'nn'", "'t'", "str(a)", "f'{a}n'"])
        a, b = self.text(depth - 1), self.text(self.random.randrange(depth))
        return pick([f"({a} + {b})", f"{a}[{self.place()}:{self.place()}]", f"{a} * 2", f"str({self.whole(depth - 1)})", f"({a} if t else {b})",
                     f"{a}.replace('n', 't')", f"{a}.upper()", f"min({a}, {b})", f"{a}[::-1]"])

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
            return pick(["t", "True", "a", "b == 0", "c > 2", "x < 1", "s == 'nn'", "a is None", "s"])
        a, b = self.number(depth - 1), self.number(self.random.randrange(depth))
        return pick([
            lambda: f"{a} < {b}", lambda: f"{a} <= {b} < {self.number(1)}", lambda: f"{a} == {b}", lambda: f"{a} != {b}",
            lambda: f"{a} >= {b}", lambda: f"{self.whole(depth)} == {self.whole(depth - 1)}",
            lambda: f"{self.whole(depth)} <= {self.whole(depth - 1)}", lambda: f"(not {self.truth(depth - 1)})",
            lambda: f"({self.truth(depth - 1)} and {self.truth(depth - 1)})",
            lambda: f"({self.truth(depth - 1)} or {self.truth(depth - 1)})",
            lambda: f"({a} in [1, 2, {b}])", lambda: f"({a} not in range(4))",
            lambda: f"any({self.number(depth - 1, 'abck')} == k for k in range(1, 4))",
            lambda: f"all(k < {a} for k in (1, 2) if {b} > k)", lambda: f"{self.text(depth - 1)} == {self.text(depth - 1)}",
            lambda: f"{self.text(depth - 1)} < {self.text(depth - 1)}", lambda: f"{self.text(depth - 1)} in ('nn', {self.text(depth - 1)})",
            lambda: f"{self.text(depth - 1)}.startswith('n')", lambda: f"({a}, {b}) < (1, 2)", lambda: f"({a}) is not None",
            lambda: f"bin({self.whole(depth - 1)}).count('1') == 1"])()

    def values(self):
        r = self.random
        return {"a": r.randrange(10), "b": r.randrange(-9, 10), "c": 2 ** r.randrange(5), "x": r.randrange(16) / 4,
                "y": r.randrange(-36, 36) / 4, "t": r.random() < 0.5, "s": r.choice(["nn", "nt", "tn"])}


class Refused:
    """Python raises an error."""


def text(hexadecimal):
    return bytes.fromhex(hexadecimal).decode()


class Range(list):
    pass


class Once(list):
    """A generator, or another iterator."""


def of_python(expression, values):
    """The value, or Refused."""
    try:
        value = eval(expression, {"__builtins__": {}, **FUNCTIONS, **values})  # of our own draws only
    except (ArithmeticError, TypeError, ValueError, SyntaxError, NameError, LookupError, AttributeError):
        return Refused
    return Refused if isinstance(value, complex) else value


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
    if isinstance(a, range) or hasattr(a, "__next__"):
        a = (Range if isinstance(a, range) else Once)(a)
    if isinstance(a, (list, tuple)) and type(a) is type(b):
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
            self.zeros += self.sql(sql, Refused, values, where)
            return False, False
        if got.startswith("!"):
            limit = re.search("12[78] bits|53 bits|too large|complex", got)
            self.assertTrue(wanted is Refused or limit, where)
        else:
            self.assertIsNot(wanted, Refused, where)
            self.assertTrue(same(wanted, eval(got, {"float": float, "set": set, "Range": Range, "Once": Once, "text": text})), where)
        return (wanted is not Refused and not got.startswith("!"),
                wanted is not Refused and self.sql(sql, hasattr(wanted, "__next__") or wanted, values, where))

    def sql(self, sql, wanted, values, where):
        if sql.startswith("!"):
            return False
        columns = ", ".join(f"? AS {name}" for name in values)
        found = self.db.execute(f"SELECT {sql} FROM (SELECT {columns})", list(values.values())).fetchone()[0]
        self.assertEqual(found, None if wanted is Refused else int(bool(wanted)), f"{where}, SQL {sql}")
        return True

    def test_forms(self):
        draw = Draw(1)
        for expression in FORMS:
            for _ in range(4):
                values = draw.values()
                self.assertTrue(self.check(expression, values)[0] or of_python(expression, values) is Refused, expression)

    def test_a_division_by_zero_is_null_where_python_gets_there(self):
        draw = Draw(2)
        for expression in DIVISIONS:
            for b in 0, 1, -3:
                self.check(expression, draw.values() | {"b": b})
        self.assertGreaterEqual(self.zeros, 5)

    def test_what_python_refuses_is_refused(self):
        values = Draw(1).values()
        for expression in REFUSED:
            self.assertIs(of_python(expression, values), Refused, expression)
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
        self.assertGreater(self.zeros, DRAWN * 0.005, "some divide by zero")


if __name__ == "__main__":
    unittest.main()
