"use strict";
/* Rules in the page: the expressions of a sweep file (docs/sweep-file.md,
 * section 13), and LIKE.  fa.rule(text, names) makes a function of the number
 * of a configuration; names(word) gives such a function for a name, or null.
 * A fault throws an Error whose message says what and where. */
fa.rule = (() => {
    const { binary, unary, functions, truth, bool, like, cast, whole } = fa.values;
    const TOKEN = /\s*(?:(0x[0-9a-f]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)|([a-z_\u0080-\uffff][\w\u0080-\uffff]*)|'((?:[^']|'')*)'|(<<|>>|<=|>=|==|<>|!=|[-+*\/%&|~<>=(),]))/iy;
    const WORDS = new Set("AND BETWEEN CASE CAST ELSE END FALSE IN IS ISNULL LIKE NOT NOTNULL NULL OR THEN TRUE WHEN".split(" "));
    const LEVELS = [["<", "<=", ">", ">="], ["&", "|", "<<", ">>"],
                    ["+", "-"], ["*", "/", "%"]];
    const SAME = { "==": "=", "!=": "<>" };

    function fault(what, at) {
        return new Error(`${what}, at character ${at + 1}`);
    }

    function literal(text) {
        if (/^0x/i.test(text))
            return BigInt.asIntN(64, BigInt(text));
        return /^\d+$/.test(text) ? whole(BigInt(text)) : Number(text);
    }

    function tokens(text) {
        const list = [];
        let at = 0;
        while (text.slice(at).trim()) {
            TOKEN.lastIndex = at;
            const m = TOKEN.exec(text);
            const start = at + /^\s*/.exec(text.slice(at))[0].length;
            if (!m)
                throw fault(`'${text[start]}' is not part of a rule`, start);
            at = TOKEN.lastIndex;
            if (m[1] !== undefined)
                list.push({ kind: "value", value: literal(m[1]), at: start });
            else if (m[3] !== undefined)
                list.push({ kind: "value", value: m[3].replace(/''/g, "'"), at: start });
            else if (m[2] && WORDS.has(m[2].toUpperCase()))
                list.push({ kind: m[2].toUpperCase(), at: start });
            else if (m[2])
                list.push({ kind: "name", text: m[2], at: start });
            else
                list.push({ kind: SAME[m[4]] || m[4], at: start });
        }
        list.push({ kind: "end", at: text.length });
        return list;
    }

    class Parser {
        constructor(text, names, depth) {
            this.list = tokens(text);
            this.n = 0;
            this.names = names;
            this.depth = depth;
        }

        get token() {
            return this.list[this.n];
        }

        take(kind) {
            if (this.token.kind !== kind)
                return false;
            this.n++;
            return true;
        }

        need(kind) {
            if (!this.take(kind))
                throw fault(this.token.kind === "end" ? `'${kind}' is missing`
                                : `'${kind}' is expected`, this.token.at);
        }

        either() {
            let a = this.both();
            while (this.take("OR"))
                a = this.decided("OR", true, a, this.both());
            return a;
        }

        both() {
            let a = this.negated();
            while (this.take("AND"))
                a = this.decided("AND", false, a, this.negated());
            return a;
        }

        /* AND and OR, of which the left side alone often decides. */
        decided(operator, by, a, b) {
            const make = binary[operator], answer = by ? 1n : 0n;
            return i => {
                const left = a(i);
                return truth(left) === by ? answer : make(left, b(i));
            };
        }

        negated() {
            if (!this.take("NOT"))
                return this.equality();
            const a = this.negated();
            return i => unary.NOT(a(i));
        }

        two(operator, a, b) {
            const make = binary[operator];
            return i => make(a(i), b(i));
        }

        equality() {
            let a = this.level(0);
            for (;;) {
                const not = this.token.kind === "NOT" ? 1 : 0;
                const kind = this.list[this.n + not]?.kind;
                if (!not && (kind === "=" || kind === "<>")) {
                    this.n++;
                    a = this.two(kind, a, this.level(0));
                } else if (["IN", "BETWEEN", "LIKE"].includes(kind)) {
                    this.n += 1 + not;
                    a = this.denied(not, this[kind.toLowerCase()](a));
                } else if (!not && kind === "IS") {
                    this.n++;
                    const other = this.take("NOT");
                    a = this.denied(other, this.two("IS", a, this.level(0)));
                } else if (["ISNULL", "NOTNULL"].includes(kind) || (not && kind === "NULL")) {
                    this.n += 1 + not;
                    const b = a, wanted = kind === "ISNULL";
                    a = i => bool((b(i) === null) === wanted);
                } else {
                    return a;
                }
            }
        }

        denied(not, a) {
            return not ? i => unary.NOT(a(i)) : a;
        }

        in(a) {
            this.need("(");
            const list = this.token.kind === ")" ? [] : this.list_of();
            this.need(")");
            return i => {
                const x = a(i), all = list.map(b => binary["="](x, b(i)));
                if (all.includes(1n))
                    return 1n;
                return all.includes(null) ? null : 0n;
            };
        }

        between(a) {
            const lo = this.level(0);
            this.need("AND");
            const hi = this.level(0);
            return i => binary.AND(binary[">="](a(i), lo(i)), binary["<="](a(i), hi(i)));
        }

        like(a) {
            const pattern = this.level(0);
            return i => like(a(i), pattern(i));
        }

        level(n) {
            if (n === LEVELS.length)
                return this.signed();
            let a = this.level(n + 1);
            while (LEVELS[n].includes(this.token.kind)) {
                const operator = this.list[this.n++].kind;
                a = this.two(operator, a, this.level(n + 1));
            }
            return a;
        }

        signed() {
            for (const sign of ["-", "+", "~"])
                if (this.take(sign)) {
                    const a = this.signed();
                    return i => unary[sign](a(i));
                }
            return this.term();
        }

        term() {
            const token = this.list[this.n++];
            const constants = { NULL: null, TRUE: 1n, FALSE: 0n };
            if (token.kind === "value")
                return () => token.value;
            if (token.kind in constants)
                return () => constants[token.kind];
            if (token.kind === "CASE")
                return this.choice();
            if (token.kind === "CAST")
                return this.conversion();
            if (token.kind === "name")
                return this.token.kind === "(" ? this.call(token) : this.name(token);
            if (token.kind !== "(")
                throw fault(token.kind === "end" ? "the rule ends too early"
                                : `'${token.kind}' is not expected`, token.at);
            const a = this.either();
            this.need(")");
            return a;
        }

        name(token) {
            const found = this.names(token.text, this.depth);
            if (!found)
                throw fault(`there is no '${token.text}'`, token.at);
            return found;
        }

        list_of() {
            const list = [this.either()];
            while (this.take(","))
                list.push(this.either());
            return list;
        }

        call(token) {
            const found = Object.hasOwn(functions, token.text.toLowerCase())
                && functions[token.text.toLowerCase()];
            if (!found)
                throw fault(`there is no function '${token.text}'`, token.at);
            this.need("(");
            const args = this.token.kind === ")" ? [] : this.list_of();
            this.need(")");
            if (args.length < found[0] || args.length > found[1])
                throw fault(`'${token.text}' has ${args.length} arguments`, token.at);
            return i => found[2](...args.map(a => a(i)));
        }

        conversion() {
            this.need("(");
            const a = this.either();
            const as = this.list[this.n++], type = this.list[this.n++];
            const name = type?.text?.toUpperCase();
            if (as.text?.toUpperCase() !== "AS" || !["INTEGER", "REAL"].includes(name))
                throw fault("write CAST(x AS INTEGER) or REAL", as.at);
            this.need(")");
            return i => cast(a(i), name);
        }

        choice() {
            const subject = this.token.kind === "WHEN" ? null : this.either();
            const arms = [];
            while (this.take("WHEN")) {
                const when = this.either();
                this.need("THEN");
                arms.push([subject ? this.two("=", subject, when) : when, this.either()]);
            }
            const other = this.take("ELSE") ? this.either() : () => null;
            this.need("END");
            return i => {
                const arm = arms.find(([when]) => truth(when(i)));
                return arm ? arm[1](i) : other(i);
            };
        }
    }

    return function (text, names, depth = 0) {
        if (depth > 64)
            throw new Error("derived values use each other without end");
        const parser = new Parser(text, names, depth);
        const whole = parser.either();
        if (parser.token.kind !== "end")
            throw fault(`'${parser.token.text || parser.token.kind}' is not expected`, parser.token.at);
        return whole;
    };
})();
