/** The inbox: fetched again when what waits has changed, and after each act; nothing moves while someone writes why. */

import { watchDialogs } from "./dialogs.js";
import { el, icon, morphChildren } from "./dom.js";
import { watchKeys } from "./keys.js";
import { localTimes } from "./times.js";

const root = /** @type {HTMLElement} */ (document.getElementById("inbox"));

/** Bring the list to what a page of the server shows. @param {Response} answer @param {boolean} keepsSaid */
async function show(answer, keepsSaid) {
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById(root.id);
  if (!answer.ok || !fresh) return location.reload();
  localTimes(fresh);
  if (keepsSaid) fresh.prepend(...[...root.querySelectorAll(":scope > [role]")].map((said) => said.cloneNode(true)));
  for (const open of root.querySelectorAll("[data-key] details[open]")) {
    const key = open.closest("[data-key]")?.getAttribute("data-key");
    fresh.querySelector(`[data-key="${key}"] details`)?.setAttribute("open", "");
  }
  morphChildren(root, document.adoptNode(fresh));
}

/** Say that an act did not reach the server. */
function unsent() {
  root.querySelectorAll(":scope > [role]").forEach((said) => said.remove());
  const line = el("p.refusal", { role: "alert", tabindex: "-1" }, icon("ban"), el("span", {}, "The server can’t be reached. Press it again later; it is done once."));
  root.prepend(line);
  line.focus();
}

/** One fetch after another, so that a slow one never overwrites what came after it. */
let last = Promise.resolve();

/** @param {() => Promise<void>} work */
function next(work) {
  last = last.then(work, work);
}

async function refresh() {
  const answer = await fetch(location.href).catch(() => null);
  if (answer?.ok) await show(answer, true);
}

/** @param {HTMLFormElement} form @param {HTMLElement | null} button */
async function send(form, button) {
  // Not form.action: a field may have that name.
  const answer = await fetch(form.getAttribute("action") ?? "", { method: "POST", body: new FormData(form, button) }).catch(() => null);
  if (!answer) return unsent();
  await show(answer, false);
  const said = /** @type {HTMLElement | null} */ (root.querySelector(":scope > [role]"));
  if (!said) return;
  said.tabIndex = -1;
  said.focus();
}

root.addEventListener("submit", (event) => {
  event.preventDefault();
  const form = /** @type {HTMLFormElement} */ (event.target);
  next(() => send(form, event.submitter));
});
document.addEventListener("waits", () => next(refresh));

watchDialogs();
watchKeys();
localTimes(document);
