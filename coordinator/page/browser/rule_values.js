"use strict";
/* Values of rules as SQLite has them: null, a whole number (BigInt), a real
 * number and a text; and what operators and functions make of them. */
fa.values = (() => {
    const LEAST = -(2n ** 63n), MOST = 2n ** 63n - 1n;
    const whole = x => x >= LEAST && x <= MOST ? x : Number(x);
    const real = x => Number.isNaN(x) ? null : x;

    /* The number that a text begins with, or 0. */
    function prefix(text) {
        const found = /^\s*([+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)/i.exec(text);
        if (!found)
            return 0n;
        return /^[+-]?\d+$/.test(found[1]) ? whole(BigInt(found[1]))
                                           : Number(found[1]);
    }
    const number = x => typeof x === "string" ? prefix(x) : x;

    function integer(x) {
        x = number(x);
        if (typeof x !== "number")
            return x;
        if (x >= 2 ** 63)
            return MOST;
        return x <= -(2 ** 63) ? LEAST : BigInt(Math.trunc(x));
    }

    /* 1, 0 or null for "not known". */
    function truth(x) {
        if (typeof x === "string")
            x = prefix(x);
        return x === null ? null : typeof x === "bigint" ? x !== 0n : x !== 0;
    }
    const bool = x => x === null ? null : x ? 1n : 0n;

    /* Numbers come before texts. */
    function order(a, b) {
        if (typeof a === "string" !== (typeof b === "string"))
            return typeof a === "string" ? 1 : -1;
        return a < b ? -1 : a > b ? 1 : 0;
    }

    const compared = test => (a, b) =>
        a === null || b === null ? null : test(order(a, b)) ? 1n : 0n;

    function arithmetic(exact, rough) {
        return (a, b) => {
            a = number(a);
            b = number(b);
            if (a === null || b === null)
                return null;
            return typeof a === "bigint" && typeof b === "bigint"
                ? exact(a, b) : real(rough(Number(a), Number(b)));
        };
    }

    function remainder(a, b) {
        const real = [a, b].some(x => typeof number(x) === "number");
        a = integer(a);
        b = integer(b);
        if (a === null || b === null || b === 0n)
            return null;
        return real ? Number(a % b) : a % b;
    }

    function shift(a, by) {
        if (by < 0n)
            return by <= -64n ? (a < 0n ? -1n : 0n) : a >> -by;
        return by >= 64n ? 0n : BigInt.asIntN(64, a << by);
    }

    function bits(make) {
        return (a, b) => {
            a = integer(a);
            b = integer(b);
            return a === null || b === null ? null : make(a, b);
        };
    }

    function and(a, b) {
        if (truth(a) === false || truth(b) === false)
            return 0n;
        return a === null || b === null ? null : 1n;
    }

    function or(a, b) {
        if (truth(a) || truth(b))
            return 1n;
        return a === null || b === null ? null : 0n;
    }

    const binary = {
        "+": arithmetic((a, b) => whole(a + b), (a, b) => a + b),
        "-": arithmetic((a, b) => whole(a - b), (a, b) => a - b),
        "*": arithmetic((a, b) => whole(a * b), (a, b) => a * b),
        "/": arithmetic((a, b) => b === 0n ? null : whole(a / b),
                        (a, b) => b === 0 ? NaN : a / b),
        "%": remainder,
        "&": bits((a, b) => a & b),
        "|": bits((a, b) => a | b),
        "<<": bits(shift),
        ">>": bits((a, b) => shift(a, -b)),
        "<": compared(o => o < 0),
        "<=": compared(o => o <= 0),
        ">": compared(o => o > 0),
        ">=": compared(o => o >= 0),
        "=": compared(o => o === 0),
        "<>": compared(o => o !== 0),
        "AND": and,
        "OR": or,
        "IS": (a, b) => bool(a === null || b === null ? a === b
                                                      : order(a, b) === 0),
    };

    const unary = {
        "-": a => binary["-"](0n, a),
        "+": a => a,
        "~": a => { a = integer(a); return a === null ? null : ~a; },
        "NOT": a => bool(truth(a) === null ? null : !truth(a)),
    };

    /* ---- functions */

    /* A text counts only where all of it is a number. */
    function strict(x) {
        if (typeof x !== "string")
            return x;
        return x.trim() && !Number.isNaN(Number(x)) && !/^\s*[+-]?0[xbo]|inf/i.test(x)
            ? prefix(x) : null;
    }
    const mathematical = make => (...args) => {
        args = args.map(strict);
        return args.includes(null) ? null : real(make(...args.map(Number)));
    };
    const kept = make => x => {
        x = strict(x);
        return typeof x === "number" ? real(make(x)) : x;
    };
    const positive = make => x => x > 0 ? make(x) : NaN;

    function round(x, digits = 0n) {
        if (x === null || digits === null)
            return null;
        x = Number(number(x));
        const places = Math.min(30, Math.max(0, Number(integer(digits))));
        if (Math.abs(x) >= 2 ** 52)
            return x;
        return places === 0 ? Math.sign(x) * Math.floor(Math.abs(x) + 0.5)
                            : Number(x.toFixed(places));
    }

    function extreme(sign) {
        return (...args) => args.includes(null) ? null : args.reduce(
            (best, x) => sign * order(x, best) > 0 ? x : best);
    }

    function abs(x) {
        x = number(x);
        if (typeof x === "bigint")
            return x < 0n ? whole(-x) : x;
        return x === null ? null : Math.abs(x);
    }

    function sign(x) {
        x = strict(x);
        return x === null ? null : BigInt(Math.sign(Number(x)));
    }

    function log(...args) {
        const [base, x] = args.length === 2 ? args : [10, args[0]];
        return base > 0 && x > 0 ? Math.log(x) / Math.log(base) : NaN;
    }

    const first = (...args) => args.find(x => x !== null) ?? null;
    const power = [2, 2, mathematical(Math.pow)];
    const ceiling = [1, 1, kept(Math.ceil)];
    /* name: least and most arguments, function */
    const functions = {
        abs: [1, 1, abs], ceil: ceiling, ceiling,
        coalesce: [2, 99, first], exp: [1, 1, mathematical(Math.exp)],
        floor: [1, 1, kept(Math.floor)], ifnull: [2, 2, first],
        iif: [2, 3, (test, a, b = null) => truth(test) ? a : b],
        ln: [1, 1, mathematical(positive(Math.log))],
        log: [1, 2, mathematical(log)],
        log10: [1, 1, mathematical(positive(x => Math.log(x) / Math.LN10))],
        log2: [1, 1, mathematical(positive(x => Math.log(x) / Math.LN2))],
        max: [2, 99, extreme(1)], min: [2, 99, extreme(-1)],
        mod: [2, 2, mathematical((a, b) => a % b)],
        nullif: [2, 2, (a, b) => binary["="](a, b) === 1n ? null : a],
        pow: power, power, round: [1, 2, round], sign: [1, 1, sign],
        sqrt: [1, 1, mathematical(Math.sqrt)], trunc: [1, 1, kept(Math.trunc)],
    };

    /* '%' stands for any letters, '_' for one; case is ignored. */
    function like(text, pattern) {
        if (text === null || pattern === null)
            return null;
        const source = String(pattern).replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
            .replace(/%/g, "[^]*").replace(/_/g, "[^]");
        return bool(new RegExp(`^${source}$`, "i").test(String(text)));
    }

    function cast(x, type) {
        if (x === null)
            return null;
        return type === "INTEGER" ? integer(x) : Number(number(x));
    }

    return { binary, unary, functions, truth, bool, like, cast, whole };
})();
