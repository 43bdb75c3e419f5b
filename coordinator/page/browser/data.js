"use strict";
/* The data of the page (docs/report.md), decoded into columns. */
fa.decode = function (data) {
    const configs = data.configs, n = configs.n;

    /* A digit holds as many indices as fit, the first one lowest. */
    function digits(text, states, out) {
        let held = 0;
        for (let reach = states; reach <= 36; reach *= states)
            held++;
        for (let i = 0; i < out.length; i += held) {
            let digit = parseInt(text[i / held], 36);
            for (let k = i; k < Math.min(i + held, out.length); k++) {
                out[k] = digit % states;
                digit = Math.floor(digit / states);
            }
        }
    }

    function indices(column, states, length = n) {
        const out = new Uint32Array(length);
        if (typeof column === "string")
            digits(column, states, out);
        else if (Array.isArray(column))
            out.set(column);
        return out;
    }

    function numbers(column, length = n) {
        const out = new Float64Array(length);
        if (column?.numbers) {
            const at = indices(column.at, column.numbers.length, length);
            return out.map((_, i) => column.numbers[at[i]] ?? NaN);
        }
        if (!Array.isArray(column))
            return out.fill(column ?? NaN);
        for (let i = 0; i < length; i++)
            out[i] = column[i] ?? NaN;
        return out;
    }

    /* With many shapes, those beside the headline have the times of a few. */
    const places = configs.median_places;
    function medians(column, shape) {
        if (!places || shape === 0)
            return numbers(column);
        const out = new Float64Array(n).fill(NaN);
        numbers(column, places.length).forEach((x, k) => { out[places[k]] = x; });
        return out;
    }

    const words = column => ({ words: column.words, at: indices(column.at, column.words.length) });

    function tunable(given) {
        const values = given.words.map(word =>
            given.kind === "bool" ? Number(word === "true")
                : given.kind === "text" || word === "null" ? word : Number(word));
        return { name: given.name, kind: given.kind, values, ...words(given) };
    }

    function ranks() {
        if (configs.rank !== undefined)
            return numbers(configs.rank);
        return Float64Array.from({ length: n }, (_, i) => i < configs.ranked ? i + 1 : NaN);
    }

    /* Places in the order of settling: given, or that of the times. */
    function turns(settled) {
        if (configs.turn !== undefined)
            return numbers(configs.turn);
        const order = Array.from({ length: n }, (_, i) => i), turn = new Float64Array(n);
        const at = i => Number.isNaN(settled[i]) ? Infinity : settled[i];
        order.sort((a, b) => at(a) === at(b) ? a - b : at(a) - at(b));
        order.forEach((i, place) => { turn[i] = place; });
        return turn;
    }

    let turn = null;
    const settled = numbers(configs.settled_s);
    const median = configs.median_ns.map(medians);
    const normalised = numbers(configs.normalised_ns);
    const time = Float64Array.from(median[0] ?? [], (t, i) =>
        data.normalised && Number.isFinite(normalised[i]) ? normalised[i] : t);
    return {
        ...data, n, ranked: configs.ranked, baseline: configs.baseline,
        key: i => configs.keys.substr(i * configs.digits, configs.digits),
        rank: ranks(), median, few_at_shapes: places?.length ?? 0, normalised, normalised_any: data.normalised, time,
        spread: numbers(configs.spread_ns), below: numbers(configs.below_ns),
        above: numbers(configs.above_ns), samples: numbers(configs.samples),
        registers: numbers(configs.registers), spill: numbers(configs.spill_bytes),
        settled, turn: i => (turn ??= turns(settled))[i],
        outcome: words(configs.outcome), reason: words(configs.reason),
        sampling: words(configs.sampling), host: words(configs.host),
        gpu: words(configs.gpu), warnings: words(configs.warnings),
        tunables: configs.tunables.map(tunable),
        metrics: configs.metrics.map(m => ({ name: m.name, unit: m.unit, at: numbers(m.at) })),
    };
};

/* What is left out of a page of many shapes; "" if nothing is. */
fa.left_out = function () {
    const { few_at_shapes: few, shapes } = fa.data;
    return few ? ` At shapes other than ${shapes[0].name}, this page has the times of ${fa.count(few)} `
        + "configurations, those that are fastest at some shape; 'fa-coord report --csv' has all." : "";
};

/* The names that a rule may use, as fa.rule() asks for them.  A name of a
 * tunable hides a column, and a column hides a derived value. */
fa.names = function (data) {
    const found = new Map();
    const add = (name, value) =>
        found.has(name.toLowerCase()) || found.set(name.toLowerCase(), value);
    const whole = column => i => Number.isFinite(column[i]) ? BigInt(column[i]) : null;
    const real = (column, scale = 1) => i => Number.isFinite(column[i]) ? column[i] * scale : null;
    const word = column => i => column.words[column.at[i]];
    const number = x => Number.isInteger(x) ? BigInt(x) : x;

    for (const t of data.tunables) {
        const values = t.values.map(x => x === "null" ? null
            : typeof x === "string" || t.kind === "real" ? x : BigInt(x));
        add(t.name, i => values[t.at[i]]);
    }
    add("key", i => data.key(i));
    add("rank", whole(data.rank));
    add("baseline", i => i === data.baseline ? 1n : 0n);
    for (const name of ["outcome", "reason", "sampling", "host", "gpu"])
        add(name, word(data[name]));
    add("median_s", real(data.median[0], 1e-9));
    add("time_s", real(data.median[0], 1e-9));
    add("normalised_s", real(data.normalised, 1e-9));
    add("spread_s", real(data.spread, 1e-9));
    add("samples", whole(data.samples));
    add("registers", whole(data.registers));
    add("spill_bytes", whole(data.spill));
    for (const m of data.metrics)
        add(m.name, real(m.at));
    const constants = { ...data.shapes[0]?.vars, ...data.facts };
    const names = (name, depth) => found.get(name.toLowerCase())?.(depth) ?? null;
    const fixed = new Map([...found].map(([name, get]) => [name, () => get]));
    found.clear();
    fixed.forEach((get, name) => found.set(name, get));
    for (const d of data.derived)
        add(d.name, depth => fa.rule(d.rule, names, depth + 1));
    for (const [name, value] of Object.entries(constants))
        if (typeof value === "number")
            add(name, () => () => number(value));
    return names;
};
