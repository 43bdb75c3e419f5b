"use strict";
/* What all plots have: an SVG with margins, axes and a tip. */
fa.plot = function (host, width, given) {
    const margin = { top: 14, right: 16, bottom: 40, left: 56, ...given.margin };
    const svg = d3.create("svg").attr("viewBox", `0 0 ${width} ${given.height}`)
        .attr("width", width).attr("height", given.height)
        .attr("role", "img").attr("aria-label", given.label);
    if (!given.keep)
        host.replaceChildren();
    host.append(svg.node());
    return { svg, width, margin, left: margin.left, right: width - margin.right,
             top: margin.top, bottom: given.height - margin.bottom };
};

fa.note = (host, text) => host.replaceChildren(fa.el("p", { class: "note" }, text));

/* Ticks with room for labels of seven letters, only those that are wanted. */
fa.axis_x = function (plot, scale, title, format, wanted = () => true) {
    const ticks = fa.ticks(scale, (plot.right - plot.left) / 63).filter(wanted);
    const g = plot.svg.append("g").attr("class", "axis");
    for (const tick of ticks) {
        const x = scale(tick);
        g.append("line").attr("class", "grid").attr("x1", x).attr("x2", x)
            .attr("y1", plot.top).attr("y2", plot.bottom);
        g.append("text").attr("x", x).attr("y", plot.bottom + 16)
            .attr("text-anchor", "middle").text(format(tick, ticks));
    }
    g.append("text").attr("class", "title").attr("x", plot.right)
        .attr("y", plot.bottom + 34).attr("text-anchor", "end").text(title);
    return g;
};

fa.axis_y = function (plot, scale, title, format) {
    const ticks = fa.ticks(scale, (plot.bottom - plot.top) / 36);
    const g = plot.svg.append("g").attr("class", "axis");
    for (const tick of ticks) {
        const y = scale(tick);
        g.append("line").attr("class", "grid").attr("x1", plot.left)
            .attr("x2", plot.right).attr("y1", y).attr("y2", y);
        g.append("text").attr("x", plot.left - 8).attr("y", y + 4)
            .attr("text-anchor", "end").text(format(tick, ticks));
    }
    g.append("text").attr("class", "title").attr("x", plot.left)
        .attr("y", plot.top - 8).text(title);
    return g;
};

/* Of a logarithmic scale: 1, 2, 5 times powers of ten, as many as fit. */
fa.ticks = function (scale, most) {
    most = Math.max(2, Math.floor(most));
    if (!scale.base)
        return scale.ticks(most);
    const [lo, hi] = scale.domain();
    if (hi / lo < 4)
        return d3.ticks(lo, hi, Math.min(most, 6));
    for (const steps of [[1, 1.5, 2, 3, 4, 5, 7], [1, 2, 3, 5], [1, 2, 5], [1, 3], [1]]) {
        const list = [];
        for (let p = Math.floor(Math.log10(lo)); p <= Math.log10(hi); p++)
            for (const s of steps)
                if (s * 10 ** p >= lo && s * 10 ** p <= hi)
                    list.push(s * 10 ** p);
        if (list.length <= most && list.length > 1)
            return list;
    }
    return d3.ticks(Math.log10(lo), Math.log10(hi), most).map(p => 10 ** p);
};

/* As many decimals as the distance of the ticks needs. */
fa.tick = function (x, ticks) {
    const step = ticks.length > 1 ? Math.min(...d3.pairs(ticks, (a, b) => Math.abs(b - a))) : x;
    const decimals = Math.max(0, Math.ceil(-Math.log10(step || 1) - 1e-9));
    return decimals > 6 ? x.toExponential(1)
        : x.toLocaleString("en-US", { minimumFractionDigits: Math.min(decimals, 6),
                                      maximumFractionDigits: Math.min(decimals, 6) });
};
fa.tick_each = x => fa.digits(x, 3);

/* A scale of times: logarithmic where they differ by more than a factor 4. */
fa.time_scale = function (lo, hi, range, pad = 0.04) {
    const log = lo > 0 && hi / lo > 4;
    const margin = Math.max(pad * (hi - lo), 0.002 * hi);
    return log ? d3.scaleLog().domain([lo / 1.05, hi * 1.05]).range(range)
               : d3.scaleLinear().domain([Math.max(0, lo - margin), hi + margin]).range(range);
};

/* ---- the tip beside the pointer; the tables have the same for other readers */

fa.tip = function (selection, text) {
    selection.on("mousemove.tip", function (d) { fa.show_tip(text.call(this, d), d3.event); })
        .on("mouseleave.tip", fa.hide_tip);
    return selection;
};

fa.show_tip = function (text, event) {
    const tip = document.getElementById("tip");
    tip.textContent = text;
    tip.hidden = false;
    const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const y = event.clientY + 18 + tip.offsetHeight > innerHeight
        ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18;
    tip.style.left = `${Math.max(4, x)}px`;
    tip.style.top = `${y}px`;
};

fa.hide_tip = () => { document.getElementById("tip").hidden = true; };

/* Marks and their meaning, as HTML beside a plot. */
fa.legend = (...entries) => fa.el("ul", { class: "legend" }, ...entries.map(([name, text]) =>
    fa.el("li", {}, name ? fa.el("span", { class: `swatch ${name}`, "aria-hidden": "true" }) : null, text)));

/* Fast is dark, slow is pale. */
fa.heat = function (lo, hi) {
    const scale = hi > lo ? d3.scaleLog().domain([lo, hi]).range([0.95, 0.08]) : () => 0.6;
    return t => d3.interpolateYlGnBu(scale(t));
};
fa.ink = colour => d3.lab(colour).l > 58 ? "#101418" : "#ffffff";
