"use strict";
/* What the reader has chosen: a rule, and one configuration.  Sections hear of
 * a change, and draw again once they are seen. */
fa.state = { rule: "", chosen: null, picked: -1 };

fa.all = n => Uint32Array.from({ length: n }, (_, i) => i);

/* Keep the configurations for which a rule is true; "" keeps all.  Returns ""
 * or what is wrong with the rule, which then changes nothing. */
fa.choose = function (text) {
    const { data, state } = fa;
    if (text.trim()) {
        try {
            const rule = fa.rule(text, fa.names(data));
            state.chosen = fa.all(data.n).filter(i => fa.values.truth(rule(i)));
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
    for (const section of fa.sections) {
        section.stale = true;
        if (section.seen)
            fa.draw(section);
    }
    fa.counted?.();
};

/* Those of the chosen configurations that are ranked: the fastest first. */
fa.ranked = () => fa.state.chosen.subarray(0, d3.bisectLeft(
    fa.state.chosen, fa.data.ranked));

fa.pick = function (i) {
    fa.state.picked = i;
    history.replaceState(null, "", i < 0 ? location.pathname + location.search : `#${fa.data.key(i)}`);
    fa.picked?.();
};

fa.find = function (key) {
    const { data } = fa;
    for (let i = 0; key.length >= 6 && i < data.n; i++)
        if (data.key(i).startsWith(key) || key.startsWith(data.key(i)))
            return i;
    return -1;
};

/* ---- configurations as text */

fa.shown = t => t.words.length > 1;

fa.describe = (i, tunables = fa.data.tunables) =>
    tunables.map(t => `${t.name}=${t.words[t.at[i]]}`).join(" ");

fa.json = i => JSON.stringify(Object.fromEntries(fa.data.tunables.map(t => [t.name,
    t.kind === "bool" ? t.values[t.at[i]] === 1 : t.values[t.at[i]]])));
