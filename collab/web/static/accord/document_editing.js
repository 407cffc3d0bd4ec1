/** Who else writes in a document: said by their pages now and then, forgotten when they no longer say so. */

import { el } from "./dom.js";
import { listed } from "./words.js";

const SAY_EVERY_MS = 20_000;
const FORGET_AFTER_MS = 45_000;

/** @typedef {{id: string, name: string, hue: number}} Person */

export class Editing {
  /** @param {import("./socket.js").Connection} connection @param {() => void} changed */
  constructor(connection, changed) {
    this.connection = connection;
    this.changed = changed;
    /** What this page's person writes in. @type {string | null} */
    this.own = null;
    /** @type {Map<string, {person: Person, document: string, until: number}>} */
    this.others = new Map();
    connection.addEventListener("editing", (event) => this.take(/** @type {CustomEvent} */ (event).detail));
    setInterval(() => this.tick(), SAY_EVERY_MS);
  }

  /** Say what this page's person writes in; null when they no longer do. @param {string | null} document */
  say(document) {
    if (document === this.own && !document) return;
    this.own = document;
    this.connection.send({ type: "writing", document });
  }

  /** @param {{person: Person, document: string | null}} frame */
  take({ person, document }) {
    if (document) this.others.set(person.id, { person, document, until: Date.now() + FORGET_AFTER_MS });
    else this.others.delete(person.id);
    this.changed();
  }

  tick() {
    if (this.own) this.connection.send({ type: "writing", document: this.own });
    for (const [id, { until }] of this.others) if (until < Date.now()) this.others.delete(id);
    this.changed();
  }

  /** @param {HTMLElement | null} line @param {string} document */
  render(line, document) {
    if (!line) return;
    const people = [...this.others.values()].filter((one) => one.document === document).map((one) => one.person);
    const faces = people.map(({ name, hue }) => el("span.av.av--xs", { "data-hue": hue, "aria-hidden": "true" }, name[0].toUpperCase()));
    const words = people.length ? `${listed(people.map(({ name }) => name))} ${people.length > 1 ? "are" : "is"} editing` : "";
    line.hidden = !people.length;
    if (line.textContent !== faces.map((face) => face.textContent).join("") + words) line.replaceChildren(...faces, el("span", {}, words));
  }
}
