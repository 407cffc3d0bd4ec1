/** JSON as people read it: names and values, what is long in a box of its own, nothing hidden. */

import { el } from "./dom.js";
import { visible } from "./render_source.js";

/** Longer than this a value has a box of its own, which scrolls. */
const LINE_CHARS = 80;
const MOST_DEEP = 3;

/** @param {string} text JSON, or any text @returns {HTMLElement} */
export function definitions(text) {
  try {
    return drawn(JSON.parse(text), 1);
  } catch {
    return block(text);
  }
}

/** @param {unknown} value @param {number} deep @returns {HTMLElement} */
function drawn(value, deep) {
  if (value === null) return el("span.quiet", {}, "none");
  if (typeof value === "string") return value.length > LINE_CHARS || value.includes("\n") ? block(value) : el("span", {}, value ? visible(value) : "(empty)");
  if (typeof value !== "object") return el("span", {}, value === true ? "yes" : value === false ? "no" : String(value));
  if (deep > MOST_DEEP) return block(JSON.stringify(value));
  return Array.isArray(value) ? list(value, deep) : table(Object.entries(value), deep);
}

/** @param {[string, unknown][]} entries @param {number} deep */
function table(entries, deep) {
  if (!entries.length) return el("span.quiet", {}, "nothing");
  return el("dl.facts", {}, entries.flatMap(([name, value]) => [el("dt", {}, visible(name.replaceAll("_", " "))), el("dd", {}, drawn(value, deep + 1))]));
}

/** @param {unknown[]} values @param {number} deep */
function list(values, deep) {
  if (!values.length) return el("span.quiet", {}, "nothing");
  return el("ol.facts__list", {}, values.map((value) => el("li", {}, drawn(value, deep + 1))));
}

/** @param {string} text */
const block = (text) => el("pre.code", { tabindex: "0" }, visible(text));
