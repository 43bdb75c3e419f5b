"use strict";
/* A page that fa-coord serves follows its database (docs/serve.md).  A page
 * that is a file has no mark, or an address that cannot be asked. */
fa.live = function (mark) {
    const EVERY_MS = 2000, FAILURES_MAX = 3;
    let shown = mark.dataset.version, tag = null, said = null, failures = 0, held = false;
    const state = fa.el("strong", { role: "status" }), age = fa.el("span", {});

    function tell() {
        const seconds = Math.max(0, (Date.now() - Date.parse(said.written)) / 1000);
        const text = said.problem || (said.running || said.behind ? "Live" : "Not running: these are the last data");
        if (state.textContent !== text)
            state.textContent = text;
        mark.className = said.problem ? "wrong" : said.running ? "running" : "";
        age.textContent = ` ${fa.count(said.settled)} of ${fa.count(said.total)} measurements settled; `
            + `data of ${fa.duration(Math.round(seconds))} ago${said.notice ? `; ${said.notice}` : ""}`;
    }

    async function ask() {
        const answer = await fetch("version", { cache: "no-store", headers: tag ? { "If-None-Match": tag } : {} });
        if (answer.status === 304)
            return;
        if (!answer.ok)
            throw new Error(answer.status);
        said = await answer.json();
        tag = answer.headers.get("ETag");
    }

    async function load() {
        const page = new DOMParser().parseFromString(await (await fetch("./", { cache: "no-store" })).text(),
            "text/html");
        if (held || !page.getElementById("data"))
            return;
        fa.renew(page);
        shown = page.getElementById("live").dataset.version;
    }

    async function turn() {
        try {
            await ask();
            if (said.version !== shown && !held)
                await load();
            failures = 0;
            tell();
        } catch {
            failures++;
        }
        if (failures >= FAILURES_MAX) {
            state.textContent = "fa-coord serve has ended, or does not answer: this is what it showed";
            mark.className = "wrong";
        } else if (!said || failures || said.running || said.behind || said.problem
            || said.version !== shown) {
            setTimeout(turn, EVERY_MS);
        }
    }

    /* Nothing is replaced under a hand that drags. */
    window.addEventListener("pointerdown", () => { held = true; }, true);
    for (const name of ["pointerup", "pointercancel", "blur"])
        window.addEventListener(name, () => { held = false; }, true);
    mark.replaceChildren(state, age);
    document.querySelector("header").append(mark);
    turn();
};

/* Show the data of a newer page.  What the reader has chosen stays: the rule,
 * the configuration, controls, brushes, sorting, what is open, the place, and
 * where the keyboard is. */
fa.renew = function (page) {
    const { state } = fa, key = state.picked < 0 ? "" : fa.data.key(state.picked);
    const before = fa.sections.map(section => fa.kept(section));
    const open = document.querySelector("#report details").open, at = fa.place();
    const main = document.querySelector("main");

    fa.data = fa.read(page);
    state.picked = key ? fa.find(key) : -1;
    const nodes = fa.build(document.adoptNode(page.getElementById("report")));
    main.replaceChildren(...nodes);
    nodes.at(-1).querySelector("details").open = open;
    document.querySelector(".bar-top nav").replaceChildren(...fa.links(nodes));
    document.querySelector("header .summary").replaceWith(fa.summary());
    document.getElementById("answer").textContent = page.getElementById("answer").textContent;
    if (fa.choose(state.rule))
        fa.set_rule("");
    for (const kept of before)
        fa.restore(kept);
    fa.observe();
    at();
};

fa.reached = node => [...node.querySelectorAll("a, button, select, input, summary, [tabindex]")];

fa.kept = section => ({
    id: section.id, seen: section.seen, height: section.host.offsetHeight, own: section.keep?.(),
    open: section.alternative?.open,
    controls: [...section.node.querySelectorAll(".controls select")].map(select => select.value),
});

fa.restore = function (kept) {
    const section = fa.sections.find(s => s.id === kept.id);
    if (!section)
        return;
    section.host.style.minHeight = `${kept.height}px`;
    if (kept.own)
        section.restore(kept.own);
    section.node.querySelectorAll(".controls select").forEach((select, n) => {
        const value = kept.controls[n];
        if (value !== undefined && select.value !== value && [...select.options].some(o => o.value === value)) {
            select.value = value;
            select.dispatchEvent(new Event("change"));
        }
    });
    if (section.alternative)
        section.alternative.open = kept.open;
    section.seen = kept.seen;
    if (kept.seen)
        fa.draw(section);
};

/* Where the window and the keyboard are; call what it returns to go back. */
fa.place = function () {
    const top = node => node.getBoundingClientRect().top;
    const seen = [...document.querySelectorAll("main > section")].find(
        node => node.getBoundingClientRect().bottom > 0 && scrollY > 0);
    const offset = seen ? top(seen) : 0;
    const active = document.activeElement, inside = active?.closest("main > section");
    const nth = inside ? fa.reached(inside).indexOf(active) : -1;
    return () => {
        const node = seen && document.getElementById(seen.id);
        if (node)
            window.scrollBy({ top: top(node) - offset, behavior: "instant" });
        if (nth >= 0)
            fa.reached(document.getElementById(inside.id) ?? document.body)[nth]?.focus({ preventScroll: true });
    };
};

if (document.getElementById("live") && location.protocol !== "file:")
    fa.live(document.getElementById("live"));
else
    document.getElementById("live")?.remove();
