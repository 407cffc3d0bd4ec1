/** Pages that are not live: the menu, dialogs, the keyboard. */

import { watchDialogs } from "./dialogs.js";
import { watchKeys } from "./keys.js";
import { localTimes } from "./times.js";

watchDialogs();
watchKeys();
localTimes(document);

// A role is saved when it is chosen; with the arrow keys, which pass others on the way, once its field is left. Without
// scripts its form has a button.
let byKeys = false;
for (const type of ["keydown", "pointerdown"]) document.addEventListener(type, () => { byKeys = type === "keydown"; }, true);
document.addEventListener("change", (event) => {
  const field = /** @type {HTMLSelectElement} */ (event.target);
  if (!field.matches("[data-save-on-change]")) return;
  const save = () => field.form?.requestSubmit();
  if (byKeys) field.onblur = save;
  else save();
});

// A moment is typed in the reader's own time zone, and sent with it.
document.addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  const field = /** @type {HTMLInputElement | null} */ (form.querySelector("[data-moment]"));
  if (!field?.value) return;
  const zone = form.querySelector("[name='zone']") ?? form.appendChild(Object.assign(document.createElement("input"), { type: "hidden", name: "zone" }));
  /** @type {HTMLInputElement} */ (zone).value = String(new Date(field.value).getTimezoneOffset());
});
