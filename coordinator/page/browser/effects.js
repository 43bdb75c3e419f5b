"use strict";
/* The part of the variance of log time that a tunable explains, or NaN. */
fa.share = name => fa.data.lessons?.tunables.find(t => t.tunable === name)?.share ?? NaN;

/* What each value of a tunable makes of the time, the others free. */
fa.effects = function () {
    const { data, share } = fa;
    const VALUES = 40; /* rows of a panel */
    const dead = name => data.lessons?.tunables.find(t => t.tunable === name)?.dead === true;
    const varied = data.tunables.filter(fa.shown)
        .sort((a, b) => (share(b.name) || 0) - (share(a.name) || 0));

    /* Ranked configurations come the fastest first, so that quartiles are counted, not sorted. */
    function summary(tunable, ranked) {
        const n = new Array(tunable.words.length).fill(0), seen = n.map(() => 0);
        for (const i of ranked)
            n[tunable.at[i]]++;
        const out = n.map(count => ({ n: count, best: NaN, q1: NaN, median: NaN, q3: NaN }));
        for (const i of ranked) {
            const v = tunable.at[i], o = out[v], t = data.time[i], k = seen[v]++;
            if (k === 0)
                o.best = t;
            if (k === Math.floor((n[v] - 1) / 4))
                o.q1 = t;
            if (k === Math.floor((n[v] - 1) / 2))
                o.median = t;
            else if (2 * k === n[v])
                o.median = (o.median + t) / 2;
            if (k === Math.floor(3 * (n[v] - 1) / 4))
                o.q3 = t;
        }
        return out;
    }

    function panel(host, tunable, width, scale, unit, ranked) {
        const values = summary(tunable, ranked), timed = values.map((o, v) => v).filter(v => values[v].n);
        const shown = timed.slice(0, VALUES);
        const best = d3.scan(values, (a, b) => (a.best || Infinity) - (b.best || Infinity));
        const box = fa.el("div", { class: "panel" });
        const text = dead(tunable.name) ? ["changes nothing in the code"]
            : Number.isFinite(share(tunable.name)) ? [`explains ${fa.percent(share(tunable.name))}`] : [];
        if (timed.length > VALUES)
            text.push(`the first ${VALUES} of ${timed.length} values`);
        box.append(fa.el("h3", {}, tunable.name, fa.el("span", {}, text.join("; "))));
        host.append(box);
        const plot = fa.plot(box, width, { keep: true, height: 24 * shown.length + 24,
            margin: { left: 62, right: 12, top: 2, bottom: 22 },
                label: `${tunable.name}: best, median and quartiles of the time for each value` });
        const x = scale.copy().range([plot.left, plot.right]);
        fa.axis_x(plot, x.copy().domain(x.domain().map(t => t / unit.ns)), "", x.base ? fa.tick_each : fa.tick);
        const g = plot.svg.selectAll("g.row").data(shown).enter().append("g")
            .attr("transform", (v, n) => `translate(0,${plot.top + 24 * n + 12})`);
        g.append("rect").attr("class", "hit").attr("y", -12).attr("height", 24).attr("width", width);
        g.append("text").attr("class", v => v === best ? "label best" : "label").attr("x", plot.left - 8).attr("y", 4)
            .attr("text-anchor", "end").text(v => tunable.words[v].slice(0, 8));
        g.append("line").attr("class", "range").attr("x1", v => x(values[v].best)).attr("x2", v => x(values[v].q3));
        g.append("line").attr("class", "spread").attr("x1", v => x(values[v].q1)).attr("x2", v => x(values[v].q3));
        g.append("circle").attr("class", "dot").attr("r", 3.5).attr("cx", v => x(values[v].median));
        g.append("path").attr("class", "tick-best").attr("d", v => `M${x(values[v].best)},-6v12`);
        const figure = t => `${fa.digits(t / unit.ns)} ${unit.name}`;
        fa.tip(g, v => `${tunable.name}=${tunable.words[v]}: best ${figure(values[v].best)}, `
            + `median ${figure(values[v].median)}, ${fa.count(values[v].n)} configurations`);
    }

    function draw(host, width) {
        const ranked = fa.ranked();
        if (!ranked.length || !varied.length)
            return fa.note(host, "No configuration with a time is chosen.");
        const columns = width > 1050 ? 3 : width > 640 ? 2 : 1;
        const grid = fa.el("div", { class: `grid${columns}` });
        host.replaceChildren(fa.legend(["tick-best", "best"], ["spread", "quartiles"], ["dot", "median"],
            ["", `in ${fa.unit(data.time[ranked[0]]).name}`]), grid);
        const last = data.time[ranked[ranked.length - 1]];
        const scale = fa.time_scale(data.time[ranked[0]], last, [0, 1]);
        const each = Math.floor((width - 24 * (columns - 1)) / columns);
        for (const tunable of varied)
            panel(grid, tunable, each, scale, fa.unit(data.time[ranked[0]]), ranked);
    }

    const table = () => ({
        head: ["tunable", "explains", "value", "best µs", "median µs", "configurations"],
        rows: varied.flatMap(t => summary(t, fa.ranked()).map((o, v) => [t.name, fa.percent(share(t.name)),
            t.words[v], fa.digits(o.best / 1e3), fa.digits(o.median / 1e3), fa.count(o.n)])),
    });

    return fa.section({ id: "effects", title: "Effect of each tunable", short: "Effects", draw, table,
        lead: "Times for each value, the other tunables free; the tunable that explains most comes first." });
};
