"use strict";
/* Failures of one kind, and the values that they share. */
fa.failures = function () {
    const { data } = fa, kinds = data.lessons?.failures ?? [];
    if (!kinds.length)
        return null;
    const terms = list => (list ?? []).map(t => `${t.tunable}=${t.values.join("|")}`).join(" ");

    function shared(kind) {
        if (kind.shared?.length)
            return `all share ${terms(kind.shared)}; ${fa.count(kind.right_sharing)} of ${fa.count(kind.right)} correct ones do`;
        if (kind.part?.length)
            return `${fa.count(kind.part_failures)} have ${terms(kind.part)}, with which nothing is correct`;
        if (kind.unvaried?.length)
            return `all have ${terms(kind.unvaried)}, but no correct one has another value`;
        return "no common value sets them apart";
    }

    const quoted = text => `'${String(text).replace(/'/g, "''")}'`;

    function draw(host) {
        const most = d3.max(kinds, k => k.failures);
        host.replaceChildren(fa.el("ol", { class: "failures" }, ...kinds.map(kind => {
            const bar = fa.el("span", { class: "bar c4", "aria-hidden": "true" });
            bar.style.width = `${Math.max(0.5, 100 * kind.failures / most)}%`;
            return fa.el("li", {},
                fa.el("div", { class: "head" }, fa.el("strong", {}, fa.count(kind.failures)), ` ${kind.outcome}`,
                    kind.reason ? `: ${kind.reason}` : ""),
                fa.el("div", { class: "track" }, bar),
                fa.el("div", { class: "lead" }, shared(kind)),
                fa.el("button", { type: "button", click: () => {
                    fa.set_rule([`outcome = ${quoted(kind.outcome)}`, ...(kind.shared ?? []).map(condition)].join(" AND "));
                    document.getElementById("configurations").scrollIntoView();
                } }, "Show them"));
        })));
    }

    function condition(term) {
        const tunable = data.tunables.find(t => t.name === term.tunable);
        const text = v => tunable?.kind === "text" ? quoted(v) : tunable?.kind === "bool"
            ? String(Number(v === "true")) : v;
        return `${term.tunable} IN (${term.values.map(text).join(", ")})`;
    }

    return fa.section({ id: "failures", title: "Failures and what they share", short: "Failures", draw,
        lead: `${fa.count(data.lessons.failed)} configurations failed. Failures are of one kind when outcome and `
            + "reason are the same, apart from numbers.",
        table: () => ({ head: ["failures", "outcome", "reason", "what they share"],
                        rows: kinds.map(k => [fa.count(k.failures), k.outcome, k.reason, shared(k)]) }) });
};
