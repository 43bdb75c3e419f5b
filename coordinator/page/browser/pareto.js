"use strict";
/* Two objectives: configurations of which no other is better in both. */
fa.pareto = function () {
    const { data } = fa;
    const objectives = [
        ...data.shapes.map((s, n) => ({ name: `time at ${s.name}, µs`, at: data.median[n], scale: 1e-3 })),
        ...(data.registers.some(Number.isFinite) ? [{ name: "registers a thread", at: data.registers, scale: 1 }] : []),
    ];
    if (data.shapes.length < 2)
        return null;
    const chosen = { x: 0, y: 1 };

    function points() {
        const { at: xs, scale: sx } = objectives[chosen.x], { at: ys, scale: sy } = objectives[chosen.y];
        const all = [];
        for (const i of fa.ranked())
            if (Number.isFinite(xs[i]) && Number.isFinite(ys[i]))
                all.push({ i, x: xs[i] * sx, y: ys[i] * sy });
        return all.sort((a, b) => a.x - b.x || a.y - b.y);
    }

    function front(all) {
        let best = Infinity;
        return all.filter(p => p.y < best && ((best = p.y), true));
    }

    /* Beyond some thousand points, squares that hold them. */
    function cloud(plot, all, x, y) {
        if (all.length <= 3000) {
            const dots = plot.svg.append("g").selectAll("circle").data(all).enter().append("circle")
                .attr("class", "faint-dot").attr("r", 2).attr("cx", p => x(p.x)).attr("cy", p => y(p.y));
            return fa.tip(dots, p => fa.describe(p.i));
        }
        const cells = new Map(), size = 5;
        for (const p of all) {
            const key = `${Math.floor(x(p.x) / size)},${Math.floor(y(p.y) / size)}`;
            cells.set(key, (cells.get(key) ?? 0) + 1);
        }
        const shade = d3.scaleSqrt().domain([0, d3.max([...cells.values()])]).range([0.15, 0.9]);
        return plot.svg.append("g").selectAll("rect").data([...cells]).enter().append("rect").attr("class", "bin")
            .attr("x", ([key]) => size * key.split(",")[0]).attr("y", ([key]) => size * key.split(",")[1])
            .attr("width", size).attr("height", size).attr("opacity", ([, n]) => shade(n));
    }

    function draw(host, width) {
        const all = points(), best = front(all);
        if (!all.length)
            return fa.note(host, "No configuration with both figures is chosen.");
        const plot = fa.plot(host, width, { height: 400, margin: { top: 26, left: 62 },
            label: `${objectives[chosen.y].name} against ${objectives[chosen.x].name}` });
        const x = fa.time_scale(...d3.extent(all, p => p.x), [plot.left, plot.right]);
        const y = fa.time_scale(...d3.extent(all, p => p.y), [plot.bottom, plot.top]);
        fa.axis_x(plot, x, objectives[chosen.x].name, x.base ? fa.tick_each : fa.tick);
        fa.axis_y(plot, y, objectives[chosen.y].name, y.base ? fa.tick_each : fa.tick);
        cloud(plot, all, x, y);
        plot.svg.append("path").attr("class", "curve c1").attr("d", d3.line().x(p => x(p.x)).y(p => y(p.y))
            .curve(d3.curveStepAfter)(best));
        const dots = plot.svg.append("g").selectAll("circle").data(best).enter().append("circle").attr("class", "dot")
            .attr("r", 4.5)
            .attr("cx", p => x(p.x)).attr("cy", p => y(p.y)).on("click", p => fa.pick(p.i));
        fa.tip(dots, p => `${fa.digits(p.x)} / ${fa.digits(p.y)}\n${fa.describe(p.i)}`);
        const base = all.find(p => p.i === data.baseline);
        if (base)
            plot.svg.append("path").attr("class", "mark c2").attr("d", d3.symbol().type(d3.symbolDiamond).size(70)())
                .attr("transform", `translate(${x(base.x)},${y(base.y)})`);
        host.append(fa.legend(["dot", "on the front"], [all.length > 3000 ? "bin" : "faint-dot", "others"],
            ...(base ? [["mark c2", "baseline"]] : [])));
    }

    const table = () => ({ head: [objectives[chosen.x].name, objectives[chosen.y].name, "configuration"],
        rows: front(points()).map(p => [fa.digits(p.x), fa.digits(p.y), fa.describe(p.i)]) });

    const axis = (label, which, redraw) => fa.select(label, objectives.map((o, n) => [String(n), o.name]),
        String(chosen[which]), value => { chosen[which] = Number(value); redraw(); });

    return fa.section({ id: "pareto", title: "Pareto front", short: "Pareto", draw, table,
        lead: "Configurations of which no other is better in both; the step line joins them." + fa.left_out(),
        controls: redraw => [axis("Across", "x", redraw), axis("Up", "y", redraw)] });
};
