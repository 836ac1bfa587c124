// One item, big.

import {make} from "./dom.js";

const TINY = 100; // pixels: below it, an image is shown as the squares that it is made of
const LEGIBLE = 280;

/** The picture of an item, loading from now on; made ahead so that it is there when its turn comes. */
export function preload(item) {
  if (item.kind !== "image" || item.picture) return;
  item.picture = make("img", {src: item.src, alt: `Item ${item.id}`, draggable: "false"});
}

export function view(item) {
  const shown = {image: image, text: text, row: row}[item.kind](item);
  const beside = item.kind !== "row" && item.pairs.length && row(item, " beside");
  return [shown, beside, item.note && make("p", {class: "note"}, item.note), make("p", {class: "id"}, item.id)].filter(Boolean);
}

function image(item) {
  preload(item);
  const picture = item.picture;
  const frame = make("div", {class: "frame"}, picture);
  const settle = () => fit(picture);
  picture.addEventListener("load", settle);
  picture.addEventListener("error", () => frame.replaceChildren(make("p", {class: "note"}, "The picture cannot be shown.")));
  picture.addEventListener("click", () => zoom(frame));
  if (picture.complete && picture.naturalWidth) settle();
  return frame;
}

/** Tiny images are enlarged, but not so far that the eye sees squares and no shape; z goes on. */
function fit(picture) {
  const side = Math.max(picture.naturalWidth, picture.naturalHeight);
  picture.classList.toggle("tiny", side < TINY);
  if (side < TINY) picture.style.maxWidth = picture.style.maxHeight = `${Math.max(LEGIBLE, 12 * side)}px`;
}

export function zoom(frame) {
  const larger = frame.classList.toggle("zoomed");
  if (larger) frame.scrollTo((frame.scrollWidth - frame.clientWidth) / 2, (frame.scrollHeight - frame.clientHeight) / 2);
}

function text(item) {
  return make("div", {class: "text", dir: "auto", tabindex: "0", role: "article", "aria-label": "Text of the item"}, item.text || "(empty)");
}

function row(item, kind = "") {
  const pairs = item.pairs.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {dir: "auto"}, value || "–")]);
  return make("dl", {class: `pairs${kind}`, tabindex: "0", "aria-label": "Row of the table"}, ...pairs);
}

/** A small picture of a failure. */
export function thumbnail(failure) {
  if (failure.kind === "image") {
    const picture = make("img", {src: failure.src, alt: `Item ${failure.id}`, loading: "lazy"});
    picture.addEventListener("load", () => picture.classList.toggle("tiny", picture.naturalWidth < TINY));
    return picture;
  }
  return make("span", {class: "excerpt", dir: "auto"}, failure.text || failure.id);
}
