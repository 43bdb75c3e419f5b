"use strict";
/* The data of this page, or of a newer one. */
fa.read = page => fa.decode(JSON.parse(page.getElementById("data").textContent));

/* The sections of the data, with the report in full as the last one. */
fa.build = function (report) {
    fa.sections = [];
    const nodes = [fa.ranking, fa.configurations, fa.effects, fa.heatmap, fa.convergence, fa.parallel,
        fa.roofline, fa.pareto, fa.timeline, fa.gpus, fa.failures].map(make => make()).filter(Boolean);
    return [...nodes, fold(report)];
};

fa.links = nodes => nodes.map(node => fa.el("a", { href: `#${node.id}` },
    node.dataset.short ?? node.querySelector("h2").textContent));

/* Build the page from its data. */
fa.start = function () {
    fa.data = fa.read(document);
    fa.state.chosen = fa.all(fa.data.n);
    const answer = document.getElementById("answer");
    const header = fa.el("header", {}), main = fa.el("main", {});
    const nodes = fa.build(document.getElementById("report"));
    const nav = fa.el("nav", { "aria-label": "Sections" }, ...fa.links(nodes));

    document.getElementById("plot")?.remove();
    answer.after(header, fa.el("div", { class: "bar-top" }, nav, fa.filter()), main);
    header.append(document.querySelector("h1"), answer, fa.summary());
    main.append(...nodes);
    document.body.append(fa.el("div", { id: "tip", hidden: true, "aria-hidden": "true" }));
    document.body.classList.add("live");
    fa.counted();
    fa.watch();
    follow();
    window.addEventListener("hashchange", follow);
    window.addEventListener("beforeprint", () => {
        document.querySelector("#report details").open = true;
        fa.sections.forEach(section => section.stale && fa.draw(section));
    });
};

/* The report as text is long: it opens when asked for, linked to, or printed. */
function fold(report) {
    const title = report.querySelector("h2"), body = fa.el("details", {}, fa.el("summary", {},
        "All tables, as 'fa-coord report' prints them"));
    body.append(...[...report.childNodes].filter(node => node !== title));
    for (const box of body.querySelectorAll(":scope > div"))
        fa.reachable(box, "Table of the report");
    report.append(body);
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
