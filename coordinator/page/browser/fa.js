"use strict";
/* The one global object of the page's scripts; small things that all use. */
const fa = {};

/* An element: its tag, attributes (a function is a listener), and children. */
fa.el = function (tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function")
            node.addEventListener(name, value);
        else if (value === true)
            node.setAttribute(name, "");
        else if (value !== false && value !== null && value !== undefined)
            node.setAttribute(name, value);
    }
    node.append(...children.filter(child => child !== null && child !== undefined));
    return node;
};

/* What scrolls must be reached by the keyboard, too. */
fa.reachable = function (box, label) {
    box.setAttribute("tabindex", "0");
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", label);
    return box;
};

fa.option = (value, text = value) => fa.el("option", { value }, String(text));

/* A select with its label; 'options' are [value, text]. */
fa.select = function (label, options, chosen, changed) {
    const select = fa.el("select", { change: () => changed(select.value) });
    for (const [value, text] of options)
        select.append(fa.option(value, text));
    select.value = chosen;
    return fa.el("label", {}, `${label} `, select);
};

/* ---- numbers, with the digits that a reader needs */

fa.digits = (x, digits = 4) => {
    if (!Number.isFinite(x))
        return "–";
    if (x !== 0 && (Math.abs(x) >= 1e6 || Math.abs(x) < 1e-3))
        return x.toExponential(digits - 1);
    const whole = Math.max(1, Math.floor(Math.log10(Math.abs(x) || 1)) + 1);
    return x.toLocaleString("en-US", { maximumFractionDigits: Math.max(0, digits - whole),
                                       minimumFractionDigits: 0 });
};
fa.fixed = (x, decimals) => Number.isFinite(x) ? x.toFixed(decimals) : "–";
fa.percent = (x, decimals = 1) => Number.isFinite(x) ? `${(100 * x).toFixed(decimals)} %` : "–";
fa.count = n => n.toLocaleString("en-US");

/* The unit in which the largest time has one to three digits before the point. */
fa.unit = function (most_ns) {
    for (const [ns, name] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]])
        if (most_ns >= ns)
            return { ns, name };
    return { ns: 1, name: "ns" };
};

fa.duration = function (s) {
    if (!Number.isFinite(s))
        return "–";
    if (s < 120)
        return `${fa.digits(s, 3)} s`;
    if (s < 7200)
        return `${fa.digits(s / 60, 3)} min`;
    return `${fa.digits(s / 3600, 3)} h`;
};
fa.dollars = usd => Number.isFinite(usd) ? `$${usd < 1 ? fa.digits(usd, 3) : usd.toFixed(2)}` : "unpriced";

fa.median = function (numbers) {
    if (!numbers.length)
        return NaN;
    const sorted = Float64Array.from(numbers).sort();
    return sorted.length % 2 ? sorted[sorted.length >> 1]
        : (sorted[sorted.length / 2 - 1] + sorted[sorted.length / 2]) / 2;
};
