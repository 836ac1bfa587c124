// Requests to the server, and how they may fail.

const PATIENCE = 15_000;

/** The server answered, and the answer is no. */
export class Refused extends Error {
  constructor(status, {problem = `the server answered ${status}`, rule = "", hint = ""} = {}) {
    super(problem);
    Object.assign(this, {status, rule, hint});
  }

  /** Whether the same request may be taken later: the server is in trouble, busy, or does not know us (yet). */
  get passing() { return this.status >= 500 || [401, 408, 421, 429].includes(this.status); }
}

/** There was no answer, or only half of one: whether it was done is not known. */
export class Unreachable extends Error {
  constructor() { super("no connection"); }

  get passing() { return true; }
}

export async function call(path, body) {
  const sent = body === undefined ? {} : {
    method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(body),
  };
  let answer;
  try {
    answer = await fetch(path, {...sent, signal: AbortSignal.timeout(PATIENCE)});
  } catch {
    throw new Unreachable();
  }
  const said = await answer.json().catch(() => null);
  if (answer.ok && said) return said;
  throw answer.ok ? new Unreachable() : new Refused(answer.status, said?.error);
}
