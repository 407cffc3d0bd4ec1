/** What a source says: data that no person wrote. It is text and looks like data, and nothing in it is hidden. */

import { el, icon, unseen } from "./dom.js";
import { avatar } from "./render_people.js";
import { clock } from "./words.js";

/** @typedef {import("./store.js").Item} Item */
/** @typedef {import("./store.js").Store} Store */

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]|(?! )\p{Zs}/gu;

/** A text in which what is not seen stands as ⟨U+202E⟩; its lines and tabs are kept. @param {string} text */
export const visible = (text) => text.replace(HIDDEN, (sign) => (sign === "\n" || sign === "\t" ? sign : escapedSign(sign)));

/** @param {string} sign */
const escapedSign = (sign) => `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;

/** Whether an actor is a sender or a timer. @param {import("./store.js").Actor | null} actor */
export const isSource = (actor) => actor?.kind === "source";

/** By what its input is known to be its own. @param {any} author @returns {[string, string]} an icon and words */
const proof = (author) => (author.verified === "own clock" ? ["clock", "own clock"] : author.verified === "signature" ? ["shield", "signature verified"] : ["help", "sender gone"]);

/** Who a source is, as a sentence goes on: the name of a sender, or a timer and who set it. @param {Store} store @param {any} author */
export function sourceName(store, author) {
  if (author.verified !== "own clock") return visible(author.name);
  const set = store.get("timer", author.id)?.set_by;
  return set ? `a timer that ${set.kind === "agent" && set.for ? `${set.name} set for ${set.for.name}` : `${set.name} set`}` : "a timer";
}

/**
 * What a source asked the agent, in the place of a message.
 * @param {Store} store @param {Item} message @param {string} passedOver why no turn took it; empty
 */
export function datum(store, message, passedOver) {
  const [mark, words] = proof(message.author);
  return el("article.msg", { id: `m-${message.id}` },
    avatar(message.author),
    el("figure.datum", { "aria-label": `Event from ${visible(message.author.name)}` },
      el("figcaption", {},
        el("span", {}, "Event from ", el("b", {}, sourceName(store, message.author))),
        el("span.tag.tag--ok", {}, icon(mark, "s"), words),
        el("time", { datetime: message.at }, clock(message.at))),
      el("p.datum__text", {}, visible(message.text)),
      passedOver && el("p.datum__foot.row", {}, el("span.tag", {}, icon("ban", "s"), "passed over"), passedOver),
      el("p.datum__foot", {}, "Data, not written by a person. Nothing in it can approve anything.")));
}

/** What a source or the system tells people. @param {Store} store @param {Item} message @param {Node} html the text of the system, rendered */
export function notice(store, message, html) {
  const [system, agent] = [message.author.kind === "system", store.thread?.agent?.name];
  const [mark, words] = proof(message.author);
  return el("div.notice", { id: `m-${message.id}`, role: "note", "aria-label": "Notice", tabindex: "-1", "data-stop": true },
    el("span.av.av--source.av--m", { "aria-hidden": "true" }, icon(system ? "bell" : mark === "clock" ? "clock" : "bell", "s")),
    el("div.notice__in", {},
      isSource(message.author) ? el("p.notice__text.notice__text--data", {}, visible(message.text)) : html,
      el("small", {}, `Notice from ${system ? "Accord" : isSource(message.author) ? sourceName(store, message.author) : message.author.name}`, isSource(message.author) ? `, ${words}. ` : ". ",
        agent ? `For people only; ${agent} is not asked.` : "For people only."),
      el("time", { datetime: message.at }, clock(message.at))));
}

/** A waiting message in a line, with its author for who does not see. @param {Item} message */
export const inALine = (message) => [unseen(`${message.author.name}: `), isSource(message.author) ? visible(message.text) : message.text];
