// Instructions: the little of Markdown that people use, as elements; text stays text.

import {make} from "./dom.js";

/** Bold, italic and code within a line. */
function inline(text) {
  return text.split(/(\*\*[^*]+\*\*|`[^`]+`|\*[^*\s][^*]*\*)/).filter(Boolean).map(part =>
    part.startsWith("**") && part.length > 4 ? make("b", {}, part.slice(2, -2)) :
    part.startsWith("`") && part.length > 2 ? make("code", {}, part.slice(1, -1)) :
    part.startsWith("*") && part.endsWith("*") && part.length > 2 ? make("em", {}, part.slice(1, -1)) : part);
}

function block(lines) {
  const heading = lines[0].match(/^#{1,6}\s+(.*)/);
  if (heading) return [make("h3", {}, ...inline(heading[1])), ...(lines.length > 1 ? block(lines.slice(1)) : [])];
  const starts = lines.findIndex(line => /^\s*([-*+]|\d+[.)])\s+/.test(line));
  if (starts > 0) return [...block(lines.slice(0, starts)), ...block(lines.slice(starts))];
  if (starts < 0) return [make("p", {}, ...inline(lines.join(" ")))];
  const items = [];
  for (const line of lines) {
    if (/^\s*([-*+]|\d+[.)])\s+/.test(line)) items.push(line.replace(/^\s*([-*+]|\d+[.)])\s+/, ""));
    else items[items.length - 1] += ` ${line.trim()}`;
  }
  return [make(/^\s*\d/.test(lines[0]) ? "ol" : "ul", {}, ...items.map(text => make("li", {dir: "auto"}, ...inline(text))))];
}

export function prose(markdown) {
  return (markdown ?? "").split(/\n\s*\n/).map(part => part.split("\n").filter(line => line.trim())).filter(lines => lines.length).flatMap(block);
}
