"use strict";
/* What hosts and GPUs did, and what that cost. */
fa.timeline = function () {
    const { data } = fa, { history } = data;
    if (!(history.total_s > 0))
        return null;
    const KINDS = ["measuring", "building", "setup", "uploading", "acquiring", "idle", "failed", "lost"];
    const USES = ["screen", "canary", "confirm"];
    const spent = fa.spent(data), width_s = history.total_s / history.bins;

    /* Lanes of {name, series: [[kind, bins]]}; what a GPU does not use is idle. */
    function lanes() {
        const out = [];
        for (const host of history.hosts) {
            out.push({ name: host.host, series: KINDS.filter(k => host[k]).map(k => [k, host[k]]) });
            for (const [n, gpu] of history.gpus.entries())
                if (data.gpus.find(g => g.gpu === gpu.gpu)?.host === host.host)
                    out.push({ name: `GPU ${n} ${gpu.gpu.replace(/^GPU-/, "").slice(0, 4)}`, gpu: true,
                        series: USES.filter(u => gpu[u]).map(u => [u, gpu[u]]) });
        }
        return out;
    }

    function lane(plot, one, top, height, x) {
        const g = plot.svg.append("g");
        g.append("text").attr("class", one.gpu ? "label faint" : "label").attr("x", 2).attr("y", top + height / 2 + 4)
            .text(one.name.slice(0, plot.left / 7.2));
        g.append("rect").attr("class", "lane").attr("x", x(0)).attr("y", top).attr("height", height)
            .attr("width", x(history.total_s) - x(0));
        const below = new Float64Array(history.bins);
        const wide = (x(width_s) - x(0)).toFixed(2);
        for (const [kind, bins] of one.series) {
            let d = "";
            bins.forEach((s, b) => {
                const h = Math.min(1 - below[b], s / width_s) * height;
                if (h > 0.2) {
                    const y = top + height - below[b] * height - h;
                    d += `M${x(b * width_s).toFixed(1)},${y.toFixed(1)}h${wide}v${h.toFixed(1)}h-${wide}z`;
                }
                below[b] = Math.min(1, below[b] + s / width_s);
            });
            const share = d3.sum(bins) / history.total_s;
            fa.tip(g.append("path").attr("class", `use ${kind}`).attr("d", d),
                () => `${one.name}: ${kind} ${fa.duration(d3.sum(bins))}, ${fa.percent(share)}`);
        }
    }

    function money(plot, top, height, x) {
        const y = d3.scaleLinear().domain([0, spent(history.total_s)]).nice(3).range([top + height, top]);
        const area = d3.area().x(b => x(b * width_s)).y0(y(0)).y1(b => y(spent(b * width_s)));
        fa.axis_y({ ...plot, top, bottom: top + height }, y, "dollars so far", fa.tick);
        plot.svg.append("path").attr("class", "area c1").attr("d", area(d3.range(history.bins + 1)));
    }

    function draw(host, width) {
        const list = lanes(), heights = list.map(l => l.gpu ? 20 : 30), tall = spent ? 120 : 0;
        const left = width > 600 ? 150 : 92;
        const plot = fa.plot(host, width, { height: d3.sum(heights) + 8 * list.length + tall + 74, margin: { left,
            top: 22 }, label: "What hosts and GPUs did over time" });
        const x = d3.scaleLinear().domain([0, history.total_s]).range([plot.left, plot.right]);
        const unit = history.total_s < 300 ? [1, "seconds"] : history.total_s < 14400 ? [60, "minutes"]
            : [3600, "hours"];
        fa.axis_x(plot, x.copy().domain([0, history.total_s / unit[0]]),
            `${unit[1]} of running; pauses between runs are left out`, fa.tick);
        let top = plot.top;
        list.forEach((one, n) => {
            lane(plot, one, top, heights[n], x);
            top += heights[n] + 8;
        });
        if (spent)
            money(plot, top + 18, tall - 30, x);
        runs(plot, x);
        host.append(fa.legend(...KINDS.filter(k => history.hosts.some(h => h[k])).map(k => [`use ${k}`, k]),
            ...USES.filter(u => history.gpus.some(g => g[u])).map(u => [`use ${u}`, `GPU: ${u}`])));
    }

    function runs(plot, x) {
        let free = -Infinity;
        for (const run of history.runs) {
            const at = x(run.offset_s);
            plot.svg.append("line").attr("class", "run").attr("x1", at).attr("x2", at).attr("y1", plot.top - 4)
                .attr("y2", plot.bottom);
            const text = `${run.command} ${run.start.slice(11, 16)}`;
            if (at < free || at + 7 * text.length > plot.right + plot.margin.right)
                continue;
            plot.svg.append("text").attr("class", "label faint").attr("x", at + 3).attr("y", 13).text(text);
            free = at + 7 * text.length + 8;
        }
    }

    const table = () => ({
        head: ["lane", "what", "time", "share", "dollars"],
        rows: lanes().flatMap(one => one.series.map(([kind, bins]) => {
            const rate = one.gpu ? NaN : data.cost.hosts.find(h => h.host === one.name)?.rate_usd_per_h ?? NaN;
            return [one.name, kind, fa.duration(d3.sum(bins)), fa.percent(d3.sum(bins) / history.total_s),
                    one.gpu ? "–" : fa.dollars(rate * d3.sum(bins) / 3600)];
        })),
    });

    return fa.section({ id: "timeline", title: "Hosts and GPUs over time", short: "Timeline", draw, table,
        lead: spent ? "What each host was held for, what its GPUs measured, and the dollars."
            : "What each host was held for, and what its GPUs measured. A host without a rate is unpriced." });
};
