/** A document on a page of its own: the tabs, and unfolding the form, which the browser sends. */

import { watchDialogs } from "./dialogs.js";
import { levelHeadings } from "./dom.js";
import { watchKeys } from "./keys.js";
import { showTab } from "./tabs.js";
import { localTimes } from "./times.js";

const root = /** @type {HTMLElement} */ (document.getElementById("pane"));

root.addEventListener("click", (event) => {
  const target = /** @type {Element} */ (event.target);
  const tab = /** @type {HTMLElement | null} */ (target.closest("[data-tab]"));
  if (tab) showTab(root, tab.dataset.tab ?? "now");
  const act = /** @type {HTMLElement | null} */ (target.closest("[data-pane]"))?.dataset.pane;
  const form = /** @type {HTMLElement | null} */ (root.querySelector("form"));
  if (!act || !form) return;
  form.hidden = act !== "edit";
  root.toggleAttribute("data-editing", act === "edit");
  form.querySelector("textarea")?.focus();
});
root.addEventListener("keydown", (event) => {
  const tab = /** @type {Element} */ (event.target).closest("[role='tab'][aria-selected='true']");
  if (tab && ["ArrowLeft", "ArrowRight"].includes(event.key)) showTab(root, tab.id === "tab-now" ? "history" : "now", true);
});

watchDialogs();
watchKeys();
localTimes(document);
root.querySelectorAll(".paper").forEach(levelHeadings);
