// What the labels say so far, for the lead: the estimate, how it developed, what is left to do, the failures, the people.

import {chart} from "./chart.js";
import {at, count, make, showMeter} from "./dom.js";
import {thumbnail} from "./item.js";
import {storage} from "./storage.js";

const AIM = "fieldcheck/aim";
const EARLY = 20; // labels: before them, the number is not made to look like an answer
const percent = share => `${(100 * share).toFixed(0)} %`;

/** Labels after which the interval reaches so far, as its width falls with the labels and ends with the whole pool. */
function labelsFor(half, {half: now, labels, population}) {
  return 1 / ((half / now) ** 2 * (1 / labels - 1 / population) + 1 / population);
}

export class Panel {
  #cards = new Map();
  #gallery = make("ul", {class: "gallery"});
  #aimField = make("input", {
    id: "aim", type: "number", min: "0.1", max: "50", step: "0.1", "aria-label": "Half-width wanted, in points",
    onchange: event => { storage.set(AIM, event.target.value); this.#draw(); },
  });

  constructor(campaign) {
    this.campaign = campaign;
    this.unit = campaign.labels_per_item > 1 ? "item" : "label"; // what the budget counts
    this.#aimField.value = Number(storage.get(AIM)) || 2;
  }

  show(state) {
    this.state = state;
    this.#draw();
  }

  #draw() {
    const {estimate, progress} = this.state;
    showMeter(progress);
    const typing = document.activeElement === this.#aimField;
    at("live").replaceChildren(...[
      estimate ? this.#answer(estimate) : this.#tooFew(),
      this.#picture(), this.#numbers(progress), this.#toGo(progress), ...this.#found(), this.#people(),
    ].filter(Boolean));
    if (typing) this.#aimField.focus();
  }

  #answer(estimate) {
    const bounds = `${estimate.level} interval ${estimate.low} to ${estimate.high}`;
    const early = estimate.labels < EARLY ? " early" : "";
    return make("section", {class: `answer${early}${estimate.trusted ? "" : " untrusted"}`, "aria-label": "Estimate"},
      make("p", {class: "what"}, estimate.what),
      make("p", {class: "big", id: "estimate"}, estimate.shown),
      make("p", {class: "bounds", id: "bounds"}, bounds),
      !estimate.trusted && make("p", {class: "fine"}, estimate.note || "This interval is for orientation only."),
      ...estimate.warnings.map(text => make("p", {class: "warning"}, text)));
  }

  #tooFew() {
    return make("section", {class: "answer"}, make("p", {class: "what"}, "No estimate yet"), make("p", {class: "fine"}, this.state.why));
  }

  #picture() {
    const {development, estimate} = this.state;
    if (!estimate || development.length < 2) return null;
    return make("figure", {}, chart(development, {metric: estimate.metric, sentence: estimate.sentence}),
      make("figcaption", {}, "Estimate and interval over the labels"));
  }

  #numbers(progress) {
    const rows = [
      [progress.labelled.toLocaleString("en"), progress.budget ? `of ${count(progress.budget, this.unit)}` : "labelled"],
      [progress.failures.toLocaleString("en"), progress.failures === 1 ? "failure found" : "failures found"],
      progress.begun && [progress.begun.toLocaleString("en"), "waiting for more people"],
      progress.skipped && [progress.skipped.toLocaleString("en"), "skipped"],
      progress.disputed && [progress.disputed.toLocaleString("en"), "disputed"],
      progress.agreement !== null && [percent(progress.agreement), "agreement"],
    ].filter(Boolean);
    return make("ul", {class: "chips"}, ...rows.map(([value, name]) => make("li", {}, make("b", {}, value), make("span", {}, name))));
  }

  /** How many more labels: to the end of the budget, and, roughly, until the interval is as narrow as wanted. */
  #toGo(progress) {
    const left = progress.budget ? Math.max(0, progress.budget - progress.labelled - progress.skipped) : null;
    return make("div", {class: "to-go"},
      left !== null && make("p", {id: "to-go"}, left ? `${count(left, this.unit)} to go until the budget` : "The budget is spent"),
      this.#aim(left));
  }

  /** left: labels that the budget leaves; null without a budget. */
  #aim(left) {
    const {estimate} = this.state;
    if (estimate?.metric !== "accuracy" || !estimate.half) return null;
    const points = Number(this.#aimField.value) || 2;
    const wanted = labelsFor(points / 100, estimate);
    const more = Math.ceil(wanted - estimate.labels);
    const words = more > 0 ? ` points: about ${count(more, `more ${this.unit}`)}` : " points: reached";
    const over = more > 0 && left !== null && more > left ? ", more than the budget leaves" : "";
    return make("p", {class: "aim"}, "± ", this.#aimField, words + over);
  }

  #found() {
    const {failures, progress} = this.state;
    if (!failures.length) return [];
    this.#gallery.replaceChildren(...failures.map(failure => this.#card(failure)));
    const rest = progress.failures - failures.length;
    return [make("h2", {}, "Failures found"), this.#gallery, rest > 0 && make("p", {class: "fine"}, `and ${rest} more in the report`)].filter(Boolean);
  }

  /** Made once, so that pictures are not loaded again. */
  #card(failure) {
    const key = JSON.stringify([failure.id, failure.label]);
    if (!this.#cards.has(key)) this.#cards.set(key, this.#newCard(failure));
    return this.#cards.get(key);
  }

  #newCard(failure) {
    const words = failure.prediction === null ? failure.label : `${failure.label}, not ${failure.prediction}`;
    return make("li", {title: failure.id}, make("div", {class: "thumb"}, thumbnail(failure)), make("span", {dir: "auto"}, words));
  }

  #people() {
    const {people} = this.state;
    if (people.length < 2) return null;
    const words = ({name, labels, link}) => `${name || "no name"} ${labels}${link === false ? " (link ended)" : ""}`;
    return make("p", {class: "fine people"}, people.map(words).join(" · "));
  }
}
