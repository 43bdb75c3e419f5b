"use strict";
/* The time over two tunables, the others free. */
fa.heatmap = function () {
    const { data } = fa, varied = data.tunables.filter(fa.shown);
    if (varied.length < 2)
        return null;
    const first = data.lessons?.pairs?.[0]?.tunables ?? varied.map(t => t.name);
    const index = name => Math.max(0, varied.findIndex(t => t.name === name));
    const chosen = { down: index(first[0]), across: index(first[1]), what: "best" };
    if (chosen.down === chosen.across)
        chosen.across = chosen.down ? 0 : 1;

    /* [down][across] of {n, time, failed} */
    function cells() {
        const down = varied[chosen.down], across = varied[chosen.across];
        const out = down.words.map(() => across.words.map(() => ({ n: 0, failed: 0, time: NaN, seen: 0 })));
        const at = i => out[down.at[i]][across.at[i]];
        const ranked = fa.ranked();
        for (const i of ranked)
            at(i).n++;
        for (const i of ranked) {
            const cell = at(i), best = chosen.what === "best", k = cell.seen++;
            if (k === (best ? 0 : Math.floor((cell.n - 1) / 2)))
                cell.time = data.time[i];
            else if (!best && 2 * k === cell.n)
                cell.time = (cell.time + data.time[i]) / 2;
        }
        for (const i of fa.state.chosen.subarray(ranked.length))
            at(i).failed++;
        return out;
    }

    /* Three digits of the fastest. */
    const decimals = unit => Math.max(0, 2 - Math.floor(Math.log10(data.time[0] / unit.ns)));
    const said = (cell, unit) => cell.n ? fa.fixed(cell.time / unit.ns, decimals(unit)) : cell.failed ? "failed" : "";

    function draw(host, width) {
        const down = varied[chosen.down], across = varied[chosen.across], all = cells();
        const flat = all.flatMap((row, r) => row.map((cell, c) => ({ ...cell, r, c })));
        const times = flat.filter(cell => cell.n).map(cell => cell.time);
        if (!times.length)
            return fa.note(host, "No configuration with a time is chosen.");
        const [lo, hi] = d3.extent(times), unit = fa.unit(lo), colour = fa.heat(lo, hi);
        const size = Math.min(110, (width - 90) / across.words.length);
        const height = Math.max(22, Math.min(44, 480 / down.words.length));
        const plot = fa.plot(host, width, { height: height * down.words.length + 74,
            margin: { left: 80, top: 24 }, label: `${chosen.what} time over ${down.name} and ${across.name}` });
        const { svg } = plot, bottom = plot.top + height * down.words.length;
        const every = Math.ceil(36 / size);
        svg.append("text").attr("class", "axis-name").attr("x", 2).attr("y", 14).text(down.name);
        svg.append("text").attr("class", "axis-name").attr("x", plot.left + size * across.words.length)
            .attr("y", bottom + 38).attr("text-anchor", "end").text(across.name);
        svg.append("g").selectAll("text").data(down.words).enter().append("text").attr("class", "label")
            .attr("x", plot.left - 8).attr("y", (w, r) => plot.top + height * (r + 0.5) + 4)
            .attr("text-anchor", "end").text(w => w.slice(0, 10));
        svg.append("g").selectAll("text").data(across.words).enter().append("text").attr("class", "label")
            .attr("x", (w, c) => plot.left + size * (c + 0.5)).attr("y", bottom + 17)
            .attr("text-anchor", "middle").text((w, c) => c % every ? "" : w.slice(0, 10));
        const g = svg.append("g").selectAll("g").data(flat).enter().append("g")
            .attr("transform", d => `translate(${plot.left + size * d.c},${plot.top + height * d.r})`);
        g.append("rect").attr("width", size - 1.5).attr("height", height - 1.5).attr("rx", 2)
            .attr("class", d => d.n ? "cell" : d.failed ? "cell failed" : "cell none")
            .attr("fill", d => d.n ? colour(d.time) : null);
        if (size > 40)
            g.append("text").attr("x", size / 2 - 1).attr("y", height / 2 + 4).attr("text-anchor", "middle")
                .attr("class", d => d.n ? "figure" : "figure faint")
                .style("fill", d => d.n ? fa.ink(colour(d.time)) : null)
                .text(d => said(d, unit));
        fa.tip(g, d => [`${down.name}=${down.words[d.r]} ${across.name}=${across.words[d.c]}`,
            d.n ? `${chosen.what} ${fa.digits(d.time / unit.ns)} ${unit.name} of ${fa.count(d.n)}` : "no time",
            ...(d.failed ? [`${fa.count(d.failed)} failed`] : [])].join("\n"));
        host.append(fa.el("p", { class: "columns" }, `${unit.name}; dark is fast`));
    }

    function table() {
        const down = varied[chosen.down], across = varied[chosen.across], unit = fa.unit(data.time[0] || 1);
        return { head: [`${down.name} \\ ${across.name}, ${unit.name}`, ...across.words],
                 rows: cells().map((row, r) => [down.words[r], ...row.map(cell => said(cell, unit) || "–")]) };
    }

    function axis(label, which, redraw) {
        return fa.select(label, varied.map((t, i) => [String(i), t.name]), String(chosen[which]), value => {
            const other = which === "down" ? "across" : "down";
            if (Number(value) === chosen[other])
                chosen[other] = chosen[which];
            chosen[which] = Number(value);
            sync();
            redraw();
        });
    }

    let selects = [];
    function sync() {
        selects[0].querySelector("select").value = String(chosen.down);
        selects[1].querySelector("select").value = String(chosen.across);
    }

    return fa.section({
        id: "heatmap", title: "Two tunables together", short: "Heat map", draw, table,
        lead: "Each cell is the time over all configurations with these two values.",
        controls(redraw) {
            selects = [axis("Down", "down", redraw), axis("Across", "across", redraw)];
            return [...selects, fa.select("Show", [["best", "best time"], ["median", "median time"]], "best",
                value => { chosen.what = value; redraw(); })];
        },
    });
};
