"use strict";
/* Clocks, temperatures and canaries over time. */
fa.gpus = function () {
    const { data } = fa, { history } = data;
    const READINGS = [["clock_mhz", "lowest clock, MHz"], ["temp_c", "highest temperature, °C"],
        ["power_w", "highest power, W"]];
    const present = READINGS.filter(([name]) => history.gpus.some(g => g[name]));
    if (!(history.total_s > 0) || (!present.length && !history.canaries.length))
        return null;
    const colour = n => `c${n % 6 + 1}`;
    const x_of = plot => d3.scaleLinear().domain([0, history.total_s]).range([plot.left, plot.right]);

    function frame(host, width, title, label) {
        const box = fa.el("div", { class: "panel" }, fa.el("h3", {}, title));
        host.append(box);
        return fa.plot(box, width, { keep: true, height: 210, margin: { top: 10, left: 52 }, label });
    }

    function time_axis(plot) {
        const unit = history.total_s < 300 ? [1, "seconds"] : history.total_s < 14400 ? [60, "minutes"]
            : [3600, "hours"];
        fa.axis_x(plot, x_of(plot).domain([0, history.total_s / unit[0]]), `${unit[1]} of running`, fa.tick);
    }

    function reading(host, width, [name, title]) {
        const plot = frame(host, width, title, `${title} of each GPU over time`);
        const all = history.gpus.flatMap(g => (g[name] ?? []).filter(Number.isFinite));
        const [lo, hi] = d3.extent(all), pad = Math.max(0.1 * (hi - lo), 0.01 * hi);
        const y = d3.scaleLinear().domain([Math.max(0, lo - pad), hi + pad]).nice(4).range([plot.bottom, plot.top]);
        const x = x_of(plot), width_s = history.total_s / history.bins;
        fa.axis_y(plot, y, "", fa.tick);
        time_axis(plot);
        history.gpus.forEach((gpu, n) => {
            const points = (gpu[name] ?? []).map((v, b) => [b, v]).filter(([, v]) => Number.isFinite(v));
            plot.svg.append("path").attr("class", `curve thin ${colour(n)}`).attr("d", d3.line()
                .x(([b]) => x((b + 0.5) * width_s)).y(([, v]) => y(v))(points));
        });
    }

    function canaries(host, width) {
        const plot = frame(host, width, "canary, against its GPU's own median", "Canaries of each GPU over time");
        const level = history.gpus.map((g, n) => fa.median(history.canaries.filter(c => c[0] === n).map(c => c[2])));
        const off = c => c[2] / level[c[0]] - 1, x = x_of(plot);
        const most = Math.max(0.005, d3.max(history.canaries, c => Math.abs(off(c))));
        const y = d3.scaleLinear().domain([-1.1 * most, 1.1 * most]).range([plot.bottom, plot.top]);
        fa.axis_y(plot, y, "", t => `${t > 0 ? "+" : ""}${fa.digits(100 * t, 2)} %`);
        time_axis(plot);
        const dots = plot.svg.append("g").selectAll("circle").data(history.canaries).enter().append("circle")
            .attr("class", c => `mark ${colour(c[0])}`).attr("r", 3).attr("cx", c => x(c[1]))
                .attr("cy", c => y(off(c)));
        fa.tip(dots, c => `GPU ${c[0]}: ${fa.digits(1e6 * c[2], 5)} µs, ${off(c) > 0 ? "+" : ""}${fa.percent(off(c), 2)}`);
    }

    function draw(host, width) {
        const columns = width > 760 ? 2 : 1, each = Math.floor((width - 24 * (columns - 1)) / columns);
        const grid = fa.el("div", { class: `grid${columns}` });
        host.replaceChildren(fa.legend(...history.gpus.map((g, n) => [`mark ${colour(n)}`,
            `GPU ${n}: ${g.gpu.slice(0, 12)}`])), grid);
        if (history.canaries.length)
            canaries(grid, each);
        present.forEach(one => reading(grid, each, one));
    }

    const table = () => ({
        head: ["GPU", "host", "measured", "canaries", "canary µs", "trend", "noise", "lowest MHz", "highest °C",
            "quarantined"],
        rows: data.gpus.map((g, n) => [g.gpu, g.host, fa.count(g.measured), g.canaries,
            fa.digits(1e6 * (g.canary_s ?? NaN), 4),
            fa.percent(g.trend ?? NaN, 2), fa.percent(g.noise ?? NaN, 2),
                fa.digits(d3.min(history.gpus[n]?.clock_mhz ?? []) ?? NaN),
            fa.digits(d3.max(history.gpus[n]?.temp_c ?? []) ?? NaN), g.quarantined ?? "no"]),
    });

    return fa.section({ id: "gpus", title: "GPU clocks and canaries", short: "GPUs", draw, table,
        lead: "Readings after each measurement, and the canary: the same configuration measured again and again." });
};
