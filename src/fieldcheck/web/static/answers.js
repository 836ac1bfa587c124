// How an answer is given: a class, right or wrong, or a number. Each shows itself and listens to keys.

import {count, make} from "./dom.js";
import {Lately, MANY, keysOf, search} from "./keys.js";
import {storage} from "./storage.js";

const SEARCHED = 10; // more classes than this can be searched
const LISTED = 60;
const CROWDED = 12; // more buttons than this are smaller

function choice(key, name, choose, kind = "", title = null) {
  const badge = key && make("kbd", {"aria-hidden": "true"}, key);
  return make(
    "button", {type: "button", class: `choice ${kind}`, onclick: event => choose(name, event), "aria-keyshortcuts": key || null, title, "data-name": name},
    badge, make("span", {dir: "auto"}, name));
}

/** A handful of classes: a button and a key for each. */
class Few {
  constructor(classes, choose, descriptions = {}) {
    this.keys = keysOf(classes);
    this.choose = choose;
    const keyOf = new Map([...this.keys].map(([key, name]) => [name, key]));
    const short = classes.every(name => name.length <= 6) ? " short" : "";
    this.grid = make("div", {class: `choices${short}`, role: "group", "aria-label": "Classes"},
      ...classes.map(name => choice(keyOf.get(name), name, choose, "", descriptions[name])));
    if (classes.length > CROWDED) this.grid.classList.add("crowded");
    this.parts = [this.grid];
  }

  /** Shows an earlier answer; undefined: there is none. */
  mark(name) {
    for (const button of this.grid.children) button.classList.toggle("given", button.dataset.name === name);
  }

  press(key) {
    const name = this.keys.get(key.toLowerCase());
    if (name === undefined) return false;
    this.choose(name);
    return true;
  }

  help() { return [["1–9, 0, letters", "choose the class beside the key"]]; }
}

/** Classes that can be searched: / or a click, then type, arrows, Enter. */
class Searched {
  constructor(classes, choose, place, descriptions) {
    this.classes = classes;
    this.many = classes.length > MANY;
    this.chosen = name => this.#chosen(name);
    this.choose = choose;
    this.place = place;
    this.few = this.many ? null : new Few(classes, this.chosen, descriptions);
    this.lately = new Lately(storage.load(place, []).filter(name => classes.includes(name)));
    this.#build();
  }

  #build() {
    this.field = make("input", {
      type: "search", id: "search", class: this.few ? "searches-few" : "", role: "combobox", autocomplete: "off", spellcheck: "false", "aria-expanded": "true",
      "aria-controls": "found", "aria-label": "Search a class", placeholder: `Search ${count(this.classes.length, "class", "classes")}  ( / )`,
      oninput: () => this.#list(0), onkeydown: event => this.#keys(event),
    });
    this.found = make("div", {class: "found", id: "found", role: "listbox", "aria-label": "Classes found"});
    this.used = make("div", {class: "choices lately", role: "group", "aria-label": "Used lately"});
    this.more = make("p", {class: "fine"});
    this.parts = [this.field, this.used, ...(this.few ? this.few.parts : []), this.found, this.more];
    this.#list(0);
  }

  #chosen(name, event) {
    this.field.value = "";
    if (this.many) {
      this.lately.use(name);
      storage.save(this.place, this.lately.places);
    }
    this.field.blur();
    this.#list(0);
    this.choose(name, event);
  }

  #list(active) {
    const typed = this.field.value;
    const hits = typed || this.many ? search(this.classes, typed) : [];
    this.hits = hits.slice(0, LISTED);
    this.active = Math.max(0, Math.min(active, this.hits.length - 1));
    this.found.replaceChildren(...this.hits.map((name, index) => this.#option(name, index)));
    this.found.hidden = !this.hits.length;
    this.more.textContent = !hits.length && typed ? "No class is called like that." :
      hits.length > LISTED ? `and ${count(hits.length - LISTED, "more")}: type to narrow them down`.replace("mores", "more") : "";
    const lit = typed && this.hits.length ? `option-${this.active}` : null;
    if (lit) this.field.setAttribute("aria-activedescendant", lit); else this.field.removeAttribute("aria-activedescendant");
    if (this.few) this.few.grid.hidden = Boolean(typed);
    this.used.hidden = !this.many || Boolean(typed) || !this.lately.places.length;
    this.used.replaceChildren(...this.lately.places.map((name, index) => choice(String((index + 1) % 10), name, this.chosen)));
  }

  #option(name, index) {
    const lit = Boolean(this.field.value) && index === this.active;
    return make("button", {
      type: "button", id: `option-${index}`, class: "option", role: "option", tabindex: "-1", "aria-selected": String(lit), dir: "auto",
      onclick: event => this.#chosen(name, event),
    }, name);
  }

  #keys(event) {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step) {
      this.#list(this.active + step);
      this.found.children[this.active]?.scrollIntoView({block: "nearest"});
    } else if (event.key === "Enter" && this.field.value && this.hits.length) {
      this.#chosen(this.hits[this.active]);
    } else if (event.key === "Escape") {
      this.field.value = "";
      this.#list(0);
      this.field.blur();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  press(key) {
    if (key === "/") {
      this.field.focus();
      return true;
    }
    if (this.few) return this.few.press(key);
    const name = /^\d$/.test(key) ? this.lately.places[(Number(key) + 9) % 10] : undefined;
    if (name === undefined) return false;
    this.#chosen(name);
    return true;
  }

  mark(name) { this.few?.mark(name); }

  help() {
    const first = this.many ? ["1–9, 0", "choose one of the classes used lately"] : ["1–9, 0, letters", "choose the class beside the key"];
    return [first, ["/", "search a class; arrows and Enter choose"]];
  }
}

class RightWrong {
  constructor(choose) {
    this.choose = choose;
    this.parts = [make("div", {class: "choices two", role: "group", "aria-label": "Right or wrong"},
      choice("1", "right", choose, "right"), choice("2", "wrong", choose, "wrong"))];
  }

  press(key) {
    const name = {1: "right", r: "right", 2: "wrong", w: "wrong"}[key.toLowerCase()];
    if (name) this.choose(name);
    return Boolean(name);
  }

  help() { return [["1 or r", "the model is right"], ["2 or w", "the model is wrong"]]; }
}

/** A number as people write it: one comma is a decimal comma, since phones may offer no point. */
export function numberFrom(typed) {
  const text = typed.trim().replace("−", "-");
  const commas = text.split(",").length - 1;
  const plain = commas === 1 && !text.includes(".") ? text.replace(",", ".") : text;
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) && Number.isFinite(Number(plain)) ? Number(plain) : null;
}

class Numeric {
  constructor(choose) {
    this.choose = choose;
    this.field = make("input", {
      id: "number", inputmode: "decimal", autocomplete: "off", enterkeyhint: "done", "aria-label": "True value", placeholder: "true value",
      "aria-describedby": "number-read", oninput: () => this.#read(),
    });
    this.said = make("p", {class: "fine", id: "number-read", "aria-live": "polite"});
    const submit = event => {
      event.preventDefault();
      const value = numberFrom(this.field.value);
      if (value === null) return this.#read();
      this.field.value = "";
      this.#read();
      return choose(String(value));
    };
    this.parts = [make("form", {class: "number", onsubmit: submit}, this.field, make("button", {class: "primary"}, "Save")), this.said];
  }

  #read() {
    const typed = this.field.value.trim();
    const value = numberFrom(typed);
    this.said.textContent = !typed ? "" : value === null ? "This is not a number." : `Will be saved as ${value}.`;
    this.field.setAttribute("aria-invalid", String(Boolean(typed) && value === null));
  }

  focus() { this.field.focus(); }

  /** An earlier value, to be corrected. */
  mark(value) {
    this.field.value = value ?? "";
    this.#read();
    if (value) this.field.select();
  }

  press(key) {
    if (!/^[\d.,+-]$/.test(key) || document.activeElement === this.field) return false;
    this.field.value += key;
    this.#read();
    this.focus();
    return true;
  }

  help() { return [["digits, Enter", "type the true value, then save it"]]; }
}

export function answersFor(campaign, choose) {
  if (campaign.answers === "number") return new Numeric(choose);
  if (campaign.answers === "right-wrong") return new RightWrong(choose);
  const place = `fieldcheck/${campaign.campaign}/lately`;
  const {classes, descriptions} = campaign;
  return classes.length > SEARCHED ? new Searched(classes, choose, place, descriptions) : new Few(classes, choose, descriptions);
}
