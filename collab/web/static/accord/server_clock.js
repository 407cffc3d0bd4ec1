/**
 * The server's clock, as far as this page has heard it: what counts down is drawn from it, never from the local clock
 * alone. Until the server has said what time it is, nobody knows how much is left, and nothing is drawn.
 */

import { Ticking } from "./ticking.js";
import { length } from "./words.js";

const MINUTE_MS = 60_000;

/** Moments before an end at which what is said of it changes. */
const TOLD_MS = [5 * MINUTE_MS, MINUTE_MS, 0];

/** Longer than this a browser's timer does not wait. */
export const LONGEST_WAIT_MS = 2 ** 31 - 1;

/** @type {number | null} how far the server's clock is ahead of the local one */
let ahead = null;

/** Take the moment that the server said it is. @param {string} at */
export function heard(at) {
  const moment = Date.parse(at);
  if (Number.isNaN(moment)) return;
  ahead = moment - Date.now();
  for (const one of document.querySelectorAll("accord-countdown")) /** @type {Countdown} */ (one).tick();
}

/** The server's moment, in milliseconds; until it has said one, the local clock's. */
export const now = () => Date.now() + (ahead ?? 0);

/** How many milliseconds are left until a moment; null where nobody knows yet. @param {string} until */
export const leftMs = (until) => (ahead === null ? null : Math.max(0, Date.parse(until) - now()));

/** Whether the last minute before a moment has begun. @param {string} until */
export const isLate = (until) => (leftMs(until) ?? Infinity) <= MINUTE_MS;

/** How many whole minutes are left, where that is said: 5, 1, or nothing. @param {string} until @returns {number | null} */
export function minutesTold(until) {
  const left = leftMs(until) ?? Infinity;
  if (left === 0 || left > 5 * MINUTE_MS) return null;
  return left <= MINUTE_MS ? 1 : 5;
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** Call `then` when what is said of some moments changes next. @param {string[]} untils @param {() => void} then */
export function whenToldAnew(untils, then) {
  clearTimeout(timer);
  const waits = untils.flatMap((until) => TOLD_MS.map((before) => (leftMs(until) ?? 0) - before)).filter((ms) => ms > 0);
  if (waits.length) timer = setTimeout(then, Math.min(Math.min(...waits) + 20, LONGEST_WAIT_MS));
}

/** The time left until a moment, of a whole: a dial and minutes. The stylesheet reaches the dial as a part. */
class Countdown extends Ticking {
  tick() {
    const left = leftMs(this.getAttribute("until") ?? "");
    if (!this.shadow) return;
    this.dial ??= this.shadow.appendChild(Object.assign(document.createElement("span"), { part: "dial" }));
    this.words ??= this.shadow.appendChild(document.createElement("span"));
    this.dial.style.setProperty("--left", String(Math.min(1, (left ?? 0) / (Number(this.getAttribute("of")) || 1))));
    this.words.textContent = left === null ? "–:––" : length(Math.ceil(left / 1000));
  }
}
customElements.define("accord-countdown", Countdown);
