/** How actors look: the shape says what, the hue says who, the words say both. */

import { el, icon } from "./dom.js";
import { hueOf } from "./words.js";

/** @typedef {import("./store.js").Actor} Actor */

/** @param {string} name */
const initial = (name) => (Array.from(name.trim())[0] ?? "?").toLocaleUpperCase();

/**
 * An actor's mark.
 * @param {Actor} actor @param {{size?: "s" | "m", for?: Actor | null}} [options] `for`: whom an agent works for
 */
export function avatar(actor, options = {}) {
  const size = options.size ? `.av--${options.size}` : "";
  const quiet = { "aria-hidden": "true" };
  switch (actor.kind) {
    case "agent":
      return el(`span.av.av--agent${size}`, quiet, initial(actor.name), options.for === undefined ? null : badge(options.for));
    case "client":
      return el(`span.av.av--client${size}`, { ...quiet, "data-hue": hueOf(actor) }, initial(actor.name));
    case "source":
      return el(`span.av.av--source${size}`, quiet, icon(actor.verified === "own clock" ? "clock" : "plug"));
    case "system":
      return el(`span.av.av--source${size}`, quiet, icon("bell", "s"));
    default:
      return el(`span.av${size}`, { ...quiet, "data-hue": actor.hue }, initial(actor.name));
  }
}

/** The badge on an agent's square. @param {Actor | null} whom */
const badge = (whom) => (whom ? el("span.av__for", { "data-hue": hueOf(whom) }, initial(whom.name)) : el("span.av__for.av__for--none"));

/** The words "for Ana". @param {Actor | null} whom */
export const forWhom = (whom) => (whom ? el("span.for", { "data-hue": hueOf(whom) }, `for ${whom.name}`) : el("span.for.for--none", {}, "for no one"));

/**
 * Who is here and who is not.
 * @param {import("./store.js").Store} store
 */
export function faces(store) {
  const here = new Set([store.viewer.id, ...store.here.map((person) => person.id)]);
  const people = store.everyone.sort((a, b) => Number(here.has(b.id)) - Number(here.has(a.id)));
  return people.slice(0, 8).map((person) => {
    const present = here.has(person.id);
    const title = [person.name, person.role, present ? "here" : "away"].filter(Boolean).join(", ");
    return el(present ? "li" : "li.only-l", { "data-key": `f-${person.id}` },
      el("span.av", { "data-hue": person.hue, title }, initial(person.name), el(present ? "span.av__here" : "span.av__here.av__here--away")));
  });
}

/** The same in a sentence. @param {import("./store.js").Store} store */
export function facesLabel(store) {
  const here = new Set([store.viewer.id, ...store.here.map((person) => person.id)]);
  const names = (/** @type {boolean} */ present) => store.everyone.filter((person) => here.has(person.id) === present).map((person) => person.name);
  const away = names(false);
  return `Here now: ${names(true).join(", ")}.${away.length ? ` Away: ${away.join(", ")}.` : ""}`;
}
