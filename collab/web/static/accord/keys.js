/** The keyboard. Single letters work outside fields only, and can be turned off. None of them settles anything. */

import { openDialog } from "./dialogs.js";

const OFF = "accord.letters.off";

/** How long after G the letter that says where to may come. */
const GO_MS = 1500;
let going = 0;

/** @param {EventTarget | null} target */
const inField = (target) => target instanceof Element && Boolean(target.closest("input, textarea, select, [contenteditable]"));

/** Make the keyboard work on any page; what the page has not, its key leaves alone. */
export function watchKeys() {
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      openDialog("go-to");
    } else if (event.key === "Escape" && !document.body.hasAttribute("data-menu")) {
      document.getElementById("say")?.focus();
    } else if (!event.ctrlKey && !event.metaKey && !event.altKey && !inField(event.target) && !localStorage.getItem(OFF)) {
      letter(event);
    }
  });
  watchSwitch();
}

/** @param {KeyboardEvent} event */
function letter(event) {
  const went = going;
  // A letter between the two calls it off.
  going = 0;
  const act = /** @type {Record<string, () => void>} */ ({
    c: () => document.getElementById("say")?.focus(),
    d: () => /** @type {HTMLElement | null} */ (document.querySelector("[data-act='toggle-document']"))?.click(),
    t: () => /** @type {HTMLAnchorElement | null} */ (document.querySelector("[data-key-t]"))?.click(),
    j: () => step(1),
    k: () => step(-1),
    g: () => { going = Date.now(); },
    i: () => { if (Date.now() - went < GO_MS) /** @type {HTMLAnchorElement | null} */ (document.querySelector("[data-inbox]"))?.click(); },
    "?": () => openDialog("keys"),
  })[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  act();
}

/** Move to the next or previous item of the log. @param {number} by */
function step(by) {
  const stops = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-stop]")]);
  // The innermost: a card is a stop inside its exchange.
  const here = stops.findLastIndex((stop) => stop.contains(document.activeElement));
  const next = here < 0 ? (by > 0 ? 0 : stops.length - 1) : Math.min(stops.length - 1, Math.max(0, here + by));
  stops[next]?.focus();
}

function watchSwitch() {
  const box = /** @type {HTMLInputElement | null} */ (document.querySelector("[data-letters]"));
  if (!box) return;
  box.checked = !localStorage.getItem(OFF);
  box.addEventListener("change", () => (box.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1")));
}
