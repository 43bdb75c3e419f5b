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

    /* Columns before the plot: what tells the rows apart, or the key where
     * there is no room. */
    function columns(width, shown) {
        const differ = varied.filter(t => shown.some(i => t.at[i] !== t.at[shown[0]]));
        const column = (name, text) => ({ name, text, width: 14 + Math.max(
            8 * name.length, 7.6 * d3.max(shown, i => text(i).length)) });
        const rank = column("", i => `${data.rank[i]}${i === data.baseline ? " base" : ""}`);
        const values = differ.map(t => column(t.name, i => t.words[t.at[i]].slice(0, 12)));
        const fits = d3.sum(values, c => c.width) + rank.width < 0.55 * width;
        return [rank, ...(fits && values.length ? values : [column("key", i => data.key(i))])];
    }

    function put_columns(plot, g, list) {
        let x = 2;
        for (const [n, { name, text, width }] of list.entries()) {
            const at = n ? x + width - 14 : x, anchor = n ? "end" : "start";
            plot.svg.append("text").attr("class", "title").attr("x", at).attr("y", 12).attr("text-anchor", anchor)
                .text(name);
            g.append("text").attr("class", "label").attr("x", at).attr("y", 4).attr("text-anchor", anchor).text(text);
            x += width;
        }
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
        const before = columns(width, shown);
        const plot = fa.plot(host, width, { height: 22 * shown.length + 66,
            margin: { left: d3.sum(before, c => c.width) + 8, top: 20 },
                label: "Interval plot of the fastest configurations" });
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
        put_columns(plot, g, before);
        line(g, "range", x, i => data.median[0][i] - data.below[i], i => data.median[0][i] + data.above[i], 0);
        line(g, "spread", x, i => data.median[0][i] - data.spread[i], i => data.median[0][i] + data.spread[i], 0);
        line(g.filter(i => intervals.has(i)), "confirmed", x, i => intervals.get(i)[0], i => intervals.get(i)[1], 7);
        g.append("circle").attr("class", "dot").attr("r", 3.5).attr("cx", i => x(data.median[0][i]));
        fa.tip(g, i => `${fa.describe(i)}\n${fa.digits(data.median[0][i] / unit.ns, 5)} ${unit.name}, ${data.samples[i]} samples`);
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
