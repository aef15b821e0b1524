// @ts-check
/**
 * The crash lab: a slider over all instants in which a process can die. What a journal has by then,
 * what the resume adds and what happened outside was tried beforehand; the payload is made in
 * crash_lab.py. Whatever it holds enters the page as text, never as markup.
 *
 * @typedef {{where: string, says: string, left: number[], torn: string, added: number[],
 *   resumes: string, effects: number[][]}} Moment
 * @typedef {{lines: [string, string][], moments: Moment[], effects: Record<string, string>,
 *   once: string[], heads: string[], note: string}} Payload
 * @typedef {{get(name: string): any, set(name: string, value: any): void,
 *   save_changes(): void}} Model
 */

/** An element with attributes and children; words go in as text.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Record<string, string>} given @param {(Node | string)[]} children */
function make(tag, given = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Keys that mean something here are no shortcuts of the notebook's. @param {KeyboardEvent} event */
function keepKeys(event) {
  const leaves = event.key === "Escape" || (event.shiftKey && event.key === "Enter");
  if (!event.ctrlKey && !event.altKey && !event.metaKey && !leaves) event.stopPropagation();
}

/** A line of the journal: as one reads it, and on demand as it is written.
 * @param {[string, string]} line @param {string} kind @param {string} mark */
function journalLine([short, written], kind, mark) {
  const summary = make("summary", {}, make("span", { class: "mark" }, mark), short);
  return make("li", { class: kind }, make("details", {}, summary, make("code", {}, written)));
}

/** The lines of a moment: those that were left, the one that was cut off, those that came after.
 * @param {Payload} told @param {Moment} moment */
function journal(told, moment) {
  const torn = [make("span", { class: "mark" }, "~"), make("i", {}, "cut off"), make("s", {}, moment.torn)];
  return [
    ...moment.left.map((number) => journalLine(told.lines[number], "left", "")),
    ...(moment.torn ? [make("li", { class: "torn" }, ...torn)] : []),
    make("li", { class: "death" }, "killed, and resumed"),
    ...moment.added.map((number) => journalLine(told.lines[number], "added", "+")),
  ];
}

/** How often each thing happened; what must not happen twice and did is said in words.
 * @param {Payload} told @param {Moment} moment */
function effects(told, moment) {
  return Object.entries(told.effects).map(([name, says], row) =>
    make("tr", {}, make("th", { scope: "row" }, says), ...moment.effects[row].map((count) => {
      const twice = told.once.includes(name) && count > 1;
      return make("td", twice ? { class: "twice" } : {}, twice ? `${count}, twice!` : `${count}`);
    })));
}

/** @param {{model: Model, el: HTMLElement}} given */
function render({ model, el }) {
  /** @type {Payload} */
  const told = model.get("payload");
  const last = told.moments.length - 1;
  let at = Math.min(model.get("at"), last);
  const button = (/** @type {string} */ sign, /** @type {string} */ name, /** @type {number} */ by) => {
    const pressed = make("button", { type: "button", "aria-label": name, title: name }, sign);
    pressed.addEventListener("click", () => show(at + by));
    return pressed;
  };
  const back = button("‹", "One instant earlier", -1), on = button("›", "One instant later", 1);
  const slider = make("input", { type: "range", min: "0", max: `${last}`, step: "1",
    "aria-label": "The instant in which the process dies" });
  const placed = make("span", { class: "place" });
  const says = make("p", { class: "says", role: "status" });
  const lines = make("ol", { tabindex: "0", "aria-label": "The journal" });
  const resumes = make("p", { class: "resumes" });
  const rows = make("tbody");
  const heads = told.heads.map((name) => name ? make("th", { scope: "col" }, name) : make("td"));
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...heads)), rows);
  const beside = make("div", {}, make("h4", {}, "On resuming"), resumes,
    make("h4", {}, "What happened outside"), table, make("p", { class: "note" }, told.note));
  const file = make("div", {}, make("h4", {}, "The journal"), lines);
  const lab = make("section", { class: "hz-crash", "aria-label": "Crash lab" },
    make("div", { class: "controls" }, back, slider, on, placed), says,
    make("div", { class: "body" }, file, beside));

  function show(/** @type {number} */ wanted) {
    at = Math.max(0, Math.min(last, wanted));
    const moment = told.moments[at];
    const words = `${moment.where}: ${moment.says}`;
    slider.value = `${at}`;
    slider.setAttribute("aria-valuetext", words);
    placed.textContent = `${at + 1} of ${last + 1}`;
    back.setAttribute("aria-disabled", String(at === 0));
    on.setAttribute("aria-disabled", String(at === last));
    says.textContent = `The process dies in ${words}.`;
    resumes.textContent = moment.resumes;
    lines.replaceChildren(...journal(told, moment));
    rows.replaceChildren(...effects(told, moment));
    requestAnimationFrame(() => { // once it has a height
      const death = /** @type {HTMLElement} */ (lines.querySelector(".death"));
      lines.scrollTop = death.offsetTop - lines.clientHeight / 2;
    });
  }

  slider.addEventListener("input", () => show(Number(slider.value)));
  lab.addEventListener("keydown", keepKeys);
  el.replaceChildren(lab);
  show(at);
}

export default { render };
