// The estimate and its interval over the labels.

import {count, draw} from "./dom.js";

const WIDTH = 520, HEIGHT = 210;
const LEFT = 46, RIGHT = 10, TOP = 10, BOTTOM = 26;

/** Round steps that give three to five lines between two values. */
export function ticks(low, high) {
  const rough = (high - low) / 4.5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map(n => n * power).find(s => s >= rough);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(i * step);
  return found;
}

function range(points, metric) {
  const finite = points.flatMap(p => [p.low, p.high, p.value]).filter(Number.isFinite).sort((a, b) => a - b);
  let [low, high] = [finite[0], finite.at(-1)];
  if (metric === "accuracy") [low, high] = [Math.max(0, low), Math.min(1, high)];
  const pad = (high - low) * 0.06 || 0.01;
  return metric === "accuracy" ? [Math.max(0, low - pad), Math.min(1, high + pad)] : [low - pad, high + pad];
}

export function shown(value, metric) {
  return metric === "accuracy" ? `${Number((100 * value).toFixed(1))} %` : String(Number(value.toPrecision(3)));
}

/** `points`: labels, value, low, high; at least two of them. */
export function chart(points, {metric, sentence}) {
  const [bottom, top] = range(points, metric);
  const [first, last] = [points[0].labels, points.at(-1).labels];
  const x = labels => LEFT + (labels - first) / (last - first || 1) * (WIDTH - LEFT - RIGHT);
  const y = value => TOP + (top - Math.min(Math.max(value, bottom), top)) / (top - bottom || 1) * (HEIGHT - TOP - BOTTOM);
  const spot = (labels, value) => `${x(labels).toFixed(1)},${y(value).toFixed(1)}`;
  const banded = points.filter(p => Number.isFinite(p.low) && Number.isFinite(p.high));
  const band = [...banded.map(p => spot(p.labels, p.high)), ...banded.map(p => spot(p.labels, p.low)).reverse()].join(" ");
  const end = points.at(-1);
  return draw("svg", {class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `How the estimate developed. ${sentence}`},
    ...ticks(bottom, top).flatMap(value => [
      draw("line", {class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value)}),
      draw("text", {class: "tick", x: LEFT - 6, y: y(value) + 3.5, "text-anchor": "end"}, shown(value, metric)),
    ]),
    draw("polygon", {class: "band", points: band}),
    draw("polyline", {class: "line", points: points.map(p => spot(p.labels, p.value)).join(" ")}),
    draw("circle", {class: "dot", cx: x(end.labels), cy: y(end.value), r: 4}),
    draw("text", {class: "tick", x: LEFT, y: HEIGHT - 8}, count(first, "label")),
    draw("text", {class: "tick", x: WIDTH - RIGHT, y: HEIGHT - 8, "text-anchor": "end"}, String(last)));
}
