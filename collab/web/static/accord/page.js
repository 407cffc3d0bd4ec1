/** Pages that are not live: the menu, dialogs, the keyboard. */

import { watchDialogs } from "./dialogs.js";
import { watchKeys } from "./keys.js";
import { localTimes } from "./times.js";

watchDialogs();
watchKeys();
localTimes(document);

// A role is saved when it is chosen; without scripts its form has a button.
document.addEventListener("change", (event) => {
  const field = /** @type {Element} */ (event.target);
  if (field.matches("[data-save-on-change]")) /** @type {HTMLSelectElement} */ (field).form?.requestSubmit();
});
