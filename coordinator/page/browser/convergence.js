"use strict";
/* Seconds of the page to dollars: what all hosts had cost by then. */
fa.spent = function (data) {
    const { history } = data, total = new Float64Array(history.bins + 1);
    const rates = new Map(data.cost.hosts.map(h => [h.host, h.rate_usd_per_h]));
    for (const host of history.hosts) {
        const rate = rates.get(host.host);
        if (rate === null || rate === undefined)
            return null;
        for (const [name, bins] of Object.entries(host))
            if (name !== "host")
                bins.forEach((s, b) => { total[b + 1] += rate * s / 3600; });
    }
    for (let b = 1; b <= history.bins; b++)
        total[b] += total[b - 1];
    return s => {
        const at = Math.max(0, Math.min(history.bins, s / history.total_s * history.bins));
        const b = Math.min(history.bins - 1, Math.floor(at));
        return total[b] + (at - b) * (total[b + 1] - total[b]);
    };
};

/* The best so far, in the order in which configurations were settled. */
fa.convergence = function () {
    const { data } = fa, spent = data.history.total_s > 0 ? fa.spent(data) : null;
    const timed = data.history.total_s > 0 && data.settled.some(Number.isFinite);
    let against = "evaluations";

    function points() {
        const settled = new Set(["pending", "constraints"]);
        const order = Array.from(fa.state.chosen).filter(i => !settled.has(data.outcome.words[data.outcome.at[i]]))
            .sort((a, b) => data.turn(a) - data.turn(b));
        const x = against === "evaluations" ? (i, n) => n + 1
            : against === "seconds" ? i => data.settled[i] : i => spent(data.settled[i]);
        return order.map((i, n) => ({ i, n, x: x(i, n), time: data.rank[i] ? data.time[i] : NaN }))
            .filter(p => Number.isFinite(p.x));
    }

    function improvements(all) {
        let best = Infinity;
        return all.filter(p => p.time < best && ((best = p.time), true));
    }

    /* At most some hundred marks: in each column of the picture the extremes. */
    function thinned(all, columns) {
        if (all.length <= 2 * columns)
            return all.filter(p => Number.isFinite(p.time));
        const size = Math.ceil(all.length / columns), out = [];
        for (let n = 0; n < all.length; n += size) {
            const part = all.slice(n, n + size).filter(p => Number.isFinite(p.time));
            if (part.length)
                out.push(...d3.extent(part, p => p.time).map(t => part.find(p => p.time === t)));
        }
        return out;
    }

    function draw(host, width) {
        const all = points(), steps = improvements(all);
        if (!steps.length)
            return fa.note(host, "No configuration with a time is chosen.");
        const plot = fa.plot(host, width, { height: 320, margin: { top: 26, left: 62 },
            label: `Best time so far against ${against}` });
        const end = all[all.length - 1].x, unit = fa.unit(steps[steps.length - 1].time);
        const base = data.baseline === null ? NaN : data.time[data.baseline];
        const shown = thinned(all, Math.floor(width / 3));
        const lo = steps[steps.length - 1].time, most = d3.quantile(shown.map(p => p.time).sort(d3.ascending), 0.9);
        const y = fa.time_scale(lo, Math.max(Math.min(most, 2 * lo), 1.05 * steps[0].time, 1.05 * base || 0),
            [plot.bottom, plot.top]);
        const x = d3.scaleLinear().domain([0, end]).range([plot.left, plot.right]);
        fa.axis_y(plot, y.copy().domain(y.domain().map(t => t / unit.ns)), `time, ${unit.name}`, y.base ? fa.tick_each
            : fa.tick);
        fa.axis_x(plot, x, { evaluations: "configurations evaluated", seconds: "seconds of running",
            dollars: "dollars" }[against],
            against === "evaluations" ? t => fa.count(t) : fa.tick,
                t => against !== "evaluations" || Number.isInteger(t));
        const clip = shown.filter(p => p.time <= y.domain()[1]);
        plot.svg.append("g").selectAll("circle").data(clip).enter().append("circle").attr("class", "faint-dot")
            .attr("r", 1.6).attr("cx", p => x(p.x)).attr("cy", p => y(p.time));
        if (base <= y.domain()[1]) {
            plot.svg.append("line").attr("class", "baseline").attr("x1", plot.left).attr("x2", plot.right)
                .attr("y1", y(base)).attr("y2", y(base));
            plot.svg.append("text").attr("class", "label").attr("x", plot.right).attr("y", y(base) - 6)
                .attr("text-anchor", "end").text("baseline");
        }
        const line = d3.line().x(p => x(p.x)).y(p => y(p.time)).curve(d3.curveStepAfter);
        plot.svg.append("path").attr("class", "curve c1").attr("d", line([...steps, { ...steps[steps.length - 1],
            x: end }]));
        const dots = plot.svg.append("g").selectAll("circle").data(steps).enter().append("circle")
            .attr("class", "dot").attr("r", 4).attr("cx", p => x(p.x)).attr("cy", p => y(p.time))
            .on("click", p => fa.pick(p.i));
        fa.tip(dots, p => `${fa.digits(p.time / unit.ns)} ${unit.name} after ${fa.count(p.n + 1)}\n${fa.describe(p.i)}`);
        host.append(fa.legend(["dot", "best so far"], ["faint-dot", clip.length < shown.length
            ? "each configuration; slower ones lie above" : "each configuration"],
            ...(base ? [["baseline", "baseline"]] : [])));
    }

    const table = () => ({
        head: ["evaluations", "seconds", "dollars", "best µs", "configuration"],
        rows: improvements(points()).map(p => [fa.count(p.n + 1), fa.digits(data.settled[p.i]),
            spent ? fa.digits(spent(data.settled[p.i]), 3) : "–", fa.digits(p.time / 1e3, 5), fa.describe(p.i)]),
    });

    return fa.section({
        id: "convergence", title: "Convergence", draw, table,
        lead: timed ? "The best time so far, as the sweep went on."
            : "The best time so far. When configurations were settled is not recorded, so only their order is known.",
        controls: redraw => timed ? [fa.select("Against", [["evaluations"], ["seconds"], ...(spent ? [["dollars"]]
            : [])], against,
            value => { against = value; redraw(); })] : [],
    });
};
