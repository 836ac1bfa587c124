// Small helpers; text always goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

export const at = id => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function draw(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter(child => child || child === 0));
  return element;
}

/** Open a dialog and wait for how it was closed. */
export function ask(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise(resolve => dialog.addEventListener("close", () => {
    // Back to the item, not to the button: there, space would open the dialog again.
    at("stage")?.focus({preventScroll: true});
    resolve(dialog.returnValue);
  }, {once: true}));
}

export const count = (n, one, many = one + "s") => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

/** How much of the budget is done, as a line below the head of the page. */
export function showMeter({budget, labelled, skipped}) {
  const meter = at("meter");
  meter.hidden = !budget;
  if (!budget) return;
  const done = Math.min(1, (labelled + skipped) / budget);
  meter.setAttribute("aria-valuenow", Math.round(100 * done));
  meter.firstElementChild.style.width = `${100 * done}%`;
}
