"use strict";
/* How near the times come to the floors of the sweep file.  With two floors it
 * is the roofline model (Williams, Waterman and Patterson, 2009) without
 * dimensions: the ratio of the floors stands for the arithmetic intensity. */
fa.roofline = function () {
    const { data } = fa;
    const names = [...new Set(data.shapes.flatMap(s => s.floors.map(f => f.name)))];
    if (!names.length)
        return null;
    const memory = names.find(name => /dram|mem|band|l2|bytes/i.test(name)) ?? names[1];
    const compute = names.find(name => name !== memory);
    const floor = (shape, name) => shape.floors.find(f => f.name === name)?.seconds ?? NaN;
    const two = compute !== undefined && data.shapes.some(s => floor(s, compute) > 0 && floor(s, memory) > 0);

    /* Of each shape: its fastest configuration, the baseline, and the spread of all. */
    function points() {
        const ranked = fa.ranked();
        return data.shapes.flatMap((shape, s) => {
            const times = data.median[s], sorted = Float64Array.from(ranked,
                i => times[i]).filter(Number.isFinite).sort();
            const at = (i, kind, time) => ({ shape, s, i, kind, time: time / 1e9 });
            if (!sorted.length)
                return [];
            const best = ranked.find(i => times[i] === sorted[0]);
            const slow = data.few_at_shapes && s ? 0 : 0.9; /* of the fastest alone there is no spread */
            const out = [at(-1, "slow", sorted[Math.floor(slow * (sorted.length - 1))]), at(best, "best", sorted[0])];
            if (data.baseline !== null && Number.isFinite(times[data.baseline]))
                out.push(at(data.baseline, "base", times[data.baseline]));
            return out;
        });
    }

    const share = (p, name) => floor(p.shape, name) / p.time;

    function model(host, width) {
        const all = points().map(p => ({ ...p, x: floor(p.shape, compute) / floor(p.shape, memory),
            y: share(p, compute) }))
            .filter(p => Number.isFinite(p.x) && Number.isFinite(p.y));
        if (!all.length)
            return fa.note(host, "No configuration with a time is chosen.");
        const plot = fa.plot(host, width, { height: 360, margin: { top: 26, left: 62 },
            label: "Roofline: share of the compute floor against relative intensity" });
        const lo = Math.min(0.3, d3.min(all, p => p.x) / 2), hi = Math.max(3, d3.max(all, p => p.x) * 2);
        const x = d3.scaleLog().domain([lo, hi]).range([plot.left, plot.right]);
        const y = d3.scaleLog().domain([Math.min(lo, d3.min(all, p => p.y)) / 1.5,
            Math.max(1.3, d3.max(all, p => p.y) * 1.2)]).range([plot.bottom, plot.top]);
        fa.axis_y(plot, y, `share of '${compute}'`, t => fa.percent(t, t < 0.01 ? 1 : 0));
        fa.axis_x(plot, x, `intensity: floor '${compute}' over floor '${memory}'`, fa.tick_each);
        plot.svg.append("path").attr("class", "roof").attr("d",
            `M${x(lo)},${y(Math.max(lo, y.domain()[0]))}L${x(1)},${y(1)}L${x(hi)},${y(1)}`);
        plot.svg.append("text").attr("class", "label").attr("x", plot.right).attr("y", y(1) - 6)
            .attr("text-anchor", "end").text(compute);
        plot.svg.append("text").attr("class", "label").attr("x", x(Math.sqrt(lo))).attr("y", y(Math.sqrt(lo)) - 10)
            .attr("text-anchor", "end").text(memory);
        for (const p of all.filter(p => p.kind === "best")) {
            const slow = all.find(q => q.s === p.s && q.kind === "slow");
            plot.svg.append("line").attr("class", "range").attr("x1", x(p.x)).attr("x2", x(p.x)).attr("y1", y(p.y))
                .attr("y2", y(slow.y));
            plot.svg.append("text").attr("class", "label").attr("x", x(p.x) + 10).attr("y", y(p.y) + 4)
                .text(p.shape.name);
        }
        const dots = plot.svg.append("g").selectAll("path").data(all.filter(p => p.kind !== "slow")).enter()
            .append("path")
            .attr("class", p => p.kind === "base" ? "mark c2" : "mark c1")
            .attr("d", p => d3.symbol().type(p.kind === "base" ? d3.symbolDiamond : d3.symbolCircle).size(60)())
            .attr("transform", p => `translate(${x(p.x)},${y(p.y)})`);
        fa.tip(dots, said);
        host.append(fa.legend(["mark c1", "fastest"], ["mark c2", "baseline"], ["range", "down to the slowest tenth"]));
    }

    const which = p => p.kind === "base" ? "baseline" : "fastest";
    const said = p => `${which(p)} at ${p.shape.name}: `
        + names.map(n => `${fa.percent(share(p, n))} of ${n}`).join(", ");

    function bars(host, width) {
        const all = points().filter(p => p.kind !== "slow").flatMap(p => names.map(name => ({ ...p, name,
            share: share(p, name) })))
            .filter(p => Number.isFinite(p.share));
        const plot = fa.plot(host, width, { height: 28 * all.length + 50, margin: { left: width > 600 ? 240 : 130,
            top: 6 }, label: "Share of each floor that is reached" });
        const x = d3.scaleLinear().domain([0, Math.max(1, d3.max(all, p => p.share) || 1)])
            .range([plot.left, plot.right]);
        fa.axis_x(plot, x, "floor over time", t => fa.percent(t, 0));
        const g = plot.svg.selectAll("g.row").data(all).enter().append("g")
            .attr("transform", (p, n) => `translate(0,${plot.top + 28 * n})`);
        g.append("rect").attr("class", p => p.kind === "base" ? "bar c2" : "bar c1").attr("x", x(0)).attr("y", 6)
            .attr("height", 16).attr("width", p => x(p.share) - x(0));
        g.append("text").attr("class", "label").attr("x", plot.left - 8).attr("y", 18).attr("text-anchor", "end")
            .text(p => [...(width > 600 ? [p.shape.name] : []), p.name, which(p)].join(", "));
        fa.tip(g, said);
    }

    const table = () => ({
        head: ["shape", "which", "time µs", ...names.map(n => `of ${n}`)],
        rows: points().filter(p => p.kind !== "slow").map(p => [p.shape.name, which(p),
            fa.digits(1e6 * p.time, 4), ...names.map(n => fa.percent(share(p, n)))]),
    });

    return fa.section({ id: "roofline", title: "Roofline", draw: two ? model : bars, table,
        lead: "How near the fastest and the baseline come to the floors of the sweep file." + fa.left_out() });
};
