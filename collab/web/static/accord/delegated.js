/** Delegation in time: what the thread's head says while it stands, and that it stops saying so when it is over. */

import { el, icon } from "./dom.js";
import { LONGEST_WAIT_MS, now } from "./server_clock.js";
import { when } from "./words.js";

/** @typedef {import("./store.js").Item} Item */
/** @typedef {import("./store.js").Store} Store */

const SOON_MS = 100;

/** What an agent may do here, by the level it was given. @type {Record<string, string>} */
const MAY = { allow: "may edit here", propose: "only suggests changes here", deny: "changes no document here" };

/** What stands for the thread's agent at this moment. @param {Store} store @returns {Item | null} */
export function delegation(store) {
  const one = store.thread?.delegation;
  return one && Date.parse(one.until) > now() ? one : null;
}

/** What stands, with who gave it and why. @param {string} agent @param {Item} one */
function delegationWords(agent, one) {
  const given = [one.by?.name, one.reason].filter(Boolean).join(": ");
  return `${agent} ${MAY[one.level]} until ${when(one.until)}${given && ` (${given})`}`;
}

/** What stands, in a few words. @param {string} agent @param {Item} one */
export const delegationInShort = (agent, one) => `${agent} ${MAY[one.level]}`;

/** The line below the thread's head, with the button that ends it for who manages the thread. @param {Store} store @returns {HTMLElement | null} */
export function delegationLine(store) {
  const [one, agent] = [delegation(store), store.thread?.agent?.name];
  if (!one || !agent) return null;
  return el("p.lent", { role: "status", "data-key": "lent" }, icon("clock", "s"), el("span", {}, delegationWords(agent, one)),
    store.may("manage").ok && el("button.btn.btn--s.btn--plain", { type: "button", "data-act": "delegation-end", "data-id": store.threadId }, "End"));
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** Draw anew once it is over. @param {Store} store */
export function redrawWhenOver(store) {
  clearTimeout(timer);
  const one = delegation(store);
  if (one) timer = setTimeout(() => store.changed(), Math.min(Date.parse(one.until) - now() + SOON_MS, LONGEST_WAIT_MS));
}
