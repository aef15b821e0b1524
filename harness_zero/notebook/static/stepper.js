// The stepper: one run, forwards and backwards, without a kernel. The payload is made in payload.py.
// Whatever a run holds enters the page as text, never as markup.
// @ts-check

/**
 * @typedef {Record<string, any> & {type: string}} Block
 * @typedef {{role: string, add: number[], head?: true, opens?: true, empty?: true, says?: string[],
 *   stop?: string, tokens?: number, usd?: number}} Step
 * @typedef {{blocks: Block[], cut: number[], steps: Step[], limits: Record<string, number>,
 *   tells: {replies: boolean, policy: boolean},
 *   end: {label: string | null, why: string, fault: string, array: string}}} Payload
 * @typedef {{block: Block, id: number, step: number, role: string, number: string,
 *   first: boolean, pair: number | null}} Entry
 */

const SHOWN = 120; // blocks in the page at a time; earlier ones come when asked for
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
  return steps.map((step) => {
    if (step.opens) (rounds = 0), (turn += 1), (stop = "");
    if (step.role === "assistant" || step.role === "lost") (rounds += 1), (stop = step.stop ?? "");
    tokens += step.tokens ?? 0;
    usd += step.usd ?? 0;
    end += step.add.length;
    return { rounds, turn, tokens, usd, stop, end };
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

const listed = (names) => names.join(", ").replace(/, ([^,]*)$/, " and $1");

/** How the run ended, as a sentence; nothing if nobody tells. */
function endingOf(end) {
  if (end.fault) return "The run ended in an error.";
  return end.label === null ? "" : `The run ends: ${end.label}.`;
}

function render({ model, el }) {
  /** @type {Payload} */ const payload = model.get("payload");
  const { steps, limits, tells, end } = payload;
  const entries = entriesOf(payload), totals = totalsOf(payload), cut = new Set(payload.cut);
  const lastStep = steps.length - 1;
  /** @type {Map<number, any>} */ const items = new Map(); // what is in the page, by place in the array
  let at = -1, from = 0, to = 0, reach = SHOWN, selected = -1, hovered = -1;

  // the controls
  const button = (glyph, name, key, action) =>
    make("button", { type: "button", class: "hz-step-button", title: `${name} (${key})`, onclick: action },
      make("span", { "aria-hidden": "true" }, glyph), make("span", { class: "hz-step-unseen" }, name));
  const back = [button("|‹", "First step", "Home", () => go(0)), button("‹", "Step back", "←", () => go(at - 1))];
  const forth = [button("›", "Step forward", "→", () => go(at + 1)), button("›|", "Last step", "End", () => go(lastStep))];
  const slider = make("input", {
    type: "range", min: "1", max: String(Math.max(1, steps.length)), value: "1",
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
  const prefix = make("div", { class: "hz-step-prefix", hidden: "" }); // read, written, not cached: no figures yet
  const side = make("div", { class: "hz-step-side", role: "group", "aria-label": "The run at this step" },
    facts.stop_reason.row, facts.policy.row, prefix, facts.rounds.row, facts.tokens.row, facts.spend.row,
    facts.time.row, facts.label.row, why, facts.array.row);

  const keys = [["← →", "step"], ["Home End", "ends"], ["↑ ↓", "block"], ["Enter", "fold"], ["r", "raw JSON"]];
  const root = make("div", { class: "hz-step", role: "group", "aria-label": "Stepper", onkeydown: (event) => pressed(event) },
    make("div", { class: "hz-step-top" }, make("div", { class: "hz-step-controls" }, ...back, slider, ...forth, place), told),
    make("div", { class: "hz-step-body" }, list, side),
    make("p", { class: "hz-step-keys" }, ...keys.map(([key, does]) => make("span", {}, make("kbd", {}, key), ` ${does}`))));
  list.style.setProperty("--blocks", String(entries.length));
  list.style.setProperty("--digits", String(String(steps.length).length));
  const fold = model.get("folded");
  const opened = () => at >= 0 && to > from && reveal(to - 1); // while it is closed nothing has a place
  el.append(fold ? make("details", { class: "hz-step-fold", ontoggle: opened },
    make("summary", { "data-lm-suppress-shortcuts": "true" }, fold), root) : root);

  /** Make the item of one block. */
  function itemOf(here) {
    const { block, id, role, number, first } = entries[here];
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
    const made = { item, head, raw, body, note, fresh, text, fold, open: false, json: false };
    items.set(here, made);
    fill(made, block);
    return item;
  }

  /** Show a block whole, folded or as JSON. */
  function fill(made, block) {
    const text = made.json ? visible(JSON.stringify(block, null, 2)) : made.text;
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
    return at === lastStep ? "never answered" : "not answered yet";
  }

  /** Mark what is new, what is selected, and what belongs to it. */
  function mark() {
    const pointed = hovered >= 0 ? hovered : selected, pair = entries[pointed]?.pair ?? -1;
    for (const [here, { item, head, note, fresh }] of items) {
      const isNew = entries[here].step === at;
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
    const { item } = items.get(here), top = item.offsetTop, bottom = top + item.offsetHeight;
    if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
    if (top < list.scrollTop) list.scrollTop = top;
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
    fill(made, entries[here].block);
  }

  function asJson(here) {
    const made = items.get(here);
    if (!made) return;
    made.json = !made.json;
    fill(made, entries[here].block);
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
    const next = Math.max(0, Math.min(lastStep, wanted));
    if (next === at || lastStep < 0) return;
    const inList = list.contains(root.getRootNode().activeElement);
    const far = Math.abs(next - at) > 1;
    at = next;
    if (far) reach = SHOWN;
    const { end: newTo } = totals[at];
    frame(Math.max(0, newTo - reach), newTo);
    selected = newTo - Math.max(1, steps[at].add.length);
    mark();
    if (newTo > from) reveal(newTo - 1), select(Math.max(from, selected), inList);
    tell();
    model.set("at", at);
  }

  /** Say where we are, and what is known there. */
  function tell() {
    const { rounds, turn, tokens, usd, stop } = totals[at], step = steps[at];
    const isLast = at === lastStep, sentence = sentenceOf(payload, at, rounds);
    write(place, `${count(at + 1)} of ${count(steps.length)}`);
    slider.value = String(at + 1);
    slider.setAttribute("aria-valuetext", `${at + 1} of ${steps.length}`);
    for (const each of back) each.setAttribute("aria-disabled", String(at === 0));
    for (const each of forth) each.setAttribute("aria-disabled", String(isLast));
    write(told, visible([sentence, isLast ? endingOf(end) : ""].join(" ").trim()));
    write(facts.stop_reason.value, visible(stop) || (tells.replies && rounds ? "none" : rounds ? "not recorded" : "no reply yet"));
    write(facts.policy.value, policyAt(step, isLast));
    measure(facts.rounds, rounds, limits.rounds, count, turn > 1 ? `, turn ${turn}` : "");
    measure(facts.tokens, tokens, undefined, count, step.tokens ? ` (+${count(step.tokens)})` : "");
    measure(facts.spend, usd, limits.usd, money, "");
    if (!tells.replies) write(facts.tokens.value, "not recorded"), write(facts.spend.value, "not recorded");
    facts.time.row.hidden = limits.seconds === undefined;
    write(facts.time.value, `${limits.seconds} s a turn at most`);
    write(facts.label.value, isLast ? (end.label ?? (end.fault ? "none" : "the loop gives none")) : "not ended yet");
    facts.label.row.classList.toggle("hz-step-ended", isLast && (end.label !== null || !!end.fault));
    write(why, isLast ? visible(end.fault || end.why) : "");
    facts.array.row.hidden = !isLast || !end.array;
    write(facts.array.value, `broken: ${visible(end.array)}`);
  }

  function policyAt(step, isLast) {
    if (step.says) return `says “${visible(step.says.join(" "))}”`;
    if (!tells.policy) return "not recorded";
    if (isLast && end.label !== null) return "ends the turn";
    return steps[at + 1]?.opens && at > 0 ? "ended this turn" : "silent";
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
    const actions = {
      ArrowRight: () => go(at + 1), ArrowLeft: () => go(at - 1), Home: () => go(0), End: () => go(lastStep),
      PageDown: () => go(at + 10), PageUp: () => go(at - 10), ArrowUp: up, ArrowDown: down,
      r: () => asJson(shown),
    };
    if (!Object.hasOwn(actions, event.key) || event.shiftKey) return;
    event.preventDefault();
    actions[event.key]();
  }

  if (lastStep >= 0) return go(model.get("at") ?? 0);
  write(told, `Nothing to step through: the array is empty. ${endingOf(end)}`.trim());
  write(place, "0 of 0");
  for (const each of [...back, ...forth]) each.setAttribute("aria-disabled", "true");
  earlierItem.hidden = true;
  side.replaceChildren(facts.label.row, why);
  write(facts.label.value, end.label ?? "none");
  write(why, visible(end.fault || end.why));
}

export default { render };
