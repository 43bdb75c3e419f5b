"use strict";
/* What the reader has chosen: a rule, and one configuration.  Sections hear of
 * a change, and draw again once they are seen. */
fa.state = { rule: "", chosen: null, picked: -1, frame: 0 };

fa.all = function (n) {
    const all = new Uint32Array(n);
    for (let i = 0; i < n; i++)
        all[i] = i;
    return all;
};

/* Those for which a rule is true. */
fa.those = function (rule, n) {
    const found = new Uint32Array(n), { truth } = fa.values;
    let count = 0;
    for (let i = 0; i < n; i++)
        if (truth(rule(i)))
            found[count++] = i;
    return found.slice(0, count);
};

/* Keep the configurations for which a rule is true; "" keeps all.  Returns ""
 * or what is wrong with the rule, which then changes nothing. */
fa.choose = function (text) {
    const { data, state } = fa;
    if (text.trim()) {
        try {
            state.chosen = fa.those(fa.rule(text, fa.names(data)), data.n);
        } catch (error) {
            return error.message;
        }
    } else {
        state.chosen = fa.all(data.n);
    }
    state.rule = text.trim();
    fa.changed();
    return "";
};

fa.sections = [];

fa.changed = function () {
    for (const section of fa.sections)
        section.stale = true;
    fa.counted?.();
    fa.draw_seen();
};

/* One section a frame, the one in the middle of the window first, so that the
 * page answers between them. */
fa.draw_seen = function () {
    const off = section => {
        const box = section.node.getBoundingClientRect();
        return box.top > innerHeight / 2 ? box.top - innerHeight / 2 : Math.max(0, innerHeight / 2 - box.bottom);
    };
    cancelAnimationFrame(fa.state.frame);
    fa.state.frame = requestAnimationFrame(() => {
        const waiting = fa.sections.filter(s => s.seen && s.stale && s.host.clientWidth);
        if (!waiting.length)
            return;
        fa.draw(waiting.reduce((a, b) => off(b) < off(a) ? b : a));
        fa.draw_seen();
    });
};

/* Those of the chosen configurations that are ranked: the fastest first. */
fa.ranked = () => fa.state.chosen.subarray(0, d3.bisectLeft(
    fa.state.chosen, fa.data.ranked));

fa.pick = function (i) {
    fa.state.picked = i;
    history.replaceState(null, "", i < 0 ? location.pathname + location.search : `#${fa.data.key(i)}`);
    fa.picked?.();
};

/* The configuration whose key begins like this one, or -1. */
fa.find = function (key) {
    const { keys, digits } = fa.data.configs, wanted = key.slice(0, digits);
    for (let at = keys.indexOf(wanted); at >= 0; at = keys.indexOf(wanted, at + 1))
        if (at % digits === 0)
            return at / digits;
    return -1;
};

/* ---- configurations as text */

fa.shown = t => t.words.length > 1;

fa.describe = (i, tunables = fa.data.tunables) =>
    tunables.map(t => `${t.name}=${t.words[t.at[i]]}`).join(" ");

fa.json = i => JSON.stringify(Object.fromEntries(fa.data.tunables.map(t => [t.name,
    t.kind === "bool" ? t.values[t.at[i]] === 1 : t.values[t.at[i]]])));
