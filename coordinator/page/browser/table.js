"use strict";
/* All chosen configurations as rows.  Only rows that are seen are in the
 * document, so a hundred thousand are as quick as ten. */
fa.configurations = function () {
    const { data, state } = fa;
    const HEIGHT = 28, unit = fa.unit(data.ranked ? data.time[0] : 1e3);
    let order = [], sorted = 0, descending = false, drawn = "", place = null;

    const time = column => i => column[i] / unit.ns;
    const decimals = data.ranked ? Math.max(0, 4 - Math.floor(Math.log10(data.time[0] / unit.ns))) : 3;
    const figure = x => fa.fixed(x, Math.min(decimals, 6));
    const columns = [
        { name: "rank", of: i => data.rank[i], text: x => Number.isFinite(x) ? x : "–" },
        ...data.median.map((column, s) => ({ name: `${data.shapes[s].name} ${unit.name}`, of: time(column),
            text: figure })),
        ...(data.normalised_any ? [{ name: `normalised ${unit.name}`, of: time(data.normalised), text: figure }] : []),
        { name: `spread ${unit.name}`, of: time(data.spread), text: figure },
        ...data.metrics.map(m => ({ name: `${m.name} ${m.unit}`, of: i => m.at[i], text: x => Number.isFinite(x)
            ? x.toPrecision(4) : "–" })),
        ...data.tunables.map(t => ({ name: t.name, of: i => t.values[t.at[i]], text: String, words: t.values })),
        { name: "registers", of: i => data.registers[i], text: x => Number.isFinite(x) ? x : "–" },
        { name: "outcome", of: i => data.outcome.words[data.outcome.at[i]], text: String },
        { name: "key", of: i => data.key(i), text: String },
    ];

    const named = column => column.name.split(" ")[0]; /* without the unit */

    /* Few words of many configurations: they are put into the places of their words. */
    function by_words({ of, words }, sign) {
        const found = new Map((words ?? []).map(word => [word, []]));
        for (const i of order) {
            const word = of(i);
            if (!found.has(word))
                found.set(word, []);
            found.get(word).push(i);
        }
        return [...found.keys()].sort((a, b) => sign * d3.ascending(a, b)).flatMap(word => found.get(word));
    }

    /* Configurations without a figure come last, up or down. */
    function sort() {
        const { of } = columns[sorted], sign = descending ? -1 : 1;
        order = Array.from(state.chosen);
        if (sorted === 0 && !descending || !order.length)
            return;
        if (typeof of(order[0]) === "string" || columns[sorted].words) {
            order = by_words(columns[sorted], sign);
            return;
        }
        const keys = new Float64Array(data.n);
        order.forEach(i => { keys[i] = of(i); });
        const known = order.filter(i => !Number.isNaN(keys[i]));
        known.sort((i, k) => sign * (keys[i] - keys[k]) || i - k);
        order = known.concat(order.filter(i => Number.isNaN(keys[i])));
    }

    function by(c) {
        descending = sorted === c ? !descending : false;
        sorted = c;
        drawn = "";
        sort();
        head();
        view.scrollTop = 0;
        rows();
    }

    function head() {
        thead.replaceChildren(fa.el("tr", {}, ...columns.map((column, c) =>
            fa.el("th", { scope: "col", "aria-sort": sorted === c ? (descending ? "descending" : "ascending") : null },
                fa.el("button", { type: "button", click: () => by(c) },
                    column.name, sorted === c ? (descending ? " ▼" : " ▲") : "")))));
    }

    function row(n) {
        const i = order[n];
        return fa.el("tr", { class: i === state.picked ? "picked" : null, "aria-rowindex": n + 2,
                click: () => fa.pick(i) },
            ...columns.map(column => {
                const value = column.of(i), text = column.text(value);
                return fa.el("td", { class: typeof value === "number" ? "r" : null },
                    column.name === "key" ? fa.el("a", { href: `#${text}` }, text) : String(text));
            }));
    }

    function rows() {
        const first = Math.max(0, Math.min(Math.floor(view.scrollTop / HEIGHT) - 5, order.length - 1));
        const last = Math.min(order.length, first + Math.ceil(view.clientHeight / HEIGHT) + 10);
        const now = `${first} ${last} ${state.picked} ${order.length}`;
        if (now === drawn)
            return;
        drawn = now;
        table.setAttribute("aria-rowcount", order.length + 1);
        const space = n => fa.el("tr", { "aria-hidden": "true", class: "space" },
            fa.el("td", { colspan: columns.length }));
        const before = space(), after = space();
        before.firstChild.style.height = `${first * HEIGHT}px`;
        after.firstChild.style.height = `${(order.length - last) * HEIGHT}px`;
        body.replaceChildren(before, ...d3.range(first, last).map(row), after);
    }

    function step(event) {
        const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12 }[event.key];
        if (!by)
            return;
        event.preventDefault();
        const at = order.indexOf(state.picked);
        const n = Math.max(0, Math.min(order.length - 1, at < 0 ? 0 : at + by));
        if (order.length)
            fa.pick(order[n]);
    }

    const thead = fa.el("thead"), body = fa.el("tbody");
    const table = fa.el("table", { class: "rows" }, thead, body);
    const view = fa.el("div", { class: "view", tabindex: "0", role: "region", scroll: () => rows(), keydown: step,
        "aria-label": "Configurations; the arrow keys choose one" }, table);
    const card = fa.el("div", { id: "card", "aria-live": "polite" });

    fa.picked = function () {
        const n = order.indexOf(state.picked);
        if (n >= 0) {
            const top = n * HEIGHT, seen = view.clientHeight - 2 * HEIGHT;
            if (top < view.scrollTop || top > view.scrollTop + seen)
                view.scrollTop = top - seen / 2;
        }
        card.replaceChildren(...(state.picked < 0 ? [] : [fa.card(state.picked)]));
        rows();
    };

    return fa.section({
        id: "configurations", title: "Configurations",
        lead: "Headings sort. A row can be linked to: its key stands in the address of the page." + fa.left_out(),
        draw(host) {
            if (!host.firstChild)
                host.append(card, view);
            drawn = "";
            sort();
            head();
            rows();
            fa.picked();
            if (place)
                view.scrollTo({ ...place, behavior: "instant" });
            place = null;
        },
        keep: () => ({ name: named(columns[sorted]), descending, top: view.scrollTop, left: view.scrollLeft }),
        restore(kept) {
            const c = columns.findIndex(column => named(column) === kept.name);
            if (c >= 0)
                [sorted, descending] = [c, kept.descending];
            place = { top: kept.top, left: kept.left };
        },
    });
};

/* One configuration, with what can be copied. */
fa.card = function (i) {
    const { data } = fa, unit = fa.unit(data.time[i] || 1e3);
    const facts = [
        ["rank", Number.isFinite(data.rank[i]) ? data.rank[i] : "not ranked"],
        ["outcome", data.outcome.words[data.outcome.at[i]]],
        ["reason", data.reason.words[data.reason.at[i]]],
        ...data.median.map((m, s) => [data.shapes[s].name, Number.isFinite(m[i])
            ? `${fa.digits(m[i] / unit.ns, 5)} ${unit.name}` : ""]),
        ["normalised", Number.isFinite(data.normalised[i])
            ? `${fa.digits(data.normalised[i] / unit.ns, 5)} ${unit.name}` : ""],
        ["x baseline", data.baseline === null || !Number.isFinite(data.time[i]) ? ""
            : fa.fixed(data.time[data.baseline] / data.time[i], 3)],
        ...data.metrics.map(m => [m.name, Number.isFinite(m.at[i]) ? `${fa.digits(m.at[i])} ${m.unit}` : ""]),
        ["registers", Number.isFinite(data.registers[i]) ? data.registers[i] : ""],
        ["warnings", JSON.parse(data.warnings.words[data.warnings.at[i]]).join(", ")],
        ["GPU", data.gpu.words[data.gpu.at[i]]],
    ].filter(([, text]) => text !== "");
    const said = fa.el("span", { role: "status" });
    const copy = (name, text) => fa.el("button", { type: "button",
        click: () => fa.copy(text).then(ok => { said.textContent = ok ? `${name} copied` : text; }) }, `Copy ${name}`);
    return fa.el("div", { class: "card" },
        fa.el("h3", {}, fa.el("code", {}, data.key(i)), i === data.baseline ? " (baseline)" : ""),
        fa.el("p", {}, fa.el("code", {}, fa.describe(i))),
        fa.el("dl", {}, ...facts.map(([name, text]) => fa.el("div", {},
            fa.el("dt", {}, name), fa.el("dd", {}, String(text))))),
        fa.el("p", { class: "buttons" }, copy("values", fa.describe(i).replace(/ /g, ",")), copy("JSON", fa.json(i)),
            copy("link", location.href.split("#")[0] + `#${data.key(i)}`),
            fa.el("button", { type: "button", click: () => fa.pick(-1) }, "Close"), said));
};

/* Where the browser refuses its clipboard, the old command. */
fa.copy = async function (text) {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        const area = fa.el("textarea", { "aria-hidden": "true" }, text);
        document.body.append(area);
        area.select();
        const done = document.execCommand("copy");
        area.remove();
        return done;
    }
};
