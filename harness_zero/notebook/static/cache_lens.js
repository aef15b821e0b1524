// The cache lens: each request of a run under the one before it, without a kernel. The payload is
// made in lens_payload.py. Whatever a request holds enters the page as text, never as markup.
// @ts-check

/**
 * @typedef {{name: string, does: string, cure: string, declared: boolean, marked: boolean,
 *   tokens: number[][], rounds: number[][], splices: Record<string, number[]>,
 *   parts: Record<string, number[]>, beside: Record<string, string>, waits: Record<string, number>}} Course
 * @typedef {{model: string, notes: string[], tiers: number[][], labels: string[], sizes: number[],
 *   lines: string[], sound: number, rounds: number[][], courses: Course[], words: string[]}} Payload
 */

const SHOWN = 60; // lines of a request in the page at most
const LONG = 220; // characters of a line before it is folded
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const SVG = "http:" + "//www.w3.org/2000/svg"; // a name, and no address

/** An element with attributes, listeners (on...) and children; strings become text. */
function make(tag, given = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** A part of a drawing. */
function draw(tag, given = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(given)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** Characters that would move the cursor or turn the line around, spelled out. */
function visible(/** @type {string} */ text) {
  return text.replace(CONTROL, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const count = (n) => n.toLocaleString("en-US");
const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
const money = (usd) => `$${usd.toFixed(4)}`;
const sum = (numbers) => numbers.reduce((all, n) => all + n, 0);

/** One list made into the next: where, how many go, and what comes; a run is its first and a negative count. */
function spliced(/** @type {number[]} */ rows, /** @type {number[]} */ [at, gone, ...numbers]) {
  /** @type {number[]} */ const come = [];
  for (const n of numbers) {
    if (n >= 0) come.push(n);
    else for (let more = 1, first = come[come.length - 1]; more < -n; more++) come.push(first + more);
  }
  return [...rows.slice(0, at), ...come, ...rows.slice(at + gone)];
}

/** The lines of any request; the way there is remembered, so that a step forward is one splice. */
function reader(/** @type {number[][]} */ rounds) {
  let at = -1, rows = /** @type {number[]} */ ([]);
  return (wanted) => {
    if (wanted < at) (at = -1), (rows = []);
    while (at < wanted) rows = spliced(rows, rounds[++at]);
    return rows;
  };
}

/** What every line of a request is called, as the API counts: from 0. */
function namesOf(rows, labels) {
  const names = [];
  let section = "", message = -1, place = 0;
  for (const row of rows) {
    const label = labels[row];
    if (names.length === 0 || (section !== "messages" && ["system", "messages"].includes(label))) {
      (section = label), (place = 0);
      names.push("");
    } else if (section === "tools") names.push(`tool ${place++} (${label})`);
    else if (section === "system") names.push(`system, block ${place++} (${label})`);
    else if (label === "role") names.push(`message ${++message} (its role)`), (place = 0);
    else names.push(`message ${message}, block ${place++} (${label})`);
  }
  return names;
}

/** How many lines two requests have in common from the beginning on. */
function alike(one, other) {
  let n = 0;
  while (n < one.length && n < other.length && one[n] === other[n]) n++;
  return n;
}

/** What stands around a byte of a line: before it, the character, after it. */
function aroundByte(line, byte, width = 28) {
  const bytes = new TextEncoder().encode(line), text = (from, to) => new TextDecoder().decode(bytes.slice(from, to));
  const before = text(0, byte).replace(/\ufffd+$/, ""), rest = [...line.slice(before.length)];
  const left = before.length > width ? `…${before.slice(-width)}` : before;
  const right = rest.slice(1).join("");
  return [left, rest[0] ?? "", right.length > width ? `${right.slice(0, width)}…` : right];
}

/** The prices of a prompt of so many tokens: fresh, 5 minutes, 1 hour, read; USD a million. */
const pricesFor = (/** @type {number[][]} */ tiers, total) => tiers.reduce((found, tier) => (total > tier[0] ? tier : found)).slice(1);

function render({ model, el }) {
  /** @type {Payload} */ const payload = model.get("payload");
  const { courses, labels, sizes, lines, tiers, sound } = payload;
  const base = reader(payload.rounds);
  const own = courses.map((course) => (course.rounds.length ? reader(course.rounds) : null));
  let at = -1, chosen = -1, rounds = payload.rounds.length; // of the run that is chosen

  const rowsAt = (n, round) => {
    if (own[n]) return own[n](round);
    const splice = courses[n].splices[round], rows = base(round);
    return splice ? spliced(rows, splice) : rows;
  };
  /** What a request costs, and the tokens at full price that this would buy. */
  const costOf = (/** @type {number[]} */ [read, five, hour, fresh]) => {
    if (!tiers.length) return { usd: NaN, worth: NaN };
    const [full, five_, hour_, read_] = pricesFor(tiers, read + five + hour + fresh);
    const paid = fresh * full + five * five_ + hour * hour_ + read * read_;
    return { usd: paid / 1e6, worth: paid / full };
  };
  const costs = courses.map((course) => course.tokens.map(costOf));
  const cost = (n, last) => sum(costs[n].slice(0, last).map(({ usd }) => usd));

  // the controls
  const button = (glyph, name, key, action) =>
    make("button", { type: "button", class: "hz-lens-button", title: `${name} (${key})`, onclick: action },
      make("span", { "aria-hidden": "true" }, glyph), make("span", { class: "hz-lens-unseen" }, name));
  const back = [button("|‹", "First round", "Home", () => go(0)), button("‹", "Round back", "←", () => go(at - 1))];
  const forth = [button("›", "Round forward", "→", () => go(at + 1)), button("›|", "Last round", "End", () => go(rounds - 1))];
  const slider = make("input", { type: "range", min: "1", max: String(rounds), value: "1", "aria-label": "Round", oninput: () => go(Number(slider.value) - 1) });
  const place = make("span", { class: "hz-lens-place", "aria-hidden": "true" });
  const told = make("p", { class: "hz-lens-told", role: "status", "aria-live": "polite" });

  // the two requests, as bars and as lines
  const bars = make("div", { class: "hz-lens-bars", role: "img" });
  const list = make("ol", { class: "hz-lens-lines", "aria-label": "The request, line by line, under the one before", tabindex: "0" });
  const fact = (name) => {
    const value = make("span", { class: "hz-lens-value" });
    return { row: make("div", { class: "hz-lens-fact" }, make("span", { class: "hz-lens-name" }, name), value), value };
  };
  const names = ["sent", "shared", "tokens", "read", "written", "not cached", "this round", "so far", "if uncached"];
  const facts = Object.fromEntries(names.map((name) => [name, fact(name)]));
  for (const [name, kind] of [["read", "read"], ["written", "written"], ["not cached", "fresh"]]) {
    facts[name].row.prepend(make("span", { class: `hz-lens-swatch hz-lens-${kind}`, "aria-hidden": "true" }));
  }
  const kindOf = make("p", { class: "hz-lens-note" });
  const side = make("div", { class: "hz-lens-side", role: "group", "aria-label": "This round" }, ...names.map((name) => facts[name].row), kindOf);

  // the switches
  const group = `hz-lens-${Math.random().toString(36).slice(2)}`;
  const radios = courses.map((course, n) => make("input", { type: "radio", name: group, id: `${group}-${n}`, onchange: () => choose(n) }));
  const table = make("table", { class: "hz-lens-courses" },
    make("thead", {}, make("tr", {}, ...["sent", "tokens", "read", "cost", "against", "lost in"].map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, ...courses.map((course, n) => {
      const read = sum(course.tokens.map(([r]) => r)), all = sum(course.tokens.map(sum)), lost = lostIn(course);
      const label = make("label", { for: `${group}-${n}` }, radios[n], ` ${course.name}`);
      const cells = [count(all), count(read), tiers.length ? money(cost(n)) : "not known",
        n < sound || !tiers.length ? "" : n === sound ? "1×" : `${(cost(n) / cost(sound, course.tokens.length)).toFixed(2)}×`,
        lost.length > 1 ? `${plural(lost.length, "round")}, first in ${lost[0] + 1}` : lost.length ? `round ${lost[0] + 1}` : course.marked ? "none" : "not cached"];
      return make("tr", { onclick: () => choose(n) }, make("th", { scope: "row" }, label), ...cells.map((cell) => make("td", {}, cell)));
    })));
  const does = make("p", { class: "hz-lens-does" });
  const switches = make("fieldset", { class: "hz-lens-switches" }, make("legend", {}, "The same run, sent otherwise"), table, does);
  const charts = make("div", { class: "hz-lens-charts" });

  const keys = [["← →", "round"], ["Home End", "ends"], ["↑ ↓", "the run sent otherwise"]];
  const root = make("div", { class: "hz-lens", role: "group", "aria-label": "Cache lens", onkeydown: (event) => pressed(event) },
    make("p", { class: "hz-lens-note" }, visible(`${plural(rounds, "request")} to ${payload.model}. Bytes are exact, of the canonical rendering.`)),
    ...payload.notes.map((note) => make("p", { class: "hz-lens-note" }, visible(note))),
    make("div", { class: "hz-lens-controls" }, ...back, slider, ...forth, place), told,
    make("div", { class: "hz-lens-body" }, make("div", { class: "hz-lens-main" }, bars, list), side),
    switches, charts,
    make("p", { class: "hz-lens-keys" }, ...keys.map(([key, what]) => make("span", {}, make("kbd", {}, key), ` ${what}`))));
  el.append(root);

  /** The rounds that read less than the one before had read and written. */
  function lostIn(course) {
    if (!course.marked) return [];
    return course.tokens.flatMap(([read], n) => {
      const before = course.tokens[n - 1];
      return before && read < before[0] + before[1] + before[2] ? [n] : [];
    });
  }

  /** What is to be said of a round. */
  function sentenceOf(course, round, bytes, same, size) {
    const found = course.parts[round], gone = course.waits[round], number = round + 1;
    const unmarked = course.marked ? "" : " Nothing is marked, so nothing is cached.";
    if (!round) return `Round 1 stands alone.${course.marked ? " What it writes, the next one can read." : unmarked}`;
    if (found) return `Round ${number} parts from round ${round} at byte ${count(found[0])} of ${visible(payload.words[found[1]])}. What follows is sent as if it were new.${unmarked}`;
    const on = `Round ${number} goes on where round ${round} ended: ${count(same)} bytes are shared, ${count(size - same)} are new.`;
    if (course.beside[round]) return `${on} But ${course.beside[round]} is another one now, and with it the messages are not found.${unmarked}`;
    if (!lostIn(course).includes(round)) return on + unmarked;
    if (gone) return `${on} But ${count(gone)} seconds have passed, and what was written is gone.`;
    return `${on} And yet what was written is not found: it lies more than 20 positions back, or was never marked.`;
  }

  /** Show the round and the course that are chosen. */
  function show() {
    const course = courses[chosen], now = rowsAt(chosen, at), before = at ? rowsAt(chosen, at - 1) : [];
    const same = alike(before, now), found = course.parts[at];
    const bytes = (rows) => sum(rows.map((row) => sizes[row]));
    const size = bytes(now), kept = bytes(now.slice(0, same)) + (found ? found[0] : 0);
    const [read, five, hour, fresh] = course.tokens[at], all = read + five + hour + fresh;
    place.textContent = `round ${count(at + 1)} of ${count(rounds)}`;
    slider.value = String(at + 1);
    slider.setAttribute("aria-valuetext", `round ${at + 1} of ${rounds}`);
    for (const each of back) each.setAttribute("aria-disabled", String(at === 0));
    for (const each of forth) each.setAttribute("aria-disabled", String(at === rounds - 1));
    told.textContent = sentenceOf(course, at, bytes, kept, size);

    const about = course.declared ? "" : "about ", spent = costs[chosen].slice(0, at + 1);
    const set = (name, words) => (facts[name].value.textContent = words);
    set("sent", `${count(size)} bytes`), set("shared", `${count(kept)} bytes`), set("tokens", `${about}${count(all)}`);
    set("read", count(read)), set("written", count(five + hour) + (hour ? ` (${count(hour)} for 1 h)` : "")), set("not cached", count(fresh));
    set("this round", tiers.length ? money(costs[chosen][at].usd) : "price not known");
    set("so far", tiers.length ? money(sum(spent.map(({ usd }) => usd))) : "price not known");
    const whole = course.tokens.slice(0, at + 1).map((t) => (sum(t) * (tiers.length ? pricesFor(tiers, sum(t))[0] : NaN)) / 1e6);
    set("if uncached", tiers.length ? `${money(sum(whole))} so far` : "price not known");
    kindOf.textContent = course.declared ? "Tokens as the API declared them; costs are those of the input." : "Tokens are estimates, and so are costs; costs are those of the input.";
    drawBars(bytes(before), size, kept, !!found, [read, five + hour, fresh], all);
    fillList(now, before, same, found);
    drawCharts(course);
  }

  /** The two requests as bars: what they share, and what was read, written and not cached. */
  function drawBars(was, size, kept, parted, /** @type {number[]} */ [read, written, fresh], all) {
    const most = Math.max(was, size, 1), percent = (n) => `${(100 * n) / most}%`;
    const part = (kind, width) => {
      const each = make("span", { class: `hz-lens-part hz-lens-${kind}` });
      each.style.width = percent(width);
      return each;
    };
    const bar = (name, ...parts) => make("div", { class: "hz-lens-row" }, make("span", { class: "hz-lens-name" }, name), make("span", { class: "hz-lens-bar" }, ...parts.filter(({ style }) => style.width !== "0%")));
    const share = (n) => (all ? (n / all) * size : 0);
    const says = `byte ${count(kept)}, ${parted ? "the first that differs" : "where the new begins"}`, right = kept > most / 2;
    const caret = make("span", { class: `hz-lens-caret${right ? " hz-lens-right" : ""}` }, !at ? "" : right ? `${says} ▲` : `▲ ${says}`);
    caret.style.left = percent(kept);
    bars.replaceChildren(
      ...(at ? [bar(`round ${at}`, part("shared", kept), part("rest", was - kept))] : []),
      bar(`round ${at + 1}`, part("read", share(read)), part("written", share(written)), part("fresh", share(fresh))),
      make("div", { class: "hz-lens-row" }, make("span", { class: "hz-lens-name" }), make("span", { class: "hz-lens-under" }, caret)));
    bars.setAttribute("aria-label", `Round ${at + 1}: ${count(size)} bytes, the first ${count(kept)} shared with the round before; tokens read ${count(read)}, written ${count(written)}, not cached ${count(fresh)}.`);
  }

  /** The lines of a request: those that are shared folded, the one that differs marked, those after it. */
  function fillList(now, before, same, found) {
    const called = namesOf(now, labels), old = new Set(before.slice(same));
    const told = (n) => called[n] && !called[n].endsWith("(its role)");
    const items = [];
    const shared = now.slice(0, same).filter((_, n) => told(n)).length;
    if (shared) items.push(sharedItem(now, called, same, shared));
    if (found) items.push(differingItem(now, before, called, same, found));
    const rest = now.map((row, n) => [row, n]).slice(found && same < now.length && called[same] ? same + 1 : same).filter(([, n]) => told(n));
    for (const [row, n] of rest.slice(0, SHOWN)) items.push(lineItem(row, called[n], old.has(row) ? "again" : "new"));
    if (rest.length > SHOWN) items.push(make("li", { class: "hz-lens-more" }, `… ${plural(rest.length - SHOWN, "more line")}`));
    list.replaceChildren(...items);
  }

  /** One line: its name, how many bytes it has, what it is here, what it says. */
  function lineItem(row, name, state) {
    const text = visible(lines[row]), long = text.length > LONG;
    const body = make("span", { class: "hz-lens-text", dir: "auto" }, long ? `${text.slice(0, LONG)}…` : text);
    const head = [make("b", {}, visible(name)), ` ${count(sizes[row])} bytes `, make("span", { class: "hz-lens-state" }, state)];
    if (!long) return make("li", { "data-state": state }, make("span", { class: "hz-lens-head" }, ...head), body);
    const more = make("button", { type: "button", class: "hz-lens-fold", "aria-expanded": "false", onclick: () => {
      const open = more.getAttribute("aria-expanded") === "true";
      more.setAttribute("aria-expanded", String(!open));
      body.textContent = open ? `${text.slice(0, LONG)}…` : text;
    } }, ...head);
    return make("li", { "data-state": state }, more, body);
  }

  /** The lines that are shared, in one line until they are asked for. */
  function sharedItem(now, called, same, shown) {
    const bytes = sum(now.slice(0, same).map((row) => sizes[row]));
    const inside = make("ol", { class: "hz-lens-lines", hidden: "" });
    const more = make("button", { type: "button", class: "hz-lens-fold", "aria-expanded": "false", onclick: () => {
      const open = more.getAttribute("aria-expanded") === "true";
      more.setAttribute("aria-expanded", String(!open));
      inside.hidden = open;
      if (open || inside.childElementCount) return;
      const rows = now.slice(0, same).map((row, n) => [row, called[n]]).filter(([, name]) => name && !name.endsWith("(its role)"));
      inside.append(...rows.slice(-SHOWN).map(([row, name]) => lineItem(row, name, "same")));
      if (rows.length > SHOWN) inside.prepend(make("li", { class: "hz-lens-more" }, `… ${plural(rows.length - SHOWN, "earlier line")}`));
    } }, make("b", {}, `${plural(shown, "block")} the same`), ` ${count(bytes)} bytes`);
    return make("li", { "data-state": "same" }, more, inside);
  }

  /** The first line that differs: how it was, how it is, and the byte. */
  function differingItem(now, before, called, same, /** @type {number[]} */ found) {
    const [byte, name, was, is] = found;
    const piece = (rows, cut) => {
      if (cut !== undefined) return [visible(payload.words[cut])];
      const [left, here, right] = aroundByte(same < rows.length ? lines[rows[same]] : "", byte);
      return [visible(left), make("mark", {}, visible(here) || "⟨end⟩"), visible(right)];
    };
    const row = (word, ...parts) => make("span", { class: "hz-lens-piece" }, make("span", { class: "hz-lens-word" }, word), make("span", { class: "hz-lens-text" }, ...parts));
    const none = ["nothing"];
    return make("li", { "data-state": "differs" },
      make("span", { class: "hz-lens-head" }, make("b", {}, visible(payload.words[name])), ` differs at byte ${count(byte)}`),
      row("was", ...(same < before.length ? piece(before, was) : none)), row("is", ...(same < now.length ? piece(now, is) : none)));
  }

  /** The growth: tokens a round and their sum, as sent, and as paid in tokens at full price. */
  function drawCharts(course) {
    const sent = course.tokens.map(sum), paid = costs[chosen].map(({ worth }) => worth);
    charts.replaceChildren(chart("Tokens a round: sent, and paid as so many at full price", sent, paid), chart("The same of all rounds so far", sumUp(sent), sumUp(paid)));
  }

  const sumUp = (numbers) => { let all = 0; return numbers.map((n) => (all += n)); };

  /** Two lines: dashed as sent, solid as paid; and where we are. */
  function chart(title, sent, paid) {
    const known = tiers.length > 0, wide = 300, high = 120, left = 4, top = 22;
    const most = Math.max(...sent, ...(known ? paid : []), 1), last = Math.max(1, rounds - 1);
    const x = (n) => left + (wide * n) / last, y = (v) => top + high - (high * v) / most;
    const line = (values) => values.map((v, n) => `${x(n).toFixed(1)},${y(v).toFixed(1)}`).join(" ");
    const end = (values, words, dy) => draw("text", { x: left + wide + 6, y: y(values[rounds - 1]) + dy }, words);
    const close = known && Math.abs(y(sent[rounds - 1]) - y(paid[rounds - 1])) < 28;
    const higher = known && paid[rounds - 1] > sent[rounds - 1];
    const said = `${title}. In the last round ${count(sent[rounds - 1])} sent${known ? `, paid like ${count(Math.round(paid[rounds - 1]))} at full price` : ""}; here ${count(sent[at])}${known ? ` and ${count(Math.round(paid[at]))}` : ""}.`;
    const number = (v) => count(Math.round(v));
    return make("figure", {}, make("figcaption", {}, title), draw("svg", { viewBox: `0 0 ${wide + 120} ${high + 48}`, role: "img", "aria-label": said },
      draw("path", { class: "axis", d: `M${left} ${top} V${top + high} H${left + wide}` }),
      draw("path", { class: "here", d: `M${x(at)} ${top} V${top + high}` }),
      draw("polyline", { class: "sent", points: line(sent) }), ...(known ? [draw("polyline", { class: "paid", points: line(paid) })] : []),
      draw("circle", { class: "dot", cx: x(at), cy: y(sent[at]), r: 3 }),
      ...(known ? [draw("circle", { class: "dot", cx: x(at), cy: y(paid[at]), r: 3 })] : []),
      end(sent, `sent ${number(sent[rounds - 1])}`, close ? (higher ? 18 : -6) : 4),
      ...(known ? [end(paid, `paid ${number(paid[rounds - 1])}`, close ? (higher ? -6 : 18) : 4)] : []),
      draw("text", { x: left, y: top + high + 18 }, "round 1"), draw("text", { x: left + wide, y: top + high + 18, "text-anchor": "end" }, String(rounds))));
  }

  function go(/** @type {number} */ wanted) {
    const next = Math.max(0, Math.min(rounds - 1, wanted));
    if (next === at) return;
    at = next;
    model.set("at", at);
    show();
  }

  function choose(/** @type {number} */ wanted, focus = false) {
    const next = Math.max(0, Math.min(courses.length - 1, wanted));
    if (focus) radios[next].focus({ preventScroll: true });
    if (next === chosen) return;
    chosen = next;
    rounds = courses[chosen].tokens.length;
    at = Math.min(at, rounds - 1);
    slider.max = String(rounds);
    radios[next].checked = true;
    for (const [n, radio] of radios.entries()) radio.closest("tr")?.classList.toggle("hz-lens-chosen", n === chosen);
    const { does: what, cure } = courses[chosen];
    const idle = chosen > sound && !lostIn(courses[chosen]).length ? "In this run nothing is lost by it." : "";
    does.textContent = [what, idle, cure && `Instead: ${cure}`].filter(Boolean).join(" ");
    model.set("course", chosen);
    if (at >= 0) show();
  }

  function pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return; // Ctrl+S and the like stay the notebook's
    if (["Escape", "Tab"].includes(event.key) || (event.shiftKey && event.key === "Enter")) return;
    event.stopPropagation(); // else a letter on a focused button is a command to the notebook
    const inList = list.contains(event.target), inGroup = switches.contains(event.target);
    if (inList && /^(Arrow(Up|Down)|Page)/.test(event.key)) return; // scrolls it
    const actions = {
      ArrowRight: () => go(at + 1), ArrowLeft: () => go(at - 1), Home: () => go(0), End: () => go(rounds - 1),
      PageDown: () => go(at + 10), PageUp: () => go(at - 10),
      ArrowDown: () => choose(chosen + 1, inGroup), ArrowUp: () => choose(chosen - 1, inGroup),
    };
    if (!Object.hasOwn(actions, event.key) || event.shiftKey) return;
    event.preventDefault();
    actions[event.key]();
  }

  choose(model.get("course") ?? 0);
  go(model.get("at") ?? Math.min(1, rounds - 1));
}

export default { render };
