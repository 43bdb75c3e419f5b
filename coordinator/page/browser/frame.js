"use strict";
/* A section: heading, lead, controls, picture, and the same figures as a table.
 * given: id, title, short (a title for the list of sections), lead, controls(redraw) or nothing, draw(host, width), and
 * table() which returns { head, rows } or null.  What a reader chose beside controls is what keep() returns, and
 * restore(kept) chooses in a section of newer data. */
fa.section = function (given) {
    const host = fa.el("div", { class: "picture" });
    const table = fa.reachable(fa.el("div", { class: "scroll" }), `Figures: ${given.title}`);
    const section = { ...given, host, stale: true, seen: false };
    const redraw = () => fa.draw(section);
    const alternative = fa.el("details", { class: "figures",
        toggle: () => fa.tabulate(section) },
        fa.el("summary", {}, "The figures as a table"), table);
    section.table_host = table;
    section.alternative = given.table ? alternative : null;
    section.node = fa.el("section", { id: given.id, "aria-labelledby": `${given.id}-title`, "data-short": given.short },
        fa.el("h2", { id: `${given.id}-title` }, given.title),
        given.lead ? fa.el("p", { class: "lead" }, given.lead) : null,
        given.controls ? fa.el("div", { class: "controls" }, ...given.controls(redraw)) : null,
        host, section.alternative);
    fa.sections.push(section);
    return section.node;
};

fa.draw = function (section) {
    const width = Math.floor(section.host.clientWidth);
    if (!width)
        return;
    section.stale = false;
    section.width = width;
    fa.hide_tip();
    section.draw(section.host, width);
    section.host.style.minHeight = "";
    fa.tabulate(section);
};

fa.tabulate = function (section) {
    if (!section.alternative?.open)
        return;
    const { head, rows } = section.table();
    section.table_host.replaceChildren(fa.table(head, rows));
};

/* Cells that are numbers are aligned to the right. */
fa.table = function (head, rows) {
    const right = head.map((_, c) => rows.length > 0 && rows.every(
        row => /^[-–+$]?[\d.,]*( ?[%a-zµ/]+)?$/i.test(String(row[c])) && /\d|–/.test(String(row[c]))));
    const cell = (tag, text, c) => fa.el(tag,
        { class: right[c] ? "r" : null, scope: tag === "th" ? "col" : null }, String(text));
    return fa.el("table", {},
        fa.el("thead", {}, fa.el("tr", {}, ...head.map((text, c) => cell("th", text, c)))),
        fa.el("tbody", {}, ...rows.map(row =>
            fa.el("tr", {}, ...row.map((text, c) => cell("td", text, c))))));
};

/* Draw what is seen, and again when its width has changed. */
fa.watch = function () {
    const observer = new IntersectionObserver(entries => {
        for (const entry of entries) {
            const section = fa.sections.find(s => s.node === entry.target);
            section.seen = entry.isIntersecting;
        }
        fa.draw_seen();
    }, { rootMargin: "200px" });
    fa.observe = function () {
        observer.disconnect();
        fa.sections.forEach(section => observer.observe(section.node));
    };
    fa.observe();
    window.addEventListener("resize", () => {
        for (const section of fa.sections)
            section.stale = section.stale || section.width !== Math.floor(section.host.clientWidth);
        fa.draw_seen();
    });
};
