/**
 * A document on a page of its own: the tabs, unfolding the form, which the browser sends, and looking now and then
 * whether the document changed.
 */

import { watchDialogs } from "./dialogs.js";
import { freshPane, markOf } from "./document_parts.js";
import { el, levelHeadings, morphChildren } from "./dom.js";
import { watchKeys } from "./keys.js";
import { watchMenus } from "./menus.js";
import { showTab } from "./tabs.js";
import { localTimes } from "./times.js";

const LOOK_EVERY_MS = 4000;

const root = /** @type {HTMLElement} */ (document.getElementById("pane"));
const form = () => /** @type {HTMLFormElement | null} */ (root.querySelector("form[data-form='save']"));
let tab = "now";

root.addEventListener("click", (event) => {
  const target = /** @type {Element} */ (event.target);
  const pressed = /** @type {HTMLElement | null} */ (target.closest("[data-tab]"));
  if (pressed) show(pressed.dataset.tab ?? "now");
  const act = /** @type {HTMLElement | null} */ (target.closest("[data-pane]"))?.dataset.pane;
  if (act === "edit") edit(true);
  if (act === "cancel") edit(false);
});
root.addEventListener("keydown", (event) => {
  const pressed = /** @type {Element} */ (event.target).closest("[role='tab'][aria-selected='true']");
  if (pressed && ["ArrowLeft", "ArrowRight"].includes(event.key)) show(tab === "now" ? "history" : "now", true);
});

/** @param {string} name @param {boolean} [focus] */
function show(name, focus = false) {
  tab = name;
  showTab(root, name, focus);
}

/** @param {boolean} on */
function edit(on) {
  const field = form();
  if (!field) return;
  const leaves = field.contains(document.activeElement);
  field.hidden = !on;
  root.toggleAttribute("data-editing", on);
  if (on) {
    show("now");
    field.querySelector("textarea")?.focus();
  } else {
    field.reset();
    if (leaves) /** @type {HTMLElement | null} */ (root.querySelector("[data-pane='edit']"))?.focus();
    look();
  }
}

/** Draw the document anew where it changed: while someone writes in it only say so, and with its menu open wait. */
async function look() {
  if (document.hidden || root.hasAttribute("data-gone")) return;
  const html = await freshPane(root.dataset.pane ?? "", markOf(root));
  if (html === "" || root.querySelector("details[open]")) return;
  if (root.hasAttribute("data-editing")) return say("It changed meanwhile. Saving tells you how.");
  if (html === null) return gone();
  const fresh = el("div");
  fresh.innerHTML = html;
  prepare(fresh);
  morphChildren(root, fresh);
  const title = root.querySelector(".head h2")?.textContent;
  const heading = document.querySelector("h1");
  if (title && heading) heading.textContent = title;
  show(tab);
}

/** @param {string} text */
function say(text) {
  const line = /** @type {HTMLElement | null} */ (root.querySelector("[data-live]"));
  if (line) Object.assign(line, { textContent: text, hidden: false });
}

function gone() {
  root.setAttribute("data-gone", "");
  root.innerHTML = "<p class=\"nothing nothing--pad\">You can no longer see this document.</p>";
}

/** @param {HTMLElement} part */
function prepare(part) {
  localTimes(part);
  part.querySelectorAll(".paper").forEach(levelHeadings);
}

watchDialogs();
watchMenus();
watchKeys();
localTimes(document);
prepare(root);
setInterval(look, LOOK_EVERY_MS);
document.addEventListener("visibilitychange", look);
