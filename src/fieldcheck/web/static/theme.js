// Light or dark: as the system says, until the button is used.

import {storage} from "./storage.js";

const PLACE = "fieldcheck/theme";
const system = () => matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";

export function wearTheme() {
  const chosen = storage.get(PLACE);
  if (chosen) document.documentElement.dataset.theme = chosen;
}

export function toggleTheme() {
  const now = document.documentElement.dataset.theme ?? system();
  const next = now === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  if (next === system()) {
    delete document.documentElement.dataset.theme;
    storage.remove(PLACE);
  } else {
    storage.set(PLACE, next);
  }
}
