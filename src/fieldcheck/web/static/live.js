// What the server knows, as it changes: pushed where that works, asked for where it does not.

import {call} from "./api.js";

const EVERY = 5_000;

export class Live {
  #hear;
  #source = null;
  #timer = 0;

  constructor(hear) { this.#hear = hear; }

  begin() {
    document.addEventListener("visibilitychange", () => this.#turn());
    this.#turn();
  }

  /** Browsers open few connections to one server: a page that nobody looks at gives its one up. */
  #turn() {
    clearInterval(this.#timer);
    this.#source?.close();
    if (document.hidden) return;
    this.#source = new EventSource("/api/events");
    this.#source.addEventListener("state", event => this.#hear(JSON.parse(event.data)));
    this.#timer = setInterval(() => this.#poll(), EVERY);
  }

  async #poll() {
    if (this.#source.readyState === EventSource.OPEN) return;
    const state = await call("/api/state").catch(() => null);
    if (state) this.#hear(state);
    if (this.#source.readyState === EventSource.CLOSED) this.#turn();
  }
}
