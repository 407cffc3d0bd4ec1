/** Times the server wrote, in the reader's own time zone. */

import { fullClock, when } from "./words.js";

/** Rewrite the times below a node. @param {ParentNode} root */
export function localTimes(root) {
  for (const time of /** @type {NodeListOf<HTMLTimeElement>} */ (root.querySelectorAll("time[data-when]"))) {
    time.textContent = time.dataset.when === "clock" ? fullClock(time.dateTime) : when(time.dateTime);
  }
}
