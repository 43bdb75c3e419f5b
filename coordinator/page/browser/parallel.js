"use strict";
/* Parallel coordinates (Inselberg, 1985).  Between two axes, configurations
 * with the same two values are one line: as wide as they are many, and the
 * stronger the faster the best of them is.  Ranges of an axis are chosen by brushing. */
fa.parallel = function () {
    const AXES = 14; /* more have no room for their names */
    const { data } = fa, all = data.tunables.filter(fa.shown);
    const varied = chosen();
    const brushed = new Map(); /* name of an axis: [lo, hi] of its positions */
    const BANDS = 24;
    let drawing = false; /* moving a brush to its place is no choice */

    /* Those that explain most, in the order of the sweep file. */
    function chosen() {
        const most = [...all].sort((a, b) => (fa.share(b.name) || 0) - (fa.share(a.name) || 0)).slice(0, AXES);
        return all.filter(tunable => most.includes(tunable));
    }

    /* Axes: the tunables, and the time in bands of equal counts. */
    function axes(ranked) {
        const size = Math.ceil(ranked.length / BANDS) || 1;
        const band = new Uint8Array(data.n);
        ranked.forEach((i, n) => { band[i] = Math.floor(n / size); });
        const unit = fa.unit(data.time[ranked[0]]);
        const words = d3.range(Math.ceil(ranked.length / size))
            .map(b => `${fa.digits(data.time[ranked[b * size]] / unit.ns, 3)}`);
        return [...varied, { name: `time, ${unit.name}`, words, at: band, time: true }];
    }

    function selected(list, ranked) {
        const tests = list.filter(axis => brushed.has(axis.name))
            .map(axis => [axis.at, brushed.get(axis.name), axis.words.length]);
        return ranked.filter(i => tests.every(([at, [lo, hi], n]) => {
            const y = n > 1 ? 1 - at[i] / (n - 1) : 0.5;
            return y >= lo && y <= hi;
        }));
    }

    /* The ranked ones come the fastest first, so the first of a pair is its best. */
    function bundles(a, b, chosen, step) {
        const found = new Map();
        chosen.forEach((i, n) => {
            const key = a.at[i] * b.words.length + b.at[i];
            const one = found.get(key);
            if (one)
                one.n++;
            else
                found.set(key, { from: a.at[i], to: b.at[i], n: 1, first: n / chosen.length, step });
        });
        return [...found.values()].sort((p, q) => q.first - p.first);
    }

    const y_of = (axis, plot) => v => {
        const n = axis.words.length;
        return n > 1 ? plot.bottom - v / (n - 1) * (plot.bottom - plot.top) : (plot.top + plot.bottom) / 2;
    };

    function lines(plot, list, x, chosen) {
        const colour = d3.scaleSequential(d3.interpolateYlGnBu)
            .domain(matchMedia("(prefers-color-scheme: dark)").matches ? [-0.15, 1] : [1, -0.15]);
        const all = d3.pairs(list).flatMap(([a, b], step) => bundles(a, b, chosen, step));
        const width = d3.scaleSqrt().domain([0, d3.max(all, d => d.n) || 1]).range([0.8, 7]);
        plot.svg.append("g").attr("class", "bundles").selectAll("path").data(all).enter().append("path")
            .attr("d", d => {
                const x0 = x(d.step), x1 = x(d.step + 1), y0 = y_of(list[d.step], plot)(d.from),
                    y1 = y_of(list[d.step + 1], plot)(d.to);
                const bend = (x1 - x0) / 3;
                return `M${x0},${y0}C${x0 + bend},${y0} ${x1 - bend},${y1} ${x1},${y1}`;
            })
            .attr("stroke", d => colour(d.first)).attr("stroke-width", d => width(d.n));
    }

    function best(plot, list, x, chosen) {
        const path = i => d3.line()(list.map((axis, s) => [x(s), y_of(axis, plot)(axis.at[i])]));
        if (chosen.length)
            plot.svg.append("path").attr("class", "winner").attr("d", path(chosen[0]));
    }

    function draw(host, width) {
        const ranked = fa.ranked();
        if (ranked.length < 2 || !varied.length)
            return fa.note(host, "Fewer than two configurations with a time are chosen.");
        const list = axes(ranked), inner = Math.max(width, 64 * list.length);
        const scroll = fa.reachable(fa.el("div", { class: "scroll" }), "Picture");
        host.replaceChildren(scroll);
        const plot = fa.plot(scroll, inner, { height: 400, margin: { top: 46, left: 40, right: 50, bottom: 18 },
            label: "Parallel coordinates of tunables and time" });
        const x = d3.scalePoint().domain(d3.range(list.length)).range([plot.left, plot.right]);
        const chosen = selected(list, ranked);
        lines(plot, list, x, chosen);
        best(plot, list, x, chosen);
        drawing = true;
        list.forEach((axis, s) => axis_of(plot, axis, x(s), s, host, width));
        drawing = false;
        said.textContent = brushed.size
            ? `${fa.count(chosen.length)} of ${fa.count(ranked.length)} in the brushed ranges` : "";
        use.hidden = clear.hidden = !brushed.size;
    }

    function axis_of(plot, axis, x, s, host, width) {
        const g = plot.svg.append("g").attr("class", "coordinate").attr("transform", `translate(${x},0)`);
        const y = y_of(axis, plot), every = Math.ceil(axis.words.length / 12);
        g.append("line").attr("y1", plot.top).attr("y2", plot.bottom);
        g.append("text").attr("class", "axis-name").attr("y", s % 2 ? plot.top - 30 : plot.top - 14)
            .attr("text-anchor", "middle").text(axis.name);
        g.selectAll("text.value").data(axis.words.map((w, v) => [w, v]).filter(([, v]) => v % every === 0)).enter()
            .append("text").attr("class", "value").attr("x", 6).attr("y", ([, v]) => y(v) + 4)
                .text(([w]) => w.slice(0, 8));
        const span = plot.bottom - plot.top;
        const brush = d3.brushY().extent([[-14, plot.top - 8], [14, plot.bottom + 8]]).on("end", () => {
            if (drawing)
                return;
            const range = d3.event.selection;
            if (range)
                brushed.set(axis.name, range.map(at => (at - plot.top) / span));
            else
                brushed.delete(axis.name);
            draw(host, width);
        });
        const layer = g.append("g").attr("class", "brush").call(brush);
        if (brushed.has(axis.name))
            layer.call(brush.move, brushed.get(axis.name).map(at => plot.top + at * span));
    }

    /* The brushed ranges as a rule, so that all pictures follow. */
    function rule() {
        const parts = [];
        for (const [name, [lo, hi]] of brushed) {
            const axis = varied.find(t => t.name === name);
            const n = axis?.words.length;
            const values = axis?.words.filter((w, v) => 1 - v / (n - 1) >= lo && 1 - v / (n - 1) <= hi)
                .map(w => axis.kind === "text" ? `'${w.replace(/'/g, "''")}'` : axis.kind === "bool"
                    ? Number(w === "true") : w);
            if (axis)
                parts.push(`${name} IN (${values.join(", ")})`);
        }
        const chosen = selected(axes(fa.ranked()), fa.ranked());
        if ([...brushed.keys()].some(name => !varied.find(t => t.name === name)) && chosen.length)
            parts.push(`rank BETWEEN ${data.rank[chosen[0]]} AND ${data.rank[chosen[chosen.length - 1]]}`);
        return parts.join(" AND ");
    }

    const said = fa.el("output");
    const use = fa.el("button", { type: "button", hidden: true, click: () => {
        const text = rule();
        brushed.clear();
        fa.set_rule(text);
    } }, "Filter by them");
    const clear = fa.el("button", { type: "button", hidden: true }, "Clear brushes");

    return fa.section({
        id: "parallel", title: "Parallel coordinates", short: "Parallel", draw,
        keep: () => [...brushed],
        restore: kept => kept.forEach(([name, range]) => brushed.set(name, range)),
        lead: "Drag along an axis to choose a range; or use the filter. The orange line is the fastest configuration."
            + (all.length > AXES ? ` Of ${all.length} tunables, the ${AXES} that explain most have an axis.` : ""),
        controls(redraw) {
            clear.addEventListener("click", () => { brushed.clear(); redraw(); });
            return [said, use, clear];
        },
    });
};
