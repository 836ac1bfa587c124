// What was done and is not known to be stored yet: delivered in order, each thing exactly once.
//
// Every entry has a key that the server remembers. An answer that got lost on its way back is asked for again with the
// same key, and nothing is done twice. Entries lie in the browser's storage until they are acknowledged.

import {call} from "./api.js";
import {storage, uuid} from "./storage.js";

const SHORTEST = 1_000;
const LONGEST = 15_000;

export class Outbox {
  #prefix;
  #on;
  #running = false;
  #timer = 0;
  #delay = SHORTEST;
  #made = 0;

  /** `on`: changed(), delivered(entry), refused(entry, error), elsewhere(entry): from another tab of the same person. */
  constructor(campaign, by, on, {signedIn}) {
    this.campaign = campaign;
    this.by = by;
    this.signedIn = signedIn;
    this.trouble = null;
    this.lasting = true;
    this.#prefix = `fieldcheck/${campaign}/out/`;
    this.#on = on;
    addEventListener("online", () => this.deliver());
    addEventListener("storage", event => event.key?.startsWith(this.#prefix) && this.#heard(event.newValue));
  }

  /** Where people sign in, those of this person: what another one left in this browser waits until they are back. */
  get entries() {
    const all = storage.keys(this.#prefix).map(place => ({place, ...storage.load(place, {})})).filter(entry => entry.body);
    return this.signedIn ? all.filter(entry => entry.body.by === this.by) : all;
  }

  #heard(added) {
    const entry = added && JSON.parse(added);
    if (entry?.body?.by === this.by) this.#on.elsewhere(entry);
    this.#on.changed();
  }

  get waiting() { return this.entries.length; }

  /** Items with an answer on its way: the newest word of this person about them is a label or a skip. */
  get answered() {
    const own = this.entries.filter(entry => entry.body.by === this.by && entry.path !== "api/flag");
    const last = new Map(own.map(entry => [entry.body.item, entry.path]));
    return new Set([...last].filter(([, path]) => path !== "api/undo").map(([item]) => item));
  }

  add(path, fields) {
    const body = {campaign: this.campaign, key: uuid(), ...fields};
    const order = `${String(Date.now()).padStart(15, "0")}-${String(this.#made++).padStart(6, "0")}`;
    this.lasting = storage.save(`${this.#prefix}${order}-${body.key}`, {path, body});
    this.#on.changed();
    this.deliver();
    return body.key;
  }

  async deliver() {
    if (this.#running) return;
    this.#running = true;
    clearTimeout(this.#timer);
    try {
      for (let entry = this.entries[0]; entry; entry = this.entries[0]) {
        if (!await this.#send(entry)) return;
      }
    } finally {
      this.#running = false;
      this.#on.changed();
    }
  }

  /** False where it has to be tried again later. */
  async #send(entry) {
    try {
      await call(entry.path, entry.body);
      this.#settled(entry);
      this.#on.delivered(entry);
    } catch (error) {
      if (error.passing) {
        this.trouble = error;
        this.#timer = setTimeout(() => this.deliver(), this.#delay);
        this.#delay = Math.min(2 * this.#delay, LONGEST);
        return false;
      }
      this.#settled(entry);
      this.#on.refused(entry, error);
    }
    this.#on.changed();
    return true;
  }

  #settled(entry) {
    storage.remove(entry.place);
    this.trouble = null;
    this.#delay = SHORTEST;
  }
}
