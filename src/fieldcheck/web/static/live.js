// What the server knows, as it changes: pushed where that works, asked for where it does not.

import {call} from "./api.js";

const EVERY = 5_000;

export class Live {
  #path;
  #hear;
  #source = null;
  #timer = 0;

  constructor(path, hear) {
    this.#path = path;
    this.#hear = hear;
  }

  begin() {
    document.addEventListener("visibilitychange", () => this.#turn());
    this.#turn();
  }

  /** Browsers open few connections to one server: a page that nobody looks at gives its one up. */
  #turn() {
    clearInterval(this.#timer);
    this.#source?.close();
    if (document.hidden) return;
    this.#source = new EventSource(`${this.#path}/events`);
    this.#source.addEventListener("state", event => this.#hear(JSON.parse(event.data)));
    this.#timer = setInterval(() => this.#poll(), EVERY);
  }

  async #poll() {
    if (this.#source.readyState === EventSource.OPEN) return;
    const state = await call(this.#path).catch(() => null);
    if (state) this.#hear(state);
    if (this.#source.readyState === EventSource.CLOSED) this.#turn();
  }
}
