// The labelling page: which item is on the table, what was answered, what happens on which key.

import {answersFor} from "./answers.js";
import {call} from "./api.js";
import {ask, at, count, make, showMeter} from "./dom.js";
import {preload, view, zoom} from "./item.js";
import {Live} from "./live.js";
import {prose} from "./prose.js";
import {Outbox} from "./outbox.js";
import {storage} from "./storage.js";
import {toggleTheme, wearTheme} from "./theme.js";

const AHEAD = 5; // items to hold ahead
const LOW = 3; // with fewer than these, ask for more
const REMEMBERED = 30;
const LONG = 20_000;
const RETRY = 2_000;
const PATIENCE = 5_000; // until somebody looks again whether others gave items back
const REASONS = ["unreadable", "several answers fit", "none of the classes fits", "I do not know"];
const NAME = "fieldcheck/name";

class Table {
  constructor(campaign, by) {
    this.campaign = campaign;
    this.by = by;
    this.queue = [];
    this.current = null;
    this.done = new Set();
    this.asking = false;
    this.why = "";
    this.left = {items: 0, disputed: 0};
    this.timer = 0;
    this.historyPlace = `fieldcheck/${campaign.campaign}/history/${by}`;
    this.history = storage.load(this.historyPlace, []);
    this.answers = answersFor(campaign, (label, event) => this.answer(label, event));
    this.outbox = new Outbox(campaign.campaign, by, {
      changed: () => this.showSaved(), delivered: entry => this.delivered(entry), refused: (entry, error) => this.refused(entry, error),
      elsewhere: entry => this.answeredElsewhere(entry),
    }, {signedIn: Boolean(campaign.person)});
    this.live = new Live("api/progress", state => this.heard(state));
  }

  begin() {
    at("answer").replaceChildren(...this.answers.parts);
    // Items that are answered already may still come as new ones, by a request that overtakes the answers.
    this.outbox.answered.forEach(item => this.done.add(item));
    this.outbox.deliver();
    this.render();
    this.fetch();
    this.live.begin();
  }

  // Items

  async fetch() {
    if (this.asking || this.queue.length >= LOW) return;
    this.asking = true;
    clearTimeout(this.timer);
    try {
      const n = Math.min(this.held.length + this.outbox.answered.size + AHEAD, 50);
      const said = await call("api/next", {campaign: this.campaign.campaign, by: this.by, n});
      this.why = said.why;
      this.left = {items: said.left ?? 0, disputed: said.disputed ?? 0};
      this.take(said.items);
      // A lease of somebody who left runs out without a word.
      if (said.left || said.disputed) this.fetchLater(PATIENCE);
    } catch (error) {
      this.why = error.status ? "trouble" : "offline";
      this.trouble = error;
      this.fetchLater(RETRY);
    } finally {
      this.asking = false;
    }
    if (!this.current) this.advance();
  }

  /** A page that nobody looks at asks for nothing: it would keep items from others. */
  fetchLater(pause) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => document.hidden ? this.fetchLater(pause) : this.fetch(), pause);
  }

  get held() { return [this.current, ...this.queue].filter(Boolean); }

  take(items) {
    const answered = this.outbox.answered;
    const known = new Set(this.held.map(item => item.id));
    const fresh = items.filter(item => !known.has(item.id) && !answered.has(item.id) && !this.done.has(item.id));
    fresh.forEach(preload);
    this.queue.push(...fresh);
  }

  advance() {
    this.current = this.queue.shift() ?? null;
    this.render();
  }

  render() {
    const item = this.current;
    at("item").replaceChildren(...(item ? view(item) : this.rest()));
    at("answer").hidden = !item;
    at("actions").hidden = !item && !this.history.length;
    document.body.classList.toggle("resting", !item);
    for (const id of ["skip", "skip-why", "flag"]) at(id).disabled = !item;
    at("undo").disabled = !this.history.length;
    this.renderSaid();
    this.renderAgain();
    this.renderLast();
    at("announce").textContent = item ? `Item ${item.id}` : "";
    if (item && this.answers.focus && matchMedia("(pointer: fine)").matches) this.answers.focus();
  }

  /** What the model said, where the server sends it. */
  renderSaid() {
    const prediction = this.current?.prediction ?? null;
    at("said").hidden = prediction === null;
    at("said").replaceChildren("The model says ", make("b", {dir: "auto"}, prediction ?? ""), " (the report tells that you saw this)");
  }

  /** An earlier answer that was opened again. */
  renderAgain() {
    const item = this.current;
    const reopened = item?.given !== undefined;
    at("again").hidden = !reopened;
    this.answers.mark?.(reopened ? item.given : undefined);
    if (!reopened) return;
    at("again").replaceChildren("Your answer was ", make("b", {dir: "auto"}, item.given ?? "skipped"), ". Another one replaces it. ",
      make("button", {type: "button", class: "quiet", onclick: () => this.keep()}, "Keep it"));
  }

  renderLast() {
    const last = this.history.at(-1);
    const words = last && (last.path === "api/skip" ? "skipped" : `“${last.label}”`);
    at("last").textContent = last ? `Before: ${last.item.id}, ${words}${this.outbox.answered.has(last.item.id) ? "" : ", saved"}` : "";
  }

  /** What is on the table when there is no item. */
  rest() {
    const waiting = this.outbox.waiting;
    const [title, text] = {
      done: ["All done", this.leads ? "Every item that was chosen has its label." : "Every item that was chosen has its label. Thank you."],
      closed: ["Closed", "This campaign takes no more labels."],
      waiting: ["One moment", "The last items of this round are with others, or in a file that `fieldcheck next` wrote. They come back when they are labelled, or when the time for them is up."],
      others: ["Nothing for you now", this.others()],
      settling: ["All labelled", `${this.disputes()}. There is nothing left for you to do. Thank you.`],
      offline: ["No connection", waiting ? `${count(waiting, "label")} waiting here; they are delivered when the server is back.` : "The server does not answer. Trying again."],
      trouble: ["This did not work", this.trouble?.message ?? ""],
    }[this.why] ?? ["Choosing items …", ""];
    const mark = {done: "✓", closed: "✓", settling: "✓"}[this.why];
    return [make("div", {class: "rest", "data-why": this.why || "loading"},
      mark && make("p", {class: "mark", "aria-hidden": "true"}, mark), make("h2", {}, title), make("p", {}, text), ...this.onwards())];
  }

  get leads() { return this.campaign.role === "lead"; }

  /** Where the lead goes from here. */
  onwards() {
    if (!this.leads || !["done", "closed", "settling"].includes(this.why)) return [];
    const first = this.why === "settling" ? ["desk", "Settle them on the desk"] : ["desk/report", "Open the report"];
    const links = [first, ["desk", "To the desk"]].slice(0, this.why === "settling" ? 1 : 2);
    return [make("p", {class: "row onwards"}, ...links.map(([href, words], index) =>
      make("a", {class: `button${index ? "" : " primary"}`, href, target: href === "desk" ? null : "_blank"}, words)))];
  }

  others() {
    const {items, disputed} = this.left;
    const waiting = `${count(items, "item waits", "items wait")} for another person${disputed ? `; ${this.disputes().toLowerCase()}` : ""}`;
    return `${waiting}. You may close this page, or wait for new items.`;
  }

  disputes() {
    const {disputed} = this.left;
    return `On ${count(disputed, "item")} people disagree: ${disputed === 1 ? "it waits" : "they wait"} for the lead`;
  }

  // Answers

  answer(label, event) {
    this.settle("api/label", {label}, event);
  }

  skip(reason = "", event = undefined) {
    this.settle("api/skip", {reason}, event);
  }

  settle(path, fields, event) {
    if (!this.current) return;
    const {picture, given, ...item} = this.current;
    this.remember([...this.history, {path, item, label: fields.label ?? ""}].slice(-REMEMBERED));
    this.done.add(item.id);
    this.outbox.add(path, {by: this.by, item: item.id, ...fields});
    // After a click, space must mean skip again, and not the button that was clicked.
    if (event?.detail) at("stage").focus({preventScroll: true});
    this.advance();
    this.fetch();
  }

  /** What can be undone, also after a reload; long texts would leave no room for labels that wait. */
  remember(history) {
    this.history = history;
    storage.save(this.historyPlace, history.filter(past => JSON.stringify(past).length < LONG));
  }

  undo() {
    const last = this.history.at(-1);
    if (!last) return;
    this.remember(this.history.slice(0, -1));
    this.done.delete(last.item.id);
    this.outbox.add("api/undo", {by: this.by, item: last.item.id});
    if (this.current) this.queue.unshift(this.current);
    this.queue = this.queue.filter(item => item.id !== last.item.id);
    this.current = last.item;
    this.render();
  }

  /** Earlier answers, to look at one of them again. */
  async earlier() {
    await this.outbox.deliver();
    const said = await call("api/mine", {campaign: this.campaign.campaign, by: this.by}).catch(() => null);
    if (!said) return this.notice("Earlier answers need a connection.", "bad");
    const rows = said.answers.map(({id, given}) => make("li", {}, make("button", {
      type: "button", onclick: () => { at("mine").close(); this.reopen(id); },
    }, make("span", {class: "id"}, id), make("b", {dir: "auto"}, given ?? "skipped"))));
    at("mine-list").replaceChildren(...(rows.length ? rows : [make("li", {class: "fine"}, "You have not answered anything yet.")]));
    return ask(at("mine"));
  }

  async reopen(id) {
    const said = await call("api/reopen", {campaign: this.campaign.campaign, by: this.by, item: id}).catch(error => error);
    if (!said.item) return this.notice(`Cannot be opened: ${said.message}`, "bad");
    if (this.current && this.current.given === undefined) this.queue.unshift(this.current);
    this.queue = this.queue.filter(item => item.id !== id);
    this.current = said.item;
    return this.render();
  }

  /** Leave an earlier answer as it was. */
  keep() {
    if (this.current?.given !== undefined) this.advance();
  }

  flag() {
    if (!this.current) return;
    this.outbox.add("api/flag", {by: this.by, item: this.current.id, note: ""});
    this.notice(`${this.current.id} is flagged: it will be looked at again.`, "calm");
  }

  async skipBecause() {
    if (!this.current) return;
    at("why-field").value = "";
    if (await ask(at("why")) === "skip") this.skip(at("why-field").value);
  }

  /** Another tab of the same person answered an item: here, it is not asked again. */
  answeredElsewhere({path, body}) {
    if (!["api/label", "api/skip"].includes(path)) return;
    this.done.add(body.item);
    this.queue = this.queue.filter(item => item.id !== body.item);
    if (this.current?.id === body.item) this.advance();
    this.fetch();
  }

  delivered(entry) {
    if (entry.path !== "api/flag") this.fetch();
    this.renderLast();
  }

  refused(entry, error) {
    if (entry.body.by === this.by) {
      this.done.delete(entry.body.item);
      this.remember(this.history.filter(past => past.item.id !== entry.body.item));
    }
    this.notice(`Not saved: ${error.message}. ${error.hint ? `Try: ${error.hint}` : error.rule}`, "bad");
    this.render();
  }

  // What is said to the person

  heard(state) {
    const {budget, labelled, skipped} = state.progress;
    showMeter(state.progress);
    const unit = this.campaign.labels_per_item > 1 ? "item" : "label";
    at("progress").textContent = budget ? `${labelled + skipped} of ${count(budget, unit)}` : count(labelled + skipped, unit);
    if (!this.current) this.fetch();
  }

  showSaved() {
    const {waiting, trouble, lasting} = this.outbox;
    const saved = at("saved");
    const [kind, text] =
      trouble && waiting ? ["late", `${count(waiting, "label")} waiting: ${trouble.message}${trouble.hint ? `. Try: ${trouble.hint}` : ""}`] :
      waiting ? ["busy", "Saving …"] :
      this.history.length ? ["good", "Saved"] : ["", ""];
    saved.className = `saved ${kind}`;
    if (saved.textContent !== text) saved.textContent = text;
    if (!lasting && waiting) this.notice("This browser keeps nothing: do not close the page before all is saved.", "bad");
    this.renderLast();
    if (!this.current) at("item").replaceChildren(...this.rest());
  }

  notice(text, kind) {
    const note = make("p", {class: `notice ${kind}`}, text, make("button", {type: "button", class: "quiet", "aria-label": "Dismiss", onclick: () => note.remove()}, "×"));
    at("notices").replaceChildren(note);
    if (kind === "calm") setTimeout(() => note.remove(), 4_000);
  }

  /** Give back what was not looked at, so that others need not wait for it. */
  release() {
    const items = this.held.map(item => item.id);
    if (!items.length) return;
    const body = JSON.stringify({campaign: this.campaign.campaign, by: this.by, items});
    navigator.sendBeacon("api/release", new Blob([body], {type: "application/json"}));
  }

  // Keys

  press(event) {
    const typing = event.target.matches("input, textarea, select");
    const onButton = event.target.matches("button, a, summary, [role=option]");
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog[open]")) return;
    if (typing && !this.keyOfNumberField(event)) return;
    if (onButton && [" ", "Enter"].includes(event.key)) return;
    if (this.command(event)) event.preventDefault();
  }

  /** The field for a number needs no letters but e, and no space: the other keys keep their meaning in it. */
  keyOfNumberField(event) {
    if (event.target.id !== "number") return false;
    return [" ", "f", "h", "?"].includes(event.key) || (event.key === "Backspace" && !event.target.value);
  }

  command(event) {
    const commands = {
      " ": () => event.shiftKey ? this.skipBecause() : this.skip(),
      Backspace: () => this.undo(), f: () => this.flag(), F: () => this.flag(),
      h: () => this.help(), H: () => this.help(), "?": () => this.help(), z: () => this.zoom(),
      ArrowLeft: () => this.earlier(), Escape: () => this.keep(),
      PageDown: () => this.scroll(0.9), PageUp: () => this.scroll(-0.9), ArrowDown: () => this.scroll(0.2), ArrowUp: () => this.scroll(-0.2),
    };
    if (commands[event.key]) {
      commands[event.key]();
      return true;
    }
    return Boolean(this.current) && this.answers.press(event.key);
  }

  zoom() {
    const frame = at("item").querySelector(".frame");
    if (frame) zoom(frame);
  }

  /** Long texts and zoomed pictures move under the keys, wherever the focus is. */
  scroll(part) {
    const box = at("item").firstElementChild;
    box?.scrollBy({top: part * box.clientHeight});
  }

  help() {
    const rows = [
      ...this.answers.help(), ["space", "skip; with shift, and say why"], ["backspace", "undo your last answer"],
      ["←", "your earlier answers"], ["f", "flag: look at this again"], ["z", "zoom a picture"], ["↑ ↓", "scroll a long item"], ["h or ?", "this help"],
    ];
    const {instructions, descriptions} = this.campaign;
    at("help-instructions").hidden = !instructions;
    at("help-instructions").replaceChildren(...prose(instructions));
    at("help-classes").hidden = !Object.keys(descriptions).length;
    at("help-classes").replaceChildren(...Object.entries(descriptions).flatMap(([name, words]) => [make("dt", {dir: "auto"}, make("b", {}, name)), make("dd", {dir: "auto"}, words)]));
    at("help-keys").replaceChildren(...rows.flatMap(([key, text]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, text)]));
    ask(at("help"));
  }
}

async function nameOf(given) {
  at("name-field").value = given ?? "";
  let name = "";
  while (!name) {
    await ask(at("name"));
    name = at("name-field").value.trim() || given || "";
  }
  storage.set(NAME, name);
  return name;
}

function show(title, text) {
  at("item").replaceChildren(make("div", {class: "rest", "data-why": "trouble"}, make("h2", {}, title), make("p", {}, text)));
}

/** The campaign behind this page, as soon as the server answers. */
async function theCampaign() {
  for (;;) {
    try {
      return await call("api/campaign");
    } catch (error) {
      if (error.status === 401) show("This page needs your link", "Open the link that was sent to you. If it does not work any more, ask for a new one; labels that wait in this browser are kept.");
      else show("No connection", `${error.message}. Trying again; labels that wait in this browser are kept.`);
      await new Promise(resolve => setTimeout(resolve, RETRY));
    }
  }
}

function listen(table) {
  const click = (id, action) => at(id).addEventListener("click", event => {
    action(event);
    if (event.detail) at("stage").focus({preventScroll: true});
  });
  click("undo", () => table.undo());
  click("earlier", () => table.earlier());
  click("skip", event => table.skip("", event));
  click("skip-why", () => table.skipBecause());
  click("flag", () => table.flag());
  click("open-help", () => table.help());
  at("who").addEventListener("click", async () => { await nameOf(table.by); location.reload(); });
  addEventListener("keydown", event => table.press(event));
  addEventListener("pagehide", () => table.release());
  addEventListener("pageshow", event => event.persisted && location.reload());
  at("why-choices").replaceChildren(...REASONS.map(text => make("button", {
    type: "button", class: "choice", onclick: () => { at("why-field").value = text; at("why").close("skip"); },
  }, text)));
}

async function begin() {
  wearTheme();
  at("theme").addEventListener("click", toggleTheme);
  const campaign = await theCampaign();
  document.title = `${campaign.title}: label`;
  at("title").textContent = campaign.title;
  at("item").replaceChildren();
  // People who have a link are known by it; alone on one machine, a person says who they are.
  const by = campaign.person || (storage.get(NAME) ?? await nameOf(null));
  at("who").hidden = false;
  at("who").textContent = by;
  at("who").disabled = Boolean(campaign.person);
  at("to-desk").hidden = campaign.role !== "lead";
  if (campaign.instructions) at("open-help").textContent = "Instructions";
  const table = new Table(campaign, by);
  listen(table);
  table.begin();
}

begin();
