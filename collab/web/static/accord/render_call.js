/** One call of a turn: what it does and how it ended; what it asked and brought, for who may see that; sharing it. */

import { definitions } from "./definitions.js";
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

/** What is said where a call was checked and is still not known. @param {string} id */
export const checkedKey = (id) => `checked-${id}`;

/** How an outcome looks: class, icon, word. @param {string | null} outcome */
export const outcomeOf = (outcome) => OUTCOMES[outcome ?? ""] ?? OUTCOMES.unknown;

/** @param {Store} store @param {Item} call @param {Item} turn */
export function callRow(store, call, turn) {
  const [look, mark, word] = lookOf(call, turn);
  const open = store.unfolded.has(call.id);
  const told = call.args !== null;
  return el(`li.call.call--${look}`, { id: `ci-${call.id}`, tabindex: "-1" },
    mark ? icon(mark) : el("span.spin", { "aria-hidden": "true" }),
    el("span", {}, el("span.call__does", {}, call.label), call.brief && " ", call.brief && el("span.call__args", {}, call.brief)),
    el("span.call__out", {}, call.outcome === "pending_confirmation" ? waitsFor(store, call, word) : word, call.shared && el("span.tag", {}, icon("people", "s"), "shared"), told && moreButton(call, open)),
    notes(store, call).map((note) => el("span.call__because", {}, note)),
    open && told && more(store, call, turn),
    (open || !told) && undoing(store, call),
    unknownActs(store, call),
    refusal(store, call.id));
}

/** @param {Item} call @param {Item} turn @returns {[string, string, string]} */
function lookOf(call, turn) {
  if (call.gone && call.outcome === "done") return ["not", "minus", "gone"];
  if (!call.outcome && turn.status === "running") return ["run", "", "running"];
  return outcomeOf(call.outcome);
}

/** @param {Store} store @param {Item} call @param {string} otherwise */
function waitsFor(store, call, otherwise) {
  const action = store.all("action").find((one) => one.state === "open" && one.steps.some((/** @type {any} */ step) => step.call === call.id));
  return action ? el("a.link", { href: `#a-${action.id}` }, `waits for A${action.number}`) : otherwise;
}

/** What there is to say of how it ended. @param {Store} store @param {Item} call @returns {string[]} */
function notes(store, call) {
  const because = call.outcome === "pending_confirmation" || (call.outcome === "done" && !call.reason) ? "" : call.because;
  const again = call.outcome === "unknown" && call.can?.repeat === false;
  return [because, call.gone && `It is gone, says ${call.gone.says}.`, again && `${store.agentName} may do it once more, when asked for it again.`].filter(Boolean);
}

/** @param {Item} call @param {boolean} open */
const moreButton = (call, open) => el("button.icon-btn.call__open", {
  type: "button", id: `co-${call.id}`, "data-act": open ? "call-close" : "call-open", "data-id": call.id,
  "aria-expanded": String(open), "aria-label": `What ${call.label} asked and brought`,
}, icon("down", "s"));

/** @param {Store} store @param {Item} call @param {Item} turn */
function more(store, call, turn) {
  return el("div.call__more", { "data-key": `cm-${call.id}` },
    el("dl", {}, el("dt", {}, "Asked"), el("dd", {}, definitions(call.args)),
      call.result && el("dt", {}, "Brought"), call.result && el("dd", {}, definitions(call.result))),
    call.shared ? el("p.quiet.small", {}, `Shared with everyone here by ${nameFor(call.shared.by, store.viewer.id)} at ${clock(call.shared.at)}.`)
      : isViewer(turn.for, store.viewer.id) && call.outcome ? sharing(store, call) : null);
}

/** Whether the viewer is whom a call was for, or approved it. @param {Store} store @param {Item} call */
const isTheirs = (store, call) => (call.whose ?? []).includes(store.viewer.id) && !store.thread?.archived;

/** What can be done about a call of which nobody knows what became of it. @param {Store} store @param {Item} call */
function unknownActs(store, call) {
  const { check, repeat } = call.can ?? {};
  const asks = repeat && isTheirs(store, call);
  if (!check && !asks) return null;
  const [key, checked] = [sureKey("repeat", call.id), store.refusals.get(checkedKey(call.id))];
  if (asks && store.unfolded.has(key)) {
    return sure(call, key, "repeat", "Allow it again", `Nobody knows whether ${call.label.toLowerCase()} was done. If it was, doing it again makes it happen twice. ${store.agentName} may then do it once more with the same arguments.`);
  }
  return [
    el("p.bar.call__acts.guard", {},
      check && el("button.btn.btn--s", { type: "button", "data-act": "check", "data-id": call.id }, "Check now"),
      asks && opener(call, key, "Do it again…")),
    checked && el("p.call__because", { role: "alert" }, checked),
  ];
}

/** Taking back what was done. @param {Store} store @param {Item} call */
function undoing(store, call) {
  if (!call.can?.undo || !isTheirs(store, call)) return null;
  const key = sureKey("undo", call.id);
  if (store.unfolded.has(key)) return sure(call, key, "undo", "Undo it", `This takes back what ${call.label.toLowerCase()} did. It is asked for once.`);
  return el("p.bar.call__acts.guard", {}, opener(call, key, "Undo…"));
}

/** What marks a call of which its person is asked whether they are sure. @param {string} act @param {string} id */
const sureKey = (act, id) => `${act}-${id}`;

/** @param {Item} call @param {string} key @param {string} word */
const opener = (call, key, word) => el("button.btn.btn--s.btn--plain", { type: "button", id: `o-${key}`, "data-act": "show", "data-part": key, "data-focus": `x-${key}` }, word);

/** @param {Item} call @param {string} key @param {string} act @param {string} word @param {string} says */
function sure(call, key, act, word, says) {
  return el("div.call__sure", { role: "group", "aria-labelledby": `w-${key}`, "data-key": key },
    el("p", { id: `w-${key}` }, says),
    el("div.bar.bar--end.guard", {},
      el("button.btn.btn--s.btn--plain", { type: "button", id: `x-${key}`, "data-act": "hide", "data-part": key, "data-focus": `o-${key}` }, "Cancel"),
      el("button.btn.btn--s.btn--go", { type: "button", "data-act": act, "data-id": call.id, "data-part": key }, word)));
}

/** @param {Store} store @param {Item} call */
function sharing(store, call) {
  const id = call.id;
  if (!store.unfolded.has(asksToShare(id))) {
    return el("p.bar", {}, el("span.quiet.small", {}, "Only you see this."),
      el("button.btn.btn--s", { type: "button", id: `cs-${id}`, "data-act": "share-open", "data-id": id }, "Share…"));
  }
  return el("div.call__sure", { role: "group", "aria-labelledby": `cw-${id}` },
    el("p", { id: `cw-${id}` }, `Everyone who can see this thread will see what was asked and what came back, now and later${among(store)}. ${store.agentName} may tell them too. Sharing is not undone.`),
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
