// The stepper: one run, forwards and backwards, without a kernel. The payload is made in payload.py,
// and what it holds of the code that played the run, in code.py.
// Whatever a run holds enters the page as text, never as markup.
// @ts-check

/**
 * @typedef {Record<string, any> & {type: string}} Block
 * @typedef {{role: string, add: number[], head?: true, opens?: true, empty?: true, says?: string[],
 *   stop?: string, tokens?: number, usd?: number, asides?: number, prefix?: number[]}} Step
 * @typedef {{blocks: Block[], cut: number[], steps: Step[], limits: Record<string, number>,
 *   tells: {replies: boolean, policy: boolean},
 *   end: {label: string | null, why: string, fault: string, array: string, open?: true}, code?: Code}} Payload
 * @typedef {{block: Block, id: number, step: number, role: string, number: string,
 *   first: boolean, pair: number | null}} Entry
 * @typedef {{end: number, before: number, step: number, said: number, line: number,
 *   others: Record<string, number>}} Place  how much of the array is there, and since when; the
 *   last step of the run by then; the reply that came here; the statement that ran
 *
 * @typedef {[number, number, number, string[], string[]]} Statement  its part, its first line and
 *   its last, the names that it reads and those that it writes
 * @typedef {{parts: {name: string, first: number, lines: (string | string[])[][], cut?: number}[],
 *   statements: Statement[], calls: string[], names: string[], texts: string[],
 *   steps: number[][], skipped: Record<string, number>, marks: any[][], notes: string[],
 *   opens?: number}} Code
 * @typedef {{call: number, statement: number, below: Frame | null}} Frame  who waits for whom
 * @typedef {{name: string, text: string, mark: string}} Value
 * @typedef {{kind: string, told: string, frame: Frame, values: Value[]}} Moment
 */

const SHOWN = 120; // blocks in the page at a time; earlier ones come when asked for
const OPENING = 160; // characters of a policy's words that stand beside the array
const NOTHING_YET = { round: 0, rounds: 0, turn: 0, tokens: 0, usd: 0, stop: "", says: undefined, prefix: undefined };
const FOLD = { lines: 4, characters: 400 };
const GLYPHS = {
  system: "§", tool: "⌗", user: "›", assistant: "‹", tool_use: "→", tool_result: "←",
  error: "✕", image: "▧",
};
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

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

/** Change a text only if it differs, so that a step touches what it has to and no more. */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Characters that would move the cursor or turn the line around, spelled out. */
function visible(/** @type {string} */ text) {
  const escape = (c) => {
    const code = c.charCodeAt(0);
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
  };
  return text.replace(/\r\n/g, "\n").replace(CONTROL, escape);
}

const isCall = (block) => block.type.endsWith("tool_use") && block.id !== undefined;
const isResult = (block) => block.tool_use_id !== undefined;
const count = (n) => n.toLocaleString("en-US");
const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
const money = (usd) => `$${usd.toFixed(Math.round(usd * 100) / 100 === usd ? 2 : 4)}`;

/** What kind a block is to a reader: text belongs to whoever said it, a failed result is an error. */
function kindOf(block, role) {
  if (block.type === "text") return role;
  return block.type === "tool_result" && block.is_error ? "error" : block.type;
}

/** The first line of what a policy says; the array has all of it. */
function opening(/** @type {string} */ words) {
  const all = words.trim(), first = [...all.split("\n")[0]].slice(0, OPENING).join("");
  return first === all ? all : `${first} …`;
}

/** What a block says, in words. */
function wordsOf(/** @type {any} */ block) {
  if (typeof block === "string") return block;
  if (typeof block?.type !== "string") return JSON.stringify(block);
  if (block.type === "text" && typeof block.text === "string") return block.text;
  if (block.type === "tool_use") return callOf(block);
  if (block.type === "tool_result") return [block.content ?? ""].flat().map(wordsOf).join("\n");
  if (block.type === "tool") return `${block.name}\n${block.description ?? ""}`.trim();
  if (block.type === "image") {
    const source = block.source ?? {};
    return `a picture (${source.media_type ?? source.type ?? "of no type"}) ${source.data ?? source.url ?? ""}`;
  }
  const { type, ...rest } = block;
  return JSON.stringify(rest, null, 1);
}

/** A call as one would write it; a long one with an argument a line. */
function callOf(block) {
  const input = block.input ?? {};
  if (typeof input !== "object" || Array.isArray(input)) return `${block.name}(${JSON.stringify(input)})`;
  const short = Object.entries(input).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const line = `${block.name}(${short.join(", ")})`;
  if (line.length <= 88) return line;
  const long = Object.entries(input).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return text.includes("\n") ? `${name} =\n${text.replace(/^/gm, "    ")}` : `${name} = ${text}`;
  });
  return `${block.name}\n${long.join("\n").replace(/^/gm, "  ")}`;
}

/** The beginning of a long text, and what is left out, in words; nothing if the text is short. */
function folded(text) {
  const lines = text.split("\n");
  if (lines.length <= FOLD.lines + 1 && text.length <= FOLD.characters * 1.5) return null;
  const shown = lines.slice(0, FOLD.lines).join("\n").slice(0, FOLD.characters);
  const more = lines.length - FOLD.lines;
  const left = more > 0 ? plural(more, "more line") : `${count(text.length - shown.length)} more characters`;
  return { shown, left };
}

/** The array as entries, each with the block that it answers or that answers it. */
function entriesOf(/** @type {Payload} */ { blocks, steps }) {
  /** @type {Entry[]} */ const entries = [];
  const open = new Map();
  let number = 0;
  steps.forEach((step, at) => {
    const message = step.head || step.role === "lost" ? "" : String(number++);
    step.add.forEach((id, place) => {
      const block = blocks[id], here = entries.length;
      const asked = isResult(block) ? open.get(block.tool_use_id) : undefined;
      entries.push({ block, id, step: at, role: step.role, number: message, first: !place, pair: asked ?? null });
      if (asked !== undefined) (entries[asked].pair = here), open.delete(block.tool_use_id);
      if (isCall(block)) open.set(block.id, here);
    });
  });
  return entries;
}

/** What had been spent by each step. */
function totalsOf(/** @type {Payload} */ { steps }) {
  let rounds = 0, turn = 0, tokens = 0, usd = 0, stop = "", end = 0;
  /** @type {number[] | undefined} */ let prefix; // of the request that was sent last
  return steps.map((step) => {
    if (step.opens) (rounds = 0), (turn += 1), (stop = "");
    if (step.role === "assistant" || step.role === "lost") (rounds += 1), (stop = step.stop ?? ""), (prefix = step.prefix);
    tokens += step.tokens ?? 0;
    usd += step.usd ?? 0;
    end += step.add.length;
    const round = rounds; // an aside is a round as well, of another model
    rounds += step.asides ?? 0;
    return { round, rounds, turn, tokens, usd, stop, end, prefix };
  });
}

/** What happens at a step, as a sentence. */
function sentenceOf(/** @type {Payload} */ payload, at, rounds) {
  const step = payload.steps[at], blocks = step.add.map((id) => payload.blocks[id]);
  const calls = blocks.filter(isCall), results = blocks.filter(isResult);
  if (step.head) return step.role === "tools" ? `The request offers ${plural(blocks.length, "tool")}.` : "The system prompt.";
  if (step.role === "lost") {
    return `Round ${rounds}. ${step.empty ? "The model says nothing, so nothing enters the array." : "The model's reply is not in the array."}`;
  }
  if (step.role === "assistant") {
    if (!calls.length) return `Round ${rounds}. The model answers and asks for nothing.`;
    const names = calls.map((call) => call.name ?? "a tool");
    return `Round ${rounds}. The model asks for ${names.length > 3 ? plural(names.length, "tool call") : listed(names)}.`;
  }
  if (results.length) {
    const errors = results.filter((block) => block.is_error).length;
    const came = `${plural(results.length, "result")} ${results.length === 1 ? "comes" : "come"} back`;
    if (!errors) return `${came}.`;
    return results.length === 1 ? "1 result comes back, an error." : `${came}, ${plural(errors, "error")} among them.`;
  }
  const before = payload.steps[at - 1]?.says ?? [];
  if (blocks.length && blocks.every((block) => before.includes(block.text))) return "The policy's words enter the array.";
  return step.role === "user" ? "The user speaks." : `A message with the role ${step.role}.`;
}

/** All that one can step to: messages, or the statements by which they came about. */
function placesOf(/** @type {Payload} */ payload, totals) {
  const { steps, code } = payload;
  const places = code ? placesInCode(steps, code, totals) : [];
  const { end: shown = 0, step: reached = -1 } = places.at(-1) ?? {};
  steps.forEach((_, step) => {
    const { end } = totals[step], before = places.at(-1)?.end ?? 0;
    if (step > reached || end > shown) places.push({ end, before, step, said: -1, line: -1, others: {} });
  });
  return places;
}

const listed = (names) => names.join(", ").replace(/, ([^,]*)$/, " and $1");

/** How the run ended, as a sentence; nothing if nobody tells. */
function endingOf(end) {
  if (end.fault) return "The run ended in an error.";
  return end.label === null ? "" : `The run ends: ${end.label}.`;
}

// The code: each place is a statement that ran, with what it left.

const KINDS = ["call", "resume", "line", "calls", "return", "yield", "raise"];
const RESULTS = { return: "returns", yield: "yields", raise: "raises" };

/** How far the array went with each statement, and which reply was the last by then. */
function placesInCode(/** @type {Step[]} */ steps, /** @type {Code} */ code, totals) {
  const spoken = steps.flatMap((step, at) => (step.stop === undefined ? [] : [at]));
  let end = 0, replies = 0, whole = -1, next = 0, mark = 0;
  /** @type {Record<string, number>} */ let others = {};
  /** @type {Place[]} */ const places = [];
  if (code.marks[0]?.[0] === -1) end = code.marks[mark++][1]; // there before the code ran
  code.steps.forEach((_, line) => {
    const before = end, heard = replies;
    if (code.marks[mark]?.[0] === line) [, end, replies, others = {}] = code.marks[mark++];
    for (; next < steps.length && totals[next].end <= end; next++) if (steps[next].add.length) whole = next;
    const last = spoken[replies - 1] ?? -1;
    places.push({ end, before, step: Math.max(whole, last), said: replies > heard ? last : -1, line, others });
  });
  return places;
}

/** What was known at each statement: who waited for whom, and what names stood for. */
function momentsOf(/** @type {Code} */ code) {
  const known = code.calls.map(() => new Map());
  /** @type {Frame | null} */ let top = null;
  return code.steps.map(([call, statement, number, result, ...pairs]) => {
    const kind = KINDS[number], told = code.texts[result] ?? "", marks = new Map();
    for (let n = 0; n < pairs.length; n += 2) {
      const name = code.names[pairs[n]], text = code.texts[pairs[n + 1]];
      marks.set(name, known[call].has(name) ? "changed" : "new");
      if (text === undefined) known[call].delete(name);
      else known[call].set(name, text);
    }
    const frame = { call, statement, below: belowOf(top, call) };
    top = kind === "return" || kind === "yield" ? frame.below : frame;
    return { kind, told, frame, values: valuesOf(code.statements[statement], known[call], marks) };
  });
}

/** The call that waits for this one: all that began later is over. */
function belowOf(/** @type {Frame | null} */ top, call) {
  for (let frame = top; frame; frame = frame.below) if (frame.call === call) return frame.below;
  return top;
}

/** The values that matter at a statement: of names in it, and of those that changed. */
function valuesOf(/** @type {Statement} */ [, , , reads, writes], known, marks) {
  const names = new Set([...writes, ...reads, ...marks.keys()].filter((name) => known.has(name)));
  return [...names].map((name) => ({ name, text: known.get(name), mark: marks.get(name) ?? "" }));
}

const nameOf = (/** @type {Code} */ code, call) => (code.calls[call] ?? "a function").replace("<lambda>", "a lambda");

/** What a statement does, as a sentence. */
function sentenceOfLine(/** @type {Code} */ code, /** @type {Moment} */ moment, line) {
  const name = nameOf(code, moment.frame.call);
  const where = `Line ${code.statements[moment.frame.statement][1]} of ${name}`;
  const sentences = {
    call: () => `${name} is called.`, resume: () => `${name} goes on.`, line: () => `${where}.`,
    calls: () => `${where} calls ${nameOf(code, code.steps[line + 1]?.[0])}.`,
    return: () => `${where}: ${name} returns.`, yield: () => `${where}: ${name} yields.`,
    raise: () => `${where} raises ${moment.told}.`,
  };
  const skipped = code.skipped[line] ? `${plural(code.skipped[line], "step")} before this one are not shown. ` : "";
  return skipped + sentences[moment.kind]();
}

/** The pane with the code: the source, a statement lit in it, and what its names stand for. */
function codePane(/** @type {Code} */ code) {
  const moments = momentsOf(code), /** @type {Map<string, any>} */ rows = new Map();
  let /** @type {any[]} */ marked = [];
  const source = make("div", { class: "hz-step-source", role: "group", "aria-label": "The code", tabindex: "0" },
    ...code.parts.map((part, at) => partOf(part, at, rows)));
  const values = make("div", { class: "hz-step-values", role: "group", "aria-label": "Values at this line", tabindex: "0" });
  const notes = code.notes.map((note) => make("p", { class: "hz-step-note" }, visible(note)));
  const root = make("div", { class: "hz-step-code" }, source, values, ...notes);

  /** Light a statement, or hold it as one that waits for what it called. */
  function light(/** @type {Frame} */ frame, sign, note) {
    const [part, first, last] = code.statements[frame.statement];
    for (let line = first; line <= last; line++) {
      const row = rows.get(`${part} ${line}`);
      if (!row || marked.includes(row)) continue;
      marked.push(row);
      row.item.classList.add(note ? "hz-step-waits" : "hz-step-lit");
      if (line > first) continue;
      write(row.sign, sign), write(row.note, note);
      if (!note) row.item.setAttribute("aria-current", "step");
    }
  }

  function clear() {
    for (const { item, sign, note } of marked) {
      item.classList.remove("hz-step-lit", "hz-step-waits");
      item.removeAttribute("aria-current");
      write(sign, ""), write(note, "");
    }
    marked = [];
  }

  function show(line) {
    clear();
    const moment = moments[line];
    values.replaceChildren(...(moment ? valueRows(moment) : [make("p", { class: "hz-step-name" }, "No line was followed here.")]));
    if (!moment) return;
    light(moment.frame, "▸", "");
    revealIn(source, marked.map(({ item }) => item));
    for (let frame = moment.frame.below; frame; frame = frame.below) light(frame, "⋮", "waits here");
  }

  return { root, source, show, sentence: (line) => sentenceOfLine(code, moments[line], line) };
}

/** A function of the source, a row a line. */
function partOf(/** @type {Code["parts"][0]} */ { name, first, lines, cut }, part, rows) {
  const items = lines.map((pieces, n) => {
    const sign = make("span", { class: "hz-step-sign", "aria-hidden": "true" });
    const note = make("span", { class: "hz-step-unseen" });
    const words = pieces.map((piece) => typeof piece === "string" ? visible(piece) : make("span", { class: `hz-step-${piece[0]}` }, visible(piece[1])));
    const item = make("div", { class: "hz-step-row" }, sign,
      make("span", { class: "hz-step-number" }, String(first + n)), make("code", {}, ...words), note);
    rows.set(`${part} ${first + n}`, { item, sign, note });
    return item;
  });
  if (cut) items.push(make("div", { class: "hz-step-name" }, `… ${plural(cut, "more line")}`));
  return make("div", { class: "hz-step-part", role: "group", "aria-label": visible(name) }, ...items);
}

/** The values that matter at a statement, a row each; first what it gives back or raises. */
function valueRows(/** @type {Moment} */ { kind, told, values }) {
  const row = (name, text, mark) => make("div", { class: `hz-step-fact${mark ? " hz-step-changed" : ""}` },
    make("code", { class: "hz-step-name" }, visible(name)), make("code", { class: "hz-step-value", dir: "auto" }, visible(text)),
    make("span", { class: "hz-step-mark" }, mark));
  const result = RESULTS[kind] ? [row(RESULTS[kind], told, kind === "raise" ? "error" : "result")] : [];
  return [...result, ...values.map(({ name, text, mark }) => row(name, text, mark))];
}

/** Scroll a pane, and nothing around it, until some of its items are in view. */
function revealIn(pane, /** @type {any[]} */ items) {
  if (!items.length) return;
  const top = items[0].offsetTop, last = items.at(-1), bottom = last.offsetTop + last.offsetHeight;
  if (bottom > pane.scrollTop + pane.clientHeight) pane.scrollTop = bottom - pane.clientHeight;
  if (top < pane.scrollTop) pane.scrollTop = top;
}

function render({ model, el }) {
  /** @type {Payload} */ const payload = model.get("payload");
  const { steps, limits, tells, end } = payload;
  const entries = entriesOf(payload), totals = totalsOf(payload), cut = new Set(payload.cut);
  const places = placesOf(payload, totals), lastPlace = places.length - 1;
  const pane = payload.code ? codePane(payload.code) : null;
  /** @type {Map<number, any>} */ const items = new Map(); // what is in the page, by place in the array
  let at = -1, from = 0, to = 0, reach = SHOWN, selected = -1, hovered = -1;

  // the controls
  const button = (glyph, name, key, action) =>
    make("button", { type: "button", class: "hz-step-button", title: `${name} (${key})`, onclick: action },
      make("span", { "aria-hidden": "true" }, glyph), make("span", { class: "hz-step-unseen" }, name));
  const back = [button("|‹", "First step", "Home", () => go(0)), button("‹", "Step back", "←", () => go(at - 1))];
  const forth = [button("›", "Step forward", "→", () => go(at + 1)), button("›|", "Last step", "End", () => go(lastPlace))];
  if (pane) back.splice(1, 0, button("«", "Previous message", "Page Up", () => go(news(-1))));
  if (pane) forth.splice(1, 0, button("»", "Next message", "Page Down", () => go(news(+1))));
  const slider = make("input", {
    type: "range", min: "1", max: String(Math.max(1, places.length)), value: "1",
    "aria-label": "Step", oninput: () => go(Number(slider.value) - 1),
  });
  const place = make("span", { class: "hz-step-place", "aria-hidden": "true" });
  const told = make("p", { class: "hz-step-told", role: "status", "aria-live": "polite" });

  // the array
  const earlier = make("button", { type: "button", class: "hz-step-earlier", onclick: () => showEarlier() });
  const earlierItem = make("li", { class: "hz-step-earlier-item" }, earlier);
  const list = make("ol", {
    class: "hz-step-array", "aria-label": "The array at this step",
    onclick: (event) => clicked(event), onpointerover: (event) => hover(placeOf(event.target)),
    onpointerleave: () => hover(-1),
  }, earlierItem);

  // what is known beside it
  const fact = (name) => {
    const value = make("span", { class: "hz-step-value" }), bar = make("span", { class: "hz-step-bar", "aria-hidden": "true", hidden: "" });
    const row = make("div", { class: "hz-step-fact" }, make("span", { class: "hz-step-name" }, name), value, bar);
    return { row, value, bar };
  };
  const facts = Object.fromEntries(["stop_reason", "policy", "rounds", "tokens", "spend", "time", "label", "array"].map((name) => [name, fact(name)]));
  const why = make("p", { class: "hz-step-why", dir: "auto" });
  const prefix = fact("prefix");
  prefix.row.classList.add("hz-step-prefix");
  const side = make("div", { class: "hz-step-side", role: "group", "aria-label": "The run at this step" },
    facts.stop_reason.row, facts.policy.row, prefix.row, facts.rounds.row, facts.tokens.row, facts.spend.row,
    facts.time.row, facts.label.row, why, facts.array.row);

  const keys = [["← →", pane ? "line" : "step"], ...(pane ? [["PgUp PgDn", "message"]] : []), ["Home End", "ends"], ["↑ ↓", "block"], ["Enter", "fold"], ["r", "raw JSON"]];
  const root = make("div", { class: pane ? "hz-step hz-step-with-code" : "hz-step", role: "group", "aria-label": "Stepper", onkeydown: (event) => pressed(event) },
    make("div", { class: "hz-step-top" }, make("div", { class: "hz-step-controls" }, ...back, slider, ...forth, place), told),
    make("div", { class: "hz-step-body" }, ...(pane ? [pane.root] : []), list, side),
    make("p", { class: "hz-step-keys" }, ...keys.map(([key, does]) => make("span", {}, make("kbd", {}, key), ` ${does}`))));
  list.style.setProperty("--blocks", String(entries.length));
  list.style.setProperty("--digits", String(String(steps.length).length));
  const fold = model.get("folded");
  const opened = () => { // while it is closed nothing has a place
    if (at >= 0 && to > from) reveal(to - 1);
    if (at >= 0) pane?.show(places[at].line);
  };
  el.append(fold ? make("details", { class: "hz-step-fold", ontoggle: opened },
    make("summary", { "data-lm-suppress-shortcuts": "true" }, fold), root) : root);

  /** Make the item of one block. */
  function itemOf(here) {
    const { role, number, first } = entries[here], id = idAt(here), block = payload.blocks[id];
    const kind = kindOf(block, role), text = visible(wordsOf(block)), fold = folded(text);
    const known = Object.hasOwn(GLYPHS, kind);
    const note = make("span", { class: "hz-step-note" }), fresh = make("span", { class: "hz-step-fresh" });
    const name = visible(String(block.tool_use_id ?? (isCall(block) ? block.id : "")));
    const kindName = block.type === "text" || block.type === "tool" ? block.type : kind;
    const head = make("button", { type: "button", class: "hz-step-head", tabindex: "-1" },
      make("span", { class: "hz-step-unseen" }, `${number && `message ${number}, `}${visible(role)}: `),
      make("span", { class: "hz-step-glyph", "aria-hidden": "true" }, known ? GLYPHS[kind] : "?"),
      make("span", { class: "hz-step-kind" }, visible(kindName)), " ",
      make("span", { class: "hz-step-id" }, name), " ", note, " ", fresh);
    const raw = make("button", { type: "button", class: "hz-step-raw", tabindex: "-1", "aria-pressed": "false", title: "Raw JSON (r)" }, "json");
    const body = make("div", { class: "hz-step-text", dir: "auto" });
    const item = make("li", { class: "hz-step-block", "data-kind": known ? kind : "unknown", "data-at": String(here) },
      make("span", { class: "hz-step-number" }, first ? number : ""),
      make("span", { class: "hz-step-role" }, first ? visible(role) : ""),
      make("div", { class: "hz-step-content" }, make("div", { class: "hz-step-line" }, head, raw), body));
    if (cut.has(id)) head.append(make("span", { class: "hz-step-cut" }, "cut"));
    const made = { item, head, raw, body, note, fresh, text, fold, block, id, open: false, json: false };
    items.set(here, made);
    fill(made);
    return item;
  }

  /** The block at a place of the array; it may have been another one at an earlier step. */
  const idAt = (here) => places[at].others[here] ?? entries[here].id;

  /** Show a block whole, folded or as JSON. */
  function fill(made) {
    const text = made.json ? visible(JSON.stringify(made.block, null, 2)) : made.text;
    const closed = made.fold && !made.open && !made.json;
    made.body.replaceChildren(closed ? made.fold.shown : text);
    if (closed) made.body.append(make("span", { class: "hz-step-more" }, `… ${made.fold.left}`));
    if (made.fold) made.head.setAttribute("aria-expanded", String(!closed));
    made.raw.setAttribute("aria-pressed", String(made.json));
    made.item.classList.toggle("hz-step-as-json", made.json);
  }

  /** Have the blocks between two places of the array in the page, and no others. */
  function frame(newFrom, newTo) {
    if (newFrom >= to || newTo <= from) drop(from, to), (from = to = newFrom);
    drop(newTo, to), drop(from, newFrom);
    const add = (first, last) => {
      const fresh = document.createDocumentFragment();
      for (let here = first; here < last; here++) fresh.append(itemOf(here));
      return fresh;
    };
    if (newFrom < from) earlierItem.after(add(newFrom, Math.min(from, newTo)));
    if (newTo > Math.max(to, newFrom)) list.append(add(Math.max(to, newFrom), newTo));
    from = newFrom;
    to = newTo;
    for (const [here, { item, id }] of [...items]) if (id !== idAt(here)) item.replaceWith(itemOf(here));
    earlierItem.hidden = from === 0;
    if (from) write(earlier, `${plural(from, "earlier block")}: show ${count(Math.min(SHOWN, from))}`);
  }

  function drop(first, last) {
    for (let here = first; here < last; here++) items.get(here)?.item.remove(), items.delete(here);
  }

  /** What stands beside a call or a result about the other one. */
  function noteOf(here) {
    const { block, pair } = entries[here];
    if (isResult(block)) return pair === null ? "answers no call" : `answers message ${entries[pair].number}`;
    if (!isCall(block)) return "";
    if (pair !== null && pair < to) return `answered in message ${entries[pair].number}`;
    return at === lastPlace && !end.open ? "never answered" : "not answered yet";
  }

  /** Mark what is new, what is selected, and what belongs to it. */
  function mark() {
    const pointed = hovered >= 0 ? hovered : selected, pair = entries[pointed]?.pair ?? -1;
    const { before } = places[at];
    for (const [here, { item, head, note, fresh }] of items) {
      const isNew = here >= before;
      write(fresh, isNew ? "new" : "");
      write(note, noteOf(here));
      item.classList.toggle("hz-step-new", isNew);
      item.classList.toggle("hz-step-linked", here === pointed || here === pair);
      item.classList.toggle("hz-step-selected", here === selected);
      note.classList.toggle("hz-step-wrong", /^(never|answers no)/.test(note.textContent));
      const tab = here === selected ? "0" : "-1";
      if (head.getAttribute("tabindex") !== tab) head.setAttribute("tabindex", tab);
      if (here === selected) head.setAttribute("aria-current", "true");
      else if (head.hasAttribute("aria-current")) head.removeAttribute("aria-current");
    }
  }

  function select(here, focus = false) {
    if (here < from || here >= to) return;
    selected = here;
    mark();
    reveal(here);
    if (focus) items.get(here).head.focus({ preventScroll: true });
  }

  /** Scroll the array, and nothing around it, until a block is in view. */
  function reveal(here) {
    revealIn(list, [items.get(here).item]);
  }

  function hover(here) {
    if (here === hovered) return;
    hovered = here;
    mark();
  }

  const placeOf = (target) => Number(target.closest?.(".hz-step-block")?.dataset.at ?? -1);

  function clicked(event) {
    const here = placeOf(event.target);
    if (here < 0) return;
    if (event.target.closest(".hz-step-raw")) asJson(here);
    else if (event.target.closest(".hz-step-head, .hz-step-more")) toggle(here);
    if (!String(getSelection())) select(here, true);
  }

  function toggle(here) {
    const made = items.get(here);
    if (!made?.fold && !made?.json) return;
    made.open = made.json ? made.open : !made.open;
    made.json = false;
    fill(made);
  }

  function asJson(here) {
    const made = items.get(here);
    if (!made) return;
    made.json = !made.json;
    fill(made);
  }

  function showEarlier() {
    const height = list.scrollHeight, top = list.scrollTop, focused = earlier === root.getRootNode().activeElement, first = from;
    reach += SHOWN;
    frame(Math.max(0, to - reach), to);
    mark();
    list.scrollTop = top + list.scrollHeight - height;
    if (focused) select(first - 1, true);
  }

  /** Go to a step. */
  function go(wanted) {
    const next = Math.max(0, Math.min(lastPlace, wanted));
    if (next === at || lastPlace < 0) return;
    const inList = list.contains(root.getRootNode().activeElement);
    const far = Math.abs(next - at) > 1;
    at = next;
    if (far) reach = SHOWN;
    const { end: newTo, before } = places[at];
    frame(Math.max(0, newTo - reach), newTo);
    selected = newTo > before ? before : newTo - 1;
    mark();
    if (newTo > from) reveal(newTo - 1), select(Math.max(from, selected), inList);
    pane?.show(places[at].line);
    tell();
    model.set("at", at);
  }

  /** The next place at which something reaches the array or comes from the model, or the last. */
  function news(direction) {
    const isNews = (place) => place && (place.said >= 0 || place.end > place.before);
    let there = at + direction;
    while (there > 0 && there < lastPlace && !isNews(places[there])) there += direction;
    return there;
  }

  /** Say where we are, and what is known there. */
  function tell() {
    const reached = places[at].step, step = steps[reached] ?? NOTHING_YET;
    const { round, rounds, turn, tokens, usd, stop, prefix: sent } = totals[reached] ?? NOTHING_YET;
    const isLast = at === lastPlace, over = isLast && !end.open, sentence = sentenceAt(places[at], round);
    write(place, `${count(at + 1)} of ${count(places.length)}`);
    slider.value = String(at + 1);
    slider.setAttribute("aria-valuetext", `${at + 1} of ${places.length}`);
    for (const each of back) each.setAttribute("aria-disabled", String(at === 0));
    for (const each of forth) each.setAttribute("aria-disabled", String(isLast));
    write(told, visible([sentence, over ? endingOf(end) : ""].join(" ").trim()));
    write(facts.stop_reason.value, visible(stop) || (tells.replies && rounds ? "none" : rounds ? "not recorded" : "no reply yet"));
    write(facts.policy.value, policyAt(step, isLast));
    measure(facts.rounds, rounds, limits.rounds, count, turn > 1 ? `, turn ${turn}` : "");
    measure(facts.tokens, tokens, undefined, count, step.tokens ? ` (+${count(step.tokens)})` : "");
    measure(facts.spend, usd, limits.usd, money, "");
    if (!tells.replies) write(facts.tokens.value, "not recorded"), write(facts.spend.value, "not recorded");
    tellPrefix(sent);
    facts.time.row.hidden = limits.seconds === undefined;
    write(facts.time.value, `${limits.seconds} s a turn at most`);
    write(facts.label.value, over ? (end.label ?? (end.fault ? "none" : "the loop gives none")) : "not ended yet");
    facts.label.row.classList.toggle("hz-step-ended", isLast && (end.label !== null || !!end.fault));
    write(why, isLast || places[at].line === payload.code?.opens ? visible(end.fault || end.why) : "");
    facts.array.row.hidden = !isLast || !end.array;
    write(facts.array.value, `broken: ${visible(end.array)}`);
  }

  /** What happens at a place: what the statement does, and what comes of it. */
  function sentenceAt({ line, step, said, end: shown, before }, rounds) {
    if (line < 0) return sentenceOf(payload, step, rounds);
    const entered = shown > before ? entries[shown - 1].step : -1;
    const comes = entered >= 0 && steps[entered].role === "assistant" && said < 0
      ? "The reply enters the array." : entered >= 0 ? sentenceOf(payload, entered, rounds) : "";
    const broke = line === payload.code?.opens ? "Here the promise broke." : "";
    return [pane?.sentence(line), said >= 0 ? sentenceOf(payload, said, rounds) : "", comes, broke].filter(Boolean).join(" ");
  }

  function policyAt(step, isLast) {
    if (step.says) return `says “${visible(opening(step.says.join(" ")))}”`;
    if (!tells.policy) return "not recorded";
    if (isLast && end.label !== null) return "ends the turn";
    return steps[places[at].step + 1]?.opens && at > 0 ? "ended this turn" : "silent";
  }

  /** What the API declared of the last request: read, written and not cached, in tokens. */
  function tellPrefix(sent) {
    prefix.row.hidden = !totals.some((each) => each.prefix);
    const [read, written, fresh] = sent ?? [0, 0, 0], parts = [["read", read], ["written", written], ["not cached", fresh]];
    write(prefix.value, sent ? parts.map(([name, n]) => `${name} ${count(n)}`).join(", ") : "not declared");
    prefix.bar.hidden = !sent;
    prefix.bar.replaceChildren(...parts.filter(([, n]) => n).map(([name, n]) => {
      const part = make("span", { class: `hz-step-${String(name).replace(" ", "-")}` });
      part.style.flexGrow = String(n);
      return part;
    }));
  }

  function measure({ value, bar }, spent, limit, format, more) {
    write(value, format(spent) + (limit === undefined ? "" : ` of ${format(limit)}`) + more);
    bar.hidden = !limit;
    if (limit) bar.style.setProperty("--share", String(Math.min(1, spent / limit)));
  }

  function pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return; // Ctrl+S and the like stay the notebook's
    if (["Escape", "Tab"].includes(event.key) || (event.shiftKey && event.key === "Enter")) return;
    event.stopPropagation(); // else a letter on a focused button is a command to the notebook
    const onSlider = event.target === slider, shown = selected < 0 ? to - 1 : selected;
    const up = onSlider ? () => go(at + 1) : () => (shown > from ? select(shown - 1, true) : from && showEarlier());
    const down = onSlider ? () => go(at - 1) : () => select(shown + 1, true);
    if (pane?.root.contains(event.target) && event.key.match(/^Arrow(Up|Down)$/)) return; // scrolls it
    const actions = {
      ArrowRight: () => go(at + 1), ArrowLeft: () => go(at - 1), Home: () => go(0), End: () => go(lastPlace),
      PageDown: () => go(pane ? news(+1) : at + 10), PageUp: () => go(pane ? news(-1) : at - 10), ArrowUp: up, ArrowDown: down,
      r: () => asJson(shown),
    };
    if (!Object.hasOwn(actions, event.key) || event.shiftKey) return;
    event.preventDefault();
    actions[event.key]();
  }

  if (lastPlace >= 0) return go(model.get("at") ?? payload.code?.opens ?? 0);
  write(told, `Nothing to step through: the array is empty. ${endingOf(end)}`.trim());
  write(place, "0 of 0");
  for (const each of [...back, ...forth]) each.setAttribute("aria-disabled", "true");
  earlierItem.hidden = true;
  side.replaceChildren(facts.label.row, why);
  write(facts.label.value, end.label ?? "none");
  write(why, visible(end.fault || end.why));
}

export default { render };
