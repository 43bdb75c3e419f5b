"use strict";
/* The figures that a reader wants first. */
fa.summary = function () {
    const { data } = fa, best = data.ranked ? 0 : -1;
    const unit = fa.unit(best < 0 ? 1 : data.time[best]);
    const speedup = best < 0 || data.baseline === null ? NaN : data.time[data.baseline] / data.time[best];
    const failed = data.lessons?.failed ?? 0;
    const seconds = data.history.total_s;
    const facts = [
        ["Fastest", best < 0 ? "none" : `${fa.digits(data.median[0][best] / unit.ns, 4)} ${unit.name}`,
            best < 0 ? "" : `${data.key(best)}, at ${data.shapes[0].name}`],
        ["Over the baseline", Number.isFinite(speedup) ? `${speedup.toFixed(3)}×` : "–",
            data.verdict.state === "done" ? "in the sweep; the verdict says what was confirmed"
                : "in the sweep, not confirmed"],
        ["Configurations", fa.count(data.asked),
            `${fa.count(data.counts.correct ?? 0)} correct, ${fa.count(failed)} failed`],
        ["Cost", data.cost.hosts.length && data.cost.total_hours > 0 ? fa.dollars(data.cost.total_usd ?? NaN) : "–",
            data.cost.total_hours > 0 ? `${fa.duration(3600 * data.cost.total_hours)} of host time`
                : "no time was recorded"],
        ["Run", seconds > 0 ? fa.duration(seconds) : "–",
            [data.search.method || "unknown strategy", ...(data.created
                ? [`${data.created.slice(0, 16).replace("T", " ")} UTC`] : [])].join(", ")],
    ];
    return fa.el("dl", { class: "summary" }, ...facts.map(([name, figure, more]) =>
        fa.el("div", {}, fa.el("dt", {}, name), fa.el("dd", {}, fa.el("strong", {}, figure),
            fa.el("span", {}, more)))));
};

/* The rule that chooses, for all pictures and the table. */
fa.filter = function () {
    const { data } = fa;
    const example = data.tunables.find(fa.shown) ?? data.tunables[0];
    const value = t => t.kind === "text" ? `'${t.words[0]}'` : Number(t.values[0]);
    const input = fa.el("input", { type: "text", id: "rule", spellcheck: "false", autocomplete: "off",
        "aria-describedby": "chosen", size: "1",
        placeholder: [...(example ? [`${example.name} = ${value(example)}`] : []), "median_s < 1e-3"].join(" AND ") });
    const chosen = fa.el("output", { id: "chosen" });
    let wrong = "", waiting = 0;

    fa.counted = function () {
        chosen.className = wrong ? "wrong" : "";
        chosen.textContent = wrong || `${fa.count(fa.state.chosen.length)} of ${fa.count(fa.data.n)}`;
        input.setAttribute("aria-invalid", wrong ? "true" : "false");
    };
    function apply() {
        clearTimeout(waiting);
        wrong = fa.choose(input.value);
        fa.counted();
    }
    fa.set_rule = function (text) {
        input.value = text;
        apply();
    };
    input.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 250); });
    return fa.el("form", { class: "filter", role: "search", submit: event => { event.preventDefault(); apply(); } },
        fa.el("label", { for: "rule" }, "Filter"), input,
        fa.el("button", { type: "button", click: () => { fa.set_rule(""); input.focus(); } }, "Clear"), chosen);
};
