// What outlives a reload. Where the browser keeps nothing, memory does, until the page is closed.

const memory = new Map();

export const storage = {
  get(key) {
    if (memory.has(key)) return memory.get(key);
    try { return localStorage.getItem(key); } catch { return null; }
  },
  /** False where the browser refused and only memory holds it. */
  set(key, value) {
    try {
      localStorage.setItem(key, value);
      memory.delete(key);
      return true;
    } catch {
      memory.set(key, value);
      return false;
    }
  },
  remove(key) {
    memory.delete(key);
    try { localStorage.removeItem(key); } catch { /* there was nothing to remove */ }
  },
  /** Keys that begin like this, in order. */
  keys(prefix) {
    const found = [...memory.keys()];
    try { found.push(...Object.keys(localStorage)); } catch { /* memory only */ }
    return [...new Set(found)].filter(key => key.startsWith(prefix)).sort();
  },
  load(key, otherwise) {
    try { return JSON.parse(this.get(key)) ?? otherwise; } catch { return otherwise; }
  },
  save(key, value) { return this.set(key, JSON.stringify(value)); },
};

/** A random UUID; `crypto.randomUUID` is missing where a page comes over plain HTTP from another machine. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map(byte => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
