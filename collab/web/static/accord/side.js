/** The side bar's documents, kept to what the thread's page knows: how many proposals are open on each that it follows. */

import { el, unseen } from "./dom.js";

/** @param {import("./store.js").Store} store */
export function renderSide(store) {
  for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".side [data-open-document]"))) {
    const open = store.get("document", link.dataset.openDocument ?? "")?.open_proposals;
    const shown = link.querySelector(".count");
    if (open === undefined || Number(shown?.firstChild?.textContent ?? 0) === open) continue;
    shown?.remove();
    if (open) link.append(el("span.count", {}, String(open), unseen(` open proposal${open > 1 ? "s" : ""}`)));
  }
}
