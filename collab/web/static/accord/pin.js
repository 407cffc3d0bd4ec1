/** The line over the log that says what waits for the viewer while its card is out of sight. */

import { el, morphChildren } from "./dom.js";
import { countdown, yours } from "./render_action.js";

/** @typedef {import("./store.js").Item} Item */
/** @typedef {import("./store.js").Store} Store */

/** How much of a card, or of what the log shows, makes it be in sight. */
const ENOUGH = 0.6;

export class Pin {
  /** @param {HTMLElement} root @param {HTMLElement} log @param {Store} store */
  constructor(root, log, store) {
    this.root = root;
    this.store = store;
    /** @type {Map<string, boolean>} whether each card is in sight, by its id */
    this.sight = new Map();
    this.observer = new IntersectionObserver((seen) => this.look(seen), { root: log, threshold: [0, 0.2, 0.4, ENOUGH, 0.8, 1] });
    /** @type {Set<Element>} */
    this.watched = new Set();
  }

  /** @param {IntersectionObserverEntry[]} seen */
  look(seen) {
    for (const entry of seen) this.sight.set(entry.target.id, isInSight(entry));
    this.draw();
  }

  /** Watch the cards of what waits for the viewer, and draw. */
  render() {
    const cards = waiting(this.store).map(({ id }) => document.getElementById(id)).filter((card) => card !== null);
    for (const card of this.watched) {
      if (cards.includes(/** @type {HTMLElement} */ (card))) continue;
      this.observer.unobserve(card);
      this.watched.delete(card);
      this.sight.delete(card.id);
    }
    for (const card of cards) {
      if (this.watched.has(card)) continue;
      this.watched.add(card);
      this.observer.observe(card);
    }
    this.draw();
  }

  draw() {
    const one = waiting(this.store).find(({ id }) => this.sight.get(id) === false);
    morphChildren(this.root, el("div", {}, one ? line(one) : null));
  }
}

/** Behind the document, on small screens, no card is in sight. @param {IntersectionObserverEntry} entry */
function isInSight({ isIntersecting, intersectionRatio, intersectionRect, rootBounds }) {
  return isIntersecting && (intersectionRatio >= ENOUGH || intersectionRect.height >= ENOUGH * (rootBounds?.height ?? Infinity));
}

/** @typedef {{id: string, mark: string, text: string, action: Item | null}} Waits */

/** What waits for the viewer here, an action first. @param {Store} store @returns {Waits[]} */
function waiting(store) {
  const actions = yours(store).map((one) => ({ id: `a-${one.id}`, mark: `A${one.number}`, text: steps(one), action: one }));
  if (!store.may("start_turn").ok) return actions;
  const questions = store.all("question").filter((one) => one.state === "open" && store.current?.id === one.turn);
  return [...actions, ...questions.map((one) => ({ id: `q-${one.id}`, mark: "?", text: one.text, action: null }))];
}

/** @param {Item} one */
function steps(one) {
  const [first, ...rest] = one.steps.map((/** @type {any} */ step) => step.label.toLowerCase());
  return [first, ...rest].join(", then ");
}

/** @param {Waits} one */
function line({ id, mark, text, action }) {
  return el("div.pin", { "data-key": `pin-${id}` },
    el("span.ask__id", { "aria-hidden": action ? null : "true" }, mark),
    el("span.pin__text", {}, el("b", {}, action ? "Waits for you: " : "Asks you: "), text),
    action && countdown(action, { "aria-hidden": "true" }),
    el("a.btn.btn--s", { href: `#${id}` }, "Show"));
}
