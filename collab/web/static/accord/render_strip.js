/** The strip: whom the agent works for now, who is next, and what waits. Absent when nothing runs and nothing waits. */

import { el, icon, morphChildren, unseen } from "./dom.js";
import { refusal } from "./render_message.js";
import { avatar } from "./render_people.js";
import { inALine, isSource } from "./render_source.js";
import { now as serverNow } from "./server_clock.js";
import { Ticking } from "./ticking.js";
import { hueOf, isViewer, length, nameFor, sameAuthor } from "./words.js";

/** @typedef {import("./store.js").Item} Item */
/** @typedef {import("./store.js").Store} Store */

/** How long since a moment. */
class Elapsed extends Ticking {
  tick() {
    const since = Date.parse(this.getAttribute("since") ?? "");
    if (this.shadow) this.shadow.textContent = length((serverNow() - since) / 1000);
  }
}
customElements.define("accord-elapsed", Elapsed);

/**
 * Bring the strip up to date with the store.
 * @param {Store} store @param {HTMLElement} root
 */
export function renderStrip(store, root) {
  const [turn, waiting, held] = [store.current, store.waiting, store.held];
  root.hidden = !turn && !waiting.length && !held.length;
  const fresh = el("div");
  if (!root.hidden) {
    fresh.append(el("div.strip__now", { "data-hue": hueOf(turn?.for ?? null), "data-key": "now" }, now(store, turn, waiting)));
    if (waiting.length) fresh.append(queue(store, turn, waiting));
    if (held.length) fresh.append(el("ol.strip__next", { "aria-label": "Held", "data-key": "held" }, held.map((message) => heldRow(store, message))));
  }
  morphChildren(root, fresh);
}

/** @param {Store} store @param {Item | undefined} turn @param {Item[]} waiting */
function now(store, turn, waiting) {
  const agent = turn?.agent ?? (store.thread?.agent ? { ...store.thread.agent, kind: "agent", hue: 0, for: null } : null);
  const running = turn?.status === "running";
  return [
    agent && avatar(agent, { size: "m", for: turn ? turn.for : undefined }),
    el("p.strip__say", { role: "status", "data-key": "say" }, sentence(store, turn, waiting)),
    running && el("accord-elapsed.quiet.num.small.only-l", { since: turn.started_at, "aria-hidden": "true", "data-key": `since-${turn.id}` }),
    el("button.btn.btn--s.btn--plain.newer", { type: "button", "data-act": "latest", "data-key": "latest" }, icon("up", "s"), "Latest"),
    running && mayStop(store, turn) && el("button.btn.btn--s", { type: "button", "data-act": "stop", "data-id": turn.id, "data-key": "stop" }, icon("stop", "s"), "Stop"),
  ];
}

/** @param {Store} store @param {Item} turn */
const mayStop = (store, turn) => !turn.stop_asked_by && (isViewer(turn.for, store.viewer.id) || store.may("manage").ok);

/** @param {Store} store @param {Item | undefined} turn @param {Item[]} waiting @returns {(Node | string)[]} */
function sentence(store, turn, waiting) {
  const agent = turn?.agent.name ?? store.agentName;
  const whom = nameFor(turn?.for ?? null, store.viewer.id);
  if (!turn && !waiting.length) return [`${agent} asks what a message means, and holds it.`];
  if (!turn) return [`${agent} starts next for `, isSource(waiting[0].author) ? "no one" : name(waiting[0].author, store), "."];
  if (turn.status === "paused") return [`${agent} waits for an answer. `, el("b", {}, "The next message is the answer"), "."];
  if (turn.stop_asked_by) return [`${agent} is stopping: ${nameFor(turn.stop_asked_by, store.viewer.id)} asked it to.`];
  const next = waiting.find((message) => !sameAuthor(message.author, turn.for ?? turn.origin));
  const says = [`${agent} `, el("b", {}, `works for ${whom}`), " now"];
  if (!next) return [...says, "."];
  return [...says, "; ", name(next.author, store), isViewer(next.author, store.viewer.id) ? " are next." : " is next."];
}

/** @param {import("./store.js").Actor} actor @param {Store} store */
const name = (actor, store) => el("span.next", { "data-hue": hueOf(actor) }, nameFor(actor, store.viewer.id));

/** @param {Store} store @param {Item | undefined} turn @param {Item[]} waiting */
function queue(store, turn, waiting) {
  return el("ol.strip__next", { "aria-label": "Waiting for the next turn", "data-key": "queue" },
    waiting.map((message, place) => el("li.wait", { id: `w-${message.id}` },
      avatar(message.author, { size: "s" }),
      el("span.wait__text", {}, inALine(message)),
      isViewer(message.author, store.viewer.id)
        ? el("button.btn.btn--plain.btn--s", { type: "button", "data-act": "cancel", "data-id": message.id }, "Cancel", unseen(" this message"))
        : el("span.wait__why", {}, reason(turn, waiting, place)),
      refusal(store, message.id))));
}

const MEANINGS = [["adds", "Adds to it"], ["independent", "Independent"], ["revises", "Changes it"]];

/** A message that no turn takes until its author says what it means. @param {Store} store @param {Item} message */
function heldRow(store, message) {
  const theirs = isViewer(message.author, store.viewer.id);
  const agent = store.agentName;
  return el("li.wait.wait--held", { id: `w-${message.id}` },
    avatar(message.author, { size: "s" }),
    el("span.wait__text", {}, inALine(message)),
    theirs && el("button.btn.btn--plain.btn--s", { type: "button", "data-act": "cancel", "data-id": message.id }, "Cancel", unseen(" this message")),
    theirs ? el("div.wait__ask.guard", { role: "group", "aria-labelledby": `wh-${message.id}` },
      el("p", { id: `wh-${message.id}` }, `${message.because || `${agent} cannot tell what this means for its work.`} Which is it?`),
      el("div.bar", {}, MEANINGS.map(([meant, word]) => el("button.btn.btn--s", { type: "button", "data-act": "mean", "data-id": message.id, "data-value": meant }, word))))
      : el("span.wait__why", {}, `held: ${agent} asked ${message.author.name} what it means`),
    refusal(store, message.id));
}

/** @param {Item | undefined} turn @param {Item[]} waiting @param {number} place */
function reason(turn, waiting, place) {
  const author = waiting[place].author;
  if (place && sameAuthor(waiting[place - 1].author, author)) return "same turn";
  if (!turn) return "starts now";
  if (turn.status === "paused") return "waits: a question is open";
  return sameAuthor(turn.for ?? turn.origin, author) && !place ? "joins the running turn" : "waits: another person’s turn";
}
