/** One button for several proposals that the viewer may accept, its confirmation, and what came of it. */

import { el, icon } from "./dom.js";
import { told } from "./proposal_drafts.js";
import { acceptable, proposalGist } from "./render_proposal.js";

/** @typedef {import("./store.js").Item} Item */
/** @typedef {import("./store.js").Store} Store */

const MOST = 50;

/**
 * The bar of a turn or, behind the log, of the thread where no one turn proposed them all; nothing for fewer than two.
 * @param {Store} store @param {string} key the turn's id, or "thread"
 */
export function acceptAll(store, key) {
  const ones = allOf(store, key);
  const came = stillNews(store, told.get(key));
  if (!ones.length && !came) return null;
  return el("div.all", { "data-key": `all-${key}` },
    came && el("p.row", { id: `all-${key}-told`, role: "status", tabindex: "-1" }, came),
    ones.length > 0 && offer(store, key, ones));
}

/** What came of it, until somebody says something after it. @param {Store} store @param {{words: string, seq: number} | undefined} came */
const stillNews = (store, came) => (came && !store.all("message").some((message) => message.seq > came.seq) ? came.words : "");

/** The proposals that a bar accepts. @param {Store} store @param {string} key @returns {Item[]} */
export function allOf(store, key) {
  const every = store.all("proposal").filter((one) => acceptable(store, one));
  const ones = key === "thread" ? every : every.filter((one) => one.turn === key);
  const isOneTurns = key === "thread" && ones.every((one) => one.turn && one.turn === ones[0].turn);
  return ones.length < 2 || isOneTurns ? [] : ones.slice(0, MOST);
}

/** @param {Store} store @param {string} key @param {Item[]} ones */
function offer(store, key, ones) {
  const unfolded = store.unfolded.has(`all-${key}`);
  return [
    el("div.bar.guard", { hidden: unfolded },
      el("button.btn.btn--s", { type: "button", "data-act": "all-open", "data-id": key, "aria-expanded": String(unfolded), "aria-controls": `all-${key}-form` }, `Accept all ${ones.length}…`)),
    el("form.prop__edit.all__form", { id: `all-${key}-form`, hidden: !unfolded, "data-form": "accept-all", "data-id": key },
      el("p", {}, `Accept these ${ones.length} suggestions? Each is checked by itself; one that can’t be made stays open.`),
      el("ul.b", {}, ones.map((one) => el("li", {}, proposalGist(one)))),
      el("div.bar.bar--end", {},
        el("button.btn.btn--s.btn--plain", { type: "button", "data-act": "all-close", "data-id": key }, "Cancel"),
        el("button.btn.btn--s.btn--go", {}, icon("check", "s"), `Accept all ${ones.length}`))),
  ].flat();
}
