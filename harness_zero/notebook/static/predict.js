// @ts-check
/**
 * A question that takes an answer: choose, run the next cell, compare. What was chosen stays in
 * the widget's state and in this browser; nothing is sent anywhere.
 *
 * @typedef {{question: string, choices: string[], answer: number, notes: string[],
 *   verdicts: string[], key: string, chosen: number, compared: boolean}} State
 * @typedef {{get<K extends keyof State>(name: K): State[K],
 *   set<K extends keyof State>(name: K, value: State[K]): void, save_changes(): void,
 *   on(event: string, then: () => void): void, off(event: string, then: () => void): void}} Model
 */

/** The parts of the state that change.
 * @type {("chosen" | "compared")[]} */
const CHANGING = ["chosen", "compared"];

/** An element with attributes and children; words go in as text and are never markup.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Record<string, string>} given @param {(Node | string)[]} children */
function make(tag, given = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** What this browser remembers of an earlier answer.
 * @param {Model} model */
function recall(model) {
  try {
    const { chosen, compared } = JSON.parse(localStorage.getItem(model.get("key")) ?? "{}");
    const isChoice = Number.isInteger(chosen) && chosen in model.get("choices");
    return isChoice ? { chosen, compared: compared === true } : null;
  } catch {
    return null; // no storage on this page, or somebody else's words in it
  }
}

/** Take an answer, and keep it. @param {Model} model @param {number} chosen @param {boolean} compared */
function answer(model, chosen, compared) {
  try {
    localStorage.setItem(model.get("key"), JSON.stringify({ chosen, compared }));
  } catch {} // without storage it is kept in the widget's state alone
  model.set("chosen", chosen);
  model.set("compared", compared);
  model.save_changes();
}

/** Keys that mean something here are no shortcuts of the notebook's. @param {KeyboardEvent} event */
function keepKeys(event) {
  const leaves = event.key === "Escape" || (event.shiftKey && event.key === "Enter");
  if (!event.ctrlKey && !event.altKey && !event.metaKey && !leaves) event.stopPropagation();
}

/** @param {{model: Model}} given */
function initialize({ model }) {
  const earlier = model.get("chosen") < 0 && recall(model);
  if (earlier) answer(model, earlier.chosen, earlier.compared);
}

/** @param {{model: Model, el: HTMLElement}} given */
function render({ model, el }) {
  const radios = model.get("choices").map(() => make("input", { type: "radio", name: "choice" }));
  const tags = radios.map(() => make("span", { class: "tag" }));
  const rows = model.get("choices").map((choice, at) =>
    make("label", {}, radios[at], make("span", { class: "words" }, choice), tags[at]));
  const said = make("p", { role: "status" });
  const compare = make("button", { type: "button", class: "compare" }, "Compare");
  const again = make("button", { type: "button" }, "Predict again");
  const question = make("legend", {}, make("b", {}, "Predict:"), ` ${model.get("question")}`);
  const form = make("form", { class: "hz-predict" }, make("fieldset", {}, question, ...rows), said,
    make("div", { class: "buttons" }, compare, again));

  function update() {
    const chosen = model.get("chosen"), compared = model.get("compared");
    radios.forEach((radio, at) => {
      radio.checked = at === chosen;
      radio.setAttribute("aria-disabled", String(compared));
      const right = compared && at === model.get("answer");
      const tag = [compared && at === chosen && "your prediction", right && "the answer"];
      tags[at].textContent = tag.filter(Boolean).join(", ");
      rows[at].classList.toggle("right", right);
    });
    compare.setAttribute("aria-disabled", String(chosen < 0 || compared));
    again.hidden = !compared;
    said.textContent = chosen < 0
      ? "Choose one. Nobody sees it but you."
      : model.get(compared ? "verdicts" : "notes")[chosen];
  }

  radios.forEach((radio, at) => radio.addEventListener("click", (event) => {
    if (model.get("compared")) event.preventDefault();
    else answer(model, at, false);
  }));
  compare.addEventListener("click", () => {
    if (compare.getAttribute("aria-disabled") === "false") answer(model, model.get("chosen"), true);
  });
  again.addEventListener("click", () => {
    answer(model, -1, false);
    radios[0].focus();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("keydown", keepKeys);
  for (const name of CHANGING) model.on(`change:${name}`, update);
  update();
  el.replaceChildren(form);
  return () => CHANGING.forEach((name) => model.off(`change:${name}`, update));
}

export default { initialize, render };
