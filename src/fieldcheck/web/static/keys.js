// Which key chooses which class.

const FREE = [..."1234567890abcdegijklmnopqrstuvwxy"]; // f flags, h helps, z zooms
export const MANY = FREE.length;

/** From key to class. A class that is called like a key has it: 7 is 7, whatever its place in the list. */
export function keysOf(classes) {
  const keys = new Map();
  for (const name of classes) if (FREE.includes(name.toLowerCase())) keys.set(name.toLowerCase(), name);
  const given = new Set(keys.values());
  const rest = FREE.filter(key => !keys.has(key));
  for (const name of classes) if (!given.has(name) && rest.length) keys.set(rest.shift(), name);
  return keys;
}

const plain = text => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** Classes that fit what was typed: those that begin with it first, then those with a word that does, then the rest. */
export function search(classes, typed) {
  const wanted = plain(typed.trim());
  if (!wanted) return [...classes];
  const rank = name => {
    const text = plain(name);
    if (text === wanted) return 0;
    if (text.startsWith(wanted)) return 1;
    const found = text.indexOf(wanted);
    return found < 0 ? 9 : /[\p{L}\p{N}]/u.test(text[found - 1]) ? 3 : 2;
  };
  return classes.map(name => [rank(name), name]).filter(([r]) => r < 9).sort((a, b) => a[0] - b[0]).map(([, n]) => n);
}

/** Ten places for classes that were used lately; a class keeps its place, and so its key, until it is pushed out. */
export class Lately {
  constructor(kept = []) {
    this.places = kept.slice(0, 10);
    this.age = [...this.places];
  }

  use(name) {
    this.age = [name, ...this.age.filter(other => other !== name)];
    if (this.places.includes(name)) return;
    if (this.places.length < 10) this.places.push(name);
    else this.places[this.places.indexOf(this.age.pop())] = name;
  }
}
