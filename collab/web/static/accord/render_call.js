/** One call of a turn: what it does and how it ended; what it asked and brought, for who may see that; sharing it. */

import { el, icon } from "./dom.js";
import { refusal } from "./render_message.js";
import { clock, isViewer, listed, nameFor } from "./words.js";

/** @typedef {import("./store.js").Item} Item */
/** @typedef {import("./store.js").Store} Store */

/** How each outcome looks: class, icon, word. @type {Record<string, [string, string, string]>} */
const OUTCOMES = {
  done: ["done", "check", "done"],
  failed: ["failed", "x", "failed"],
  refused: ["refused", "ban", "refused"],
  pending_confirmation: ["pending", "clock", "waits for approval"],
  unknown: ["unknown", "help", "not known yet"],
  undone: ["undone", "undo", "undone"],
  not_attempted: ["not", "minus", "not attempted"],
};

const NAMED = 4;

/** What marks the part of a call where its person is asked whether to share it. @param {string} id */
export const asksToShare = (id) => `share-${id}`;

/** @param {Store} store @param {Item} call @param {Item} turn */
export function callRow(store, call, turn) {
  const [look, mark, word] = OUTCOMES[call.outcome ?? ""] ?? (turn.status === "running" ? ["run", "", "running"] : OUTCOMES.unknown);
  const because = call.outcome === "done" ? "" : call.because;
  const open = store.unfolded.has(call.id);
  return el(`li.call.call--${look}`, { "data-key": `c-${call.id}` },
    mark ? icon(mark) : el("span.spin", { "aria-hidden": "true" }),
    el("span", {}, el("span.call__does", {}, call.label), call.brief && " ", call.brief && el("span.call__args", {}, call.brief)),
    el("span.call__out", {}, word, call.shared && el("span.tag", {}, icon("people", "s"), "shared"), call.args !== null && moreButton(call, open)),
    because && el("span.call__because", {}, because),
    open && call.args !== null && more(store, call, turn),
    refusal(store, call.id));
}

/** @param {Item} call @param {boolean} open */
const moreButton = (call, open) => el("button.icon-btn.call__open", {
  type: "button", id: `co-${call.id}`, "data-act": open ? "call-close" : "call-open", "data-id": call.id,
  "aria-expanded": String(open), "aria-label": `What ${call.label} asked and brought`,
}, icon("down", "s"));

/** @param {Store} store @param {Item} call @param {Item} turn */
function more(store, call, turn) {
  return el("div.call__more", { "data-key": `cm-${call.id}` },
    el("dl", {}, el("dt", {}, "Asked"), el("dd", {}, el("pre.code", { tabindex: "0" }, readable(call.args))),
      call.result && el("dt", {}, "Brought"), call.result && el("dd", {}, el("pre.code", { tabindex: "0" }, readable(call.result)))),
    call.shared ? el("p.quiet.small", {}, `Shared with everyone here by ${nameFor(call.shared.by, store.viewer.id)} at ${clock(call.shared.at)}.`)
      : isViewer(turn.for, store.viewer.id) && call.outcome ? sharing(store, call) : null);
}

/** @param {Store} store @param {Item} call */
function sharing(store, call) {
  const id = call.id;
  if (!store.unfolded.has(asksToShare(id))) {
    return el("p.bar", {}, el("span.quiet.small", {}, "Only you see this."),
      el("button.btn.btn--s", { type: "button", id: `cs-${id}`, "data-act": "share-open", "data-id": id }, "Share…"));
  }
  return el("div.call__sure", { role: "group", "aria-labelledby": `cw-${id}` },
    el("p", { id: `cw-${id}` }, `Everyone who can see this thread will see what was asked and what came back, now and later${among(store)}. ${store.thread?.agent?.name ?? "The agent"} may tell them too. Sharing is not undone.`),
    el("div.bar.bar--end.guard", {},
      el("button.btn.btn--s.btn--plain", { type: "button", id: `cx-${id}`, "data-act": "share-close", "data-id": id }, "Cancel"),
      el("button.btn.btn--s.btn--go", { type: "button", "data-act": "share", "data-id": id }, "Share with everyone here")));
}

/** Who that is at present. @param {Store} store */
function among(store) {
  const names = store.people.filter((person) => person.id !== store.viewer.id).map((person) => person.name);
  const shown = names.length > NAMED ? [...names.slice(0, NAMED), `${names.length - NAMED} more`] : names;
  return shown.length ? `; at present ${listed(shown)}` : "";
}

/** JSON as people read it, as it was written where it is none. @param {string} text */
function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
