"use strict";
/* The ranking as an interval plot, as page_plot.c draws it. */
fa.ranking = function () {
    const { data } = fa;
    let rows = "20";
    const varied = data.tunables.filter(fa.shown);

    function confirmed() {
        const intervals = new Map();
        const shape = data.verdict.shapes?.find(s => s.shape === data.shapes[0]?.name);
        for (const one of [shape?.baseline, ...(shape?.finalists ?? [])])
            if (one?.ci_95)
                intervals.set(fa.find(one.key), one.ci_95.map(s => 1e9 * s));
        return intervals;
    }
    const intervals = confirmed();

    function list() {
        const shown = [...fa.ranked().slice(0, Number(rows))];
        if (data.baseline !== null && data.baseline < data.ranked
            && !shown.includes(data.baseline) && shown.length)
            shown.push(data.baseline);
        return shown;
    }

    function label(i, letters) {
        const head = `${data.rank[i]} ${i === data.baseline ? "baseline " : ""}`;
        const values = varied.map(t => t.words[t.at[i]]).join(" · ");
        const key = data.key(i);
        return head + (letters > head.length + values.length ? values : key);
    }

    const low = i => data.median[0][i] - Math.max(data.below[i], data.spread[i]);
    const high = i => data.median[0][i] + Math.max(data.above[i], data.spread[i]);

    function line(g, name, x, from, to, dy) {
        g.append("line").attr("class", name).attr("x1", i => x(from(i)))
            .attr("x2", i => x(to(i))).attr("y1", dy).attr("y2", dy);
    }

    function draw(host, width) {
        const shown = list();
        if (!shown.length)
            return fa.note(host, "No configuration with a time is chosen.");
        const letters = width > 700 ? 42 : 19;
        const plot = fa.plot(host, width, { height: 22 * shown.length + 60,
            margin: { left: letters * 6.9 + 12, top: 6 }, label: "Interval plot of the fastest configurations" });
        const ends = shown.flatMap(i => [low(i), high(i), ...(intervals.get(i) ?? [])]);
        const unit = fa.unit(d3.max(ends));
        const scale = fa.time_scale(d3.min(ends), d3.max(ends), [plot.left, plot.right]);
        const x = ns => scale(ns);
        fa.axis_x(plot, scale.copy().domain(scale.domain().map(t => t / unit.ns)),
            `median at ${data.shapes[0].name}, ${unit.name}`, fa.tick);
        const g = plot.svg.selectAll("g.row").data(shown).enter().append("g")
            .attr("class", i => i === data.baseline ? "row base" : "row")
            .attr("transform", (i, n) => `translate(0,${plot.top + 22 * n + 11})`)
            .on("click", i => fa.pick(i));
        g.append("rect").attr("class", "hit").attr("y", -11).attr("height", 22).attr("width", width);
        g.append("text").attr("class", "label").attr("x", 2).attr("y", 4).text(i => label(i, letters));
        line(g, "range", x, i => data.median[0][i] - data.below[i], i => data.median[0][i] + data.above[i], 0);
        line(g, "spread", x, i => data.median[0][i] - data.spread[i], i => data.median[0][i] + data.spread[i], 0);
        line(g.filter(i => intervals.has(i)), "confirmed", x, i => intervals.get(i)[0], i => intervals.get(i)[1], 7);
        g.append("circle").attr("class", "dot").attr("r", 3.5).attr("cx", i => x(data.median[0][i]));
        fa.tip(g, i => `${fa.describe(i)}\n${fa.digits(data.median[0][i] / unit.ns, 5)} ${unit.name}, ${data.samples[i]} samples`);
        if (width > 700)
            host.prepend(fa.el("p", { class: "columns" }, `rank and values of ${varied.map(t => t.name).join(" · ")}`));
        host.append(fa.legend(["dot", "median"], ["spread", "median ± spread"], ["range", "all samples"],
            ...(intervals.size ? [["confirmed", "interval of the confirmation"]] : [])));
    }

    const table = () => ({
        head: ["rank", "median", "fastest", "slowest", "confirmed", "configuration"],
        rows: list().map(i => [data.rank[i], data.median[0][i], data.median[0][i] - data.below[i],
            data.median[0][i] + data.above[i], intervals.get(i)].map((x, c) => c === 0 ? x
                : c === 4 ? (x ? x.map(t => fa.digits(t / 1e3, 5)).join(" to ") + " µs" : "–")
                    : `${fa.digits(x / 1e3, 5)} µs`).concat(fa.describe(i))),
    });

    return fa.section({
        id: "ranking", title: "Ranking", draw, table,
        lead: "The fastest of the chosen configurations. Choose a row to see all about it.",
        controls: redraw => [fa.select("Rows", [["10"], ["20"], ["40"], ["80"]], rows,
            value => { rows = value; redraw(); })],
    });
};
