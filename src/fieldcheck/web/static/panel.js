// What the labels say so far, for the lead, and what the lead can do: the estimate, how it developed, what is left to
// decide, items to settle, failures, parts of the pool, people.

import {call} from "./api.js";
import {chart, shown} from "./chart.js";
import {ask, at, count, draw, make, showMeter} from "./dom.js";
import {thumbnail} from "./item.js";
import {storage, uuid} from "./storage.js";

const AIM = "fieldcheck/aim";
const EARLY = 20; // labels: before them, the number is not made to look like an answer
const NAME = "fieldcheck/name";
const BUTTONS = 12; // classes up to which each has a button
const percent = share => `${(100 * share).toFixed(0)} %`;

/** Labels after which the interval reaches so far, as its width falls with the labels and ends with the whole pool. */
function labelsFor(half, {half: now, labels, population}) {
  return 1 / ((half / now) ** 2 * (1 / labels - 1 / population) + 1 / population);
}

/** A part of the desk: drawn again only where what it shows has changed, so that nobody types into thin air. */
class Card {
  #known = "";

  constructor(title, properties = {}) {
    this.body = make("div", {});
    this.element = make("section", {class: "card", ...properties}, title && make("h2", {}, title), this.body);
  }

  show(what, draw) {
    const known = JSON.stringify(what);
    if (known === this.#known) return;
    this.#known = known;
    const parts = draw().filter(Boolean);
    this.element.hidden = !parts.length;
    this.body.replaceChildren(...parts);
  }
}

export class Panel {
  #cards = new Map();
  #answer = new Card("", {"aria-label": "Estimate"});
  #todo = new Card("To decide");
  #picture = new Card("How it developed");
  #open = new Card("To settle", {id: "to-settle"});
  #change = new Card("Against the version before", {id: "change"});
  #failures = new Card("Failures found");
  #parts = new Card("By what the model said");
  #people = new Card("People");
  #aimField = make("input", {
    id: "aim", type: "number", min: "0.1", max: "50", step: "0.1", "aria-label": "Half-width wanted, in points",
    oninput: event => { storage.set(AIM, event.target.value); this.#tellAim(); },
  });
  #aimSaid = make("span", {});
  #boundField = make("input", {id: "bound", type: "number", step: "any", min: "0", "aria-label": "What is required", onchange: () => this.#decide()});
  #boundSaid = make("p", {class: "fine", id: "decision", role: "status"});
  #moreField = make("input", {id: "more", type: "number", min: "1", max: "1000000", value: "25", "aria-label": "Labels to add"});

  constructor(campaign) {
    this.campaign = campaign;
    this.unit = campaign.labels_per_item > 1 ? "item" : "label"; // what the budget counts
    this.#aimField.value = Number(storage.get(AIM)) || 2;
    at("live").replaceChildren(
      make("div", {class: "column"}, this.#answer.element, this.#todo.element, this.#people.element),
      make("div", {class: "column"}, this.#open.element, this.#picture.element, this.#change.element, this.#failures.element, this.#parts.element));
    for (const card of [this.#answer, this.#todo, this.#picture, this.#open, this.#change, this.#failures, this.#parts, this.#people]) card.element.hidden = true;
  }

  show(state) {
    const {estimate, progress} = this.state = state;
    showMeter(progress);
    this.#answer.show([estimate, state.why, progress], () => [estimate ? this.#estimate(estimate) : this.#tooFew(), this.#numbers(progress)]);
    this.#todo.show([progress.closed, progress.complete, progress.budget, estimate?.metric], () => this.#toDo());
    this.#tellAim();
    this.#tellToGo();
    this.#picture.show([state.development, estimate?.metric], () => this.#chart());
    this.#open.show([state.unsettled, progress.closed], () => this.#unsettled());
    this.#change.show([state.change], () => this.#changed());
    this.#failures.show([state.failures, progress.failures], () => this.#found());
    this.#parts.show([state.slices], () => this.#slices());
    this.#people.show([state.people], () => this.#table());
    if (this.#boundField.value) this.#decide();
  }

  // What is known

  #estimate(estimate) {
    const early = estimate.labels < EARLY ? " early" : "";
    return make("div", {class: `answer${early}${estimate.trusted ? "" : " untrusted"}`},
      make("p", {class: "what"}, estimate.what),
      make("p", {class: `big${estimate.shown.length > 12 ? " long" : ""}`, id: "estimate"}, estimate.shown),
      make("p", {class: "bounds", id: "bounds"}, `${estimate.level} interval ${estimate.low} to ${estimate.high}`),
      !estimate.trusted && make("p", {class: "fine"}, estimate.note || "This interval is for orientation only."),
      ...estimate.said.map(text => make("p", {class: "fine"}, text)),
      ...estimate.warnings.map(text => make("p", {class: "warning"}, text)));
  }

  #tooFew() {
    return make("div", {class: "answer"}, make("p", {class: "what"}, "No estimate yet"), make("p", {class: "fine"}, this.state.why));
  }

  #chart() {
    const {development, estimate} = this.state;
    if (!estimate || development.length < 2) return [];
    return [make("figure", {}, chart(development, {metric: estimate.metric, sentence: estimate.sentence}),
      make("figcaption", {}, "Estimate and interval over the labels"))];
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

  // What it would take, and what can be done

  #toDo() {
    const {estimate, progress} = this.state;
    const share = estimate?.metric === "accuracy";
    const asked = estimate && estimate.metric !== "difference" && make("p", {class: "aim"},
      share ? "At least " : `${estimate.metric.toUpperCase()} at most `, this.#boundField, share ? " % required" : " required");
    return [
      make("p", {id: "to-go"}),
      make("div", {class: "to-go"}, share && make("p", {class: "aim"}, "± ", this.#aimField, " points: ", this.#aimSaid), asked, asked && this.#boundSaid),
      make("div", {class: "desk-actions to-go"},
        make("a", {class: "button primary", href: "desk/report", target: "_blank"}, "Open the report"),
        !progress.closed && progress.budget && make("form", {onsubmit: event => { event.preventDefault(); this.#extend(); }},
          make("button", {id: "extend"}, "Add"), this.#moreField, count(2, this.unit).slice(2)),
        !progress.closed && make("button", {type: "button", id: "close", onclick: () => this.#finish()}, "Finish")),
    ];
  }

  #tellToGo() {
    const {progress} = this.state;
    const left = progress.budget ? Math.max(0, progress.budget - progress.labelled - progress.skipped) : null;
    const words = progress.closed ? "This campaign is finished." :
      left === null ? "" : left ? `${count(left, this.unit)} to go until the budget` : "The budget is spent";
    if (at("to-go")) at("to-go").textContent = words;
  }

  /** How many more labels, roughly, until the interval is as narrow as wanted. */
  #tellAim() {
    const {estimate, progress} = this.state;
    if (estimate?.metric !== "accuracy" || !estimate.half) return;
    const points = Number(this.#aimField.value) || 2;
    const more = Math.ceil(labelsFor(points / 100, estimate) - estimate.labels);
    const left = progress.budget ? Math.max(0, progress.budget - progress.labelled - progress.skipped) : null;
    const over = more > 0 && left !== null && more > left ? ", more than the budget leaves" : "";
    this.#aimSaid.textContent = more > 0 ? `about ${count(more, `more ${this.unit}`)}${over}` : "reached";
  }

  async #decide() {
    const share = this.state.estimate?.metric === "accuracy";
    const bound = Number(this.#boundField.value) / (share ? 100 : 1);
    if (!bound) return;
    const found = await call(`api/desk/decision?bound=${bound}`).catch(error => error);
    this.#boundSaid.textContent = found.word ? `${found.word}: ${[found.requirement, found.reason].filter(Boolean).join("; ")}` : found.message;
  }

  async #act(path, fields) {
    const by = this.campaign.person || storage.get(NAME) || null;
    try {
      await call(path, {campaign: this.campaign.campaign, by, key: uuid(), ...fields});
      at("notices").replaceChildren();
      return true;
    } catch (error) {
      at("notices").replaceChildren(make("p", {class: "notice bad"}, `Not done: ${error.message}. ${error.hint ? `Try: ${error.hint}` : error.rule ?? ""}`));
      return false;
    }
  }

  #extend() { return this.#act("api/desk/extend", {more: Number(this.#moreField.value)}); }

  async #finish() {
    if (await ask(at("finish")) === "finish") await this.#act("api/desk/close", {});
  }

  // Items that wait for the lead

  #unsettled() {
    const {unsettled, progress} = this.state;
    if (progress.closed || !unsettled.length) return [];
    return [make("ul", {class: "open-items"}, ...unsettled.map(item => this.#openItem(item)))];
  }

  #openItem(item) {
    const look = item.kind === "image" ? make("div", {class: "look picture"}, thumbnail(item)) :
      make("div", {class: "look", tabindex: "0", dir: "auto", role: "group", "aria-label": `Item ${item.id}`}, item.text || item.pairs.map(pair => pair.join(": ")).join("\n") || item.id);
    const flags = item.flags.map(([by, note]) => make("p", {class: "fine"}, `flagged by ${by || "no name"}${note ? `: ${note}` : ""}`));
    const said = make("p", {}, ...item.said.flatMap(([by, word], index) => [index ? " · " : "", `${by || "no name"}: `, make("b", {dir: "auto"}, word)]));
    return make("li", {class: "open-item", "data-item": item.id}, look,
      make("div", {}, make("p", {class: "id"}, item.id), item.said.length > 0 && said, ...flags, this.#words(item)));
  }

  /** What the lead may say: keep what counts, one of the labels that were given or of the classes, or none. */
  #words(item) {
    const {answers, classes} = this.campaign;
    const settle = label => this.#act("api/desk/settle", {item: item.id, label});
    const given = [...new Set(item.said.map(([, word]) => word).filter(word => word !== "skipped"))];
    const names = answers === "right-wrong" ? ["right", "wrong"] : answers === "number" ? given : classes.length <= BUTTONS ? classes : given;
    const field = make("input", {class: "words", "aria-label": `Label of ${item.id}`, placeholder: answers === "number" ? "value" : "another class"});
    const typed = names === given && make("form", {onsubmit: event => { event.preventDefault(); if (field.value.trim()) settle(field.value.trim()); }},
      field, make("button", {}, "Settle"));
    return make("div", {class: "settle", role: "group", "aria-label": `Settle ${item.id}`},
      item.label && make("button", {type: "button", onclick: () => settle(item.label)}, `Keep ${item.label}`),
      ...names.filter(name => name !== item.label).map(name => make("button", {type: "button", dir: "auto", onclick: () => settle(name)}, name)),
      typed, make("button", {type: "button", onclick: () => settle("?")}, "no label"));
  }

  // Where it fails

  #found() {
    const {failures, progress} = this.state;
    if (!failures.length) return [];
    const rest = progress.failures - failures.length;
    return [make("ul", {class: "gallery"}, ...failures.map(failure => this.#card(failure))),
      rest > 0 && make("p", {class: "fine"}, `and ${rest} more in the report`)];
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

  #changed() {
    const {change} = this.state;
    if (!change) return [];
    const rows = ["gone", "new"].flatMap(name => change[name].map(item => make("tr", {},
      make("td", {}, name), ...[item.id, item.truth, item.before, item.now].map(text => make("td", {dir: "auto"}, text)))));
    return [make("p", {}, change.sentence), rows.length > 0 && table(["failure", "item", "truth", "before", "now"], rows)];
  }

  #slices() {
    const {slices} = this.state;
    if (!slices.length) return [];
    const known = slices.some(row => row.value !== null); // none yet: the counts say all that there is to say
    const rows = slices.map(row => make("tr", {},
      make("td", {dir: "auto"}, row.slice), make("td", {}, row.labels.toLocaleString("en")), make("td", {}, row.failures.toLocaleString("en")),
      ...(known ? [make("td", {}, row.value === null ? "too few" : shown(row.value, "accuracy")), make("td", {class: "bar-cell"}, range(row))] : [])));
    return [table(["class", "labels", "failures", ...(known ? ["accuracy", "0 to 100 %"] : [])], rows)];
  }

  // Who labels

  #table() {
    const {people} = this.state;
    if (!people.length) return [];
    const pace = seconds => seconds === null ? "–" : seconds < 90 ? `${Math.max(1, Math.round(seconds))} s each` : `${Math.round(seconds / 60)} min each`;
    const rows = people.map(one => make("tr", {},
      make("td", {}, one.name || "no name", one.link === false && make("span", {class: "fine"}, " (link ended)")),
      make("td", {}, one.labels.toLocaleString("en")), make("td", {}, pace(one.seconds)),
      make("td", {}, one.agreement === null ? "–" : percent(one.agreement)), make("td", {}, one.open.toLocaleString("en"))));
    return [table(["name", "labels", "pace", "agreement", "at hand"], rows)];
  }
}

function table(names, rows) {
  return make("div", {class: "scroll-x", tabindex: "0", role: "group", "aria-label": names.join(", ")}, make("table", {},
    make("thead", {}, make("tr", {}, ...names.map(name => make("th", {scope: "col"}, name)))), make("tbody", {}, ...rows)));
}

/** An interval between 0 and 1, as a line. */
function range({value, low, high}) {
  if (value === null) return "";
  const x = share => 4 + 192 * Math.min(Math.max(share, 0), 1);
  return draw("svg", {class: "range", viewBox: "0 0 200 14", preserveAspectRatio: "none", role: "img", "aria-label": `${shown(low, "accuracy")} to ${shown(high, "accuracy")}`},
    draw("line", {class: "track", x1: 4, x2: 196, y1: 7, y2: 7}), draw("line", {class: "reach", x1: x(low), x2: x(high), y1: 7, y2: 7}),
    draw("circle", {class: "spot", cx: x(value), cy: 7, r: 4}));
}
