"use strict";
/* Build the page from its data. */
fa.start = function () {
    fa.data = fa.decode(JSON.parse(document.getElementById("data").textContent));
    fa.state.chosen = fa.all(fa.data.n);
    const report = document.getElementById("report");
    const answer = document.getElementById("answer");
    const nodes = [fa.ranking, fa.configurations, fa.effects, fa.heatmap, fa.convergence, fa.parallel,
        fa.roofline, fa.pareto, fa.timeline, fa.gpus, fa.failures].map(make => make()).filter(Boolean);
    const main = fa.el("main", {}, ...nodes);
    const links = [...nodes, report].map(node => fa.el("a", { href: `#${node.id}` },
        node.dataset.short ?? node.querySelector("h2").textContent));
    const bar = fa.el("div", { class: "bar-top" }, fa.el("nav", { "aria-label": "Sections" }, ...links), fa.filter());

    document.getElementById("plot")?.remove();
    const header = fa.el("header", {});
    answer.after(header, bar, main);
    header.append(document.querySelector("h1"), answer, fa.summary());
    main.append(fold(report));
    document.body.append(fa.el("div", { id: "tip", hidden: true, "aria-hidden": "true" }));
    document.body.classList.add("live");
    fa.counted();
    fa.watch();
    follow();
    window.addEventListener("hashchange", follow);
};

/* The report as text is long: it opens when asked for, linked to, or printed. */
function fold(report) {
    const title = report.querySelector("h2"), body = fa.el("details", {}, fa.el("summary", {},
        "All tables, as 'fa-coord report' prints them"));
    body.append(...[...report.childNodes].filter(node => node !== title));
    for (const box of body.querySelectorAll(":scope > div"))
        fa.reachable(box, "Table of the report");
    report.append(body);
    window.addEventListener("beforeprint", () => {
        body.open = true;
        fa.sections.forEach(section => section.stale && fa.draw(section));
    });
    return report;
}

/* The key in the address is that of a configuration. */
function follow() {
    const hash = location.hash.slice(1);
    if (hash === "report")
        document.querySelector("#report details").open = true;
    const i = /^[0-9a-f]{6,}$/.test(hash) ? fa.find(hash) : -1;
    if (i >= 0) {
        document.getElementById("configurations").scrollIntoView();
        requestAnimationFrame(() => fa.pick(i));
    }
}

fa.start();
