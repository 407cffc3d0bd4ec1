/** A proposal: the change, whether this viewer may accept it and why not, and how it ended. */

import { el, icon, unseen } from "./dom.js";
import { drafts, editKey } from "./proposal_drafts.js";
import { refusal, time } from "./render_message.js";
import { hueOf, inFull, nameFor } from "./words.js";

/** @typedef {import("./store.js").Item} Item */
/** @typedef {import("./store.js").Store} Store */

const VERBS = /** @type {Record<string, string>} */ ({ create: "Create", edit: "Change", archive: "Archive" });
const ENDS = /** @type {Record<string, [string, string]>} */ ({
  accepted: [".tag--ok", "check"], rejected: ["", "x"], withdrawn: ["", "undo"],
});

/** @param {Store} store @param {Item} one */
export function proposal(store, one) {
  const open = one.state === "open";
  return el(open ? "article.prop" : "article.prop.prop--closed", { id: `p-${one.id}`, "aria-labelledby": `ph-${one.id}` },
    el("header.prop__head", {},
      icon("pencil"),
      el("h3", { id: `ph-${one.id}` }, proposalTitle(one)),
      el("span.for", { "data-hue": hueOf(one.proposer) }, inFull(one.proposer)),
      time(one.at)),
    one.rationale && el("p.prop__why", {}, one.rationale),
    renames(one),
    diff(one, one.diff),
    open ? [moved(one), openFoot(store, one), editForm(store, one), rejectForm(store, one)] : [edits(store, one), closedFoot(store, one), editForm(store, one)],
    refusal(store, one.id));
}

/** What a proposal would do. @param {Item} one */
const proposalTitle = (one) => `${VERBS[one.change] ?? "Change"} ${one.renames?.was ?? one.title}`;

/** @param {Item} one */
const renames = (one) => one.renames && el("p.prop__why", {}, "Title: ",
  el("del", {}, unseen("removed: "), one.renames.was), " ", el("ins", {}, unseen("added: "), one.renames.title));

/** The same, where no diff stands below it. @param {Item} one */
export const proposalGist = (one) => (one.gist ? `${proposalTitle(one)}: ${one.gist}` : proposalTitle(one));

/** Whether the viewer may accept it and it can be made. @param {Store} store @param {Item} one */
export const acceptable = (store, one) => one.state === "open" && one.may.accept.ok && one.moved?.fits !== false && !store.thread?.archived;

/** @param {Item} one @param {any[]} lines */
function diff(one, lines) {
  if (!lines?.length) return null;
  const base = one.base_version ? `, version ${one.base_version}` : "";
  return el("div.diff", { role: "group", "aria-label": `Change to ${one.title}${base}` }, lines.map(diffLine));
}

/** @param {any} line */
function diffLine(line) {
  if (line.op === "gap") return el("div.hunk", {}, el("span.n"), el("span.sg"), el("span", {}, "…"));
  const look = /** @type {Record<string, [string, string, string]>} */ ({ add: [".add", "+", " added: "], del: [".del", "−", " removed: "] })[line.op] ?? ["", "", ""];
  return el(`div${look[0]}`, {},
    el("span.n", {}, String(line.new ?? line.old ?? "")),
    el("span.sg", {}, look[1], look[2] && unseen(look[2])),
    el("span", {}, line.spans.map((/** @type {[string, string]} */ span) => part(line.op, span))));
}

/** @param {string} op @param {[string, string]} span */
function part(op, [kind, text]) {
  if (op !== "change" || kind === "same") return text;
  return kind === "ins" ? el("ins", {}, unseen("added: "), text) : el("del", {}, unseen("removed: "), text);
}

/** Where its document went since; both texts, where it does not fit any more. @param {Item} one */
function moved(one) {
  if (!one.moved) return null;
  const { fits, because, was, now, version } = one.moved;
  return el("div.prop__moved", {},
    el("p.may", {}, icon(fits ? "clock" : "lock"), el("span", {}, because)),
    !fits && (was || now) && el("div.prop__both", {},
      el("figure", {}, el("figcaption.label", {}, `Version ${one.base_version}`), el("pre.mono", { tabindex: "0" }, was)),
      el("figure", {}, el("figcaption.label", {}, `Version ${version}`), el("pre.mono", { tabindex: "0" }, now))));
}

/** Whether the viewer may accept it, or why not. @param {Store} store @param {Item} one @returns {string} */
function eligibility({ thread }, { may, moved }) {
  if (thread?.archived) return `${thread.title} is archived; bring it back to resolve this.`;
  return may.accept.ok && moved?.fits === false ? "Nobody can accept it as it is." : may.accept.because;
}

/** @param {Store} store @param {Item} one */
function openFoot(store, one) {
  const { accept, reject, withdraw } = one.may;
  const [can, closed] = [acceptable(store, one), Boolean(store.thread?.archived)];
  const button = (/** @type {string} */ look, /** @type {string} */ act, /** @type {string} */ word, extra = {}) =>
    el(`button.btn.btn--s${look}`, { type: "button", "data-act": act, "data-id": one.id, ...extra }, word);
  const unfolds = (/** @type {string} */ key, /** @type {string} */ form) => ({ "aria-expanded": String(store.unfolded.has(key)), "aria-controls": form });
  const buttons = [
    withdraw && !closed && button("", "withdraw", "Withdraw"),
    reject && !closed && button(".btn--plain.btn--no", "reject-open", "Reject…", unfolds(one.id, `pr-${one.id}`)),
    can && one.proposed_text !== null && button("", "edit-open", "Edit and accept…", unfolds(editKey(one.id), `pe-${one.id}-form`)),
    can && button(".btn--go", "accept", "Accept"),
  ];
  return el("footer.prop__foot.guard", {},
    el(can ? "p.may.may--yes" : "p.may.may--no", {}, icon(can ? "check" : "lock"), el("span", {}, eligibility(store, one))),
    buttons.some(Boolean) && el("div.prop__acts", {}, buttons));
}

/**
 * The form keeps what is written in it, whatever becomes of the document and the proposal meanwhile.
 * @param {Store} store @param {Item} one
 */
function editForm(store, one) {
  const draft = drafts.get(one.id);
  const open = one.state === "open";
  if (!draft || !store.unfolded.has(editKey(one.id)) || (!open && draft.sent)) return null;
  const field = `pt-${one.id}`;
  return el("form.prop__edit", { id: `pe-${one.id}-form`, "data-form": "accept-edited", "data-id": one.id },
    el("label.label", { for: `${field}-title` }, "Title"),
    el("input.input", { id: `${field}-title`, name: "title", value: draft.title, maxlength: 200, autocomplete: "off" }),
    el("label.label", { for: field }, open ? "Text, as it should become" : "What you wrote; it was not used"),
    el("textarea.input.mono", { id: field, name: "text", rows: Math.min(16, draft.text.split("\n").length + 1) }, draft.text),
    draft.newest !== null && el("label.label", { for: `${field}-now` }, `What it would become by now, on version ${draft.version}`),
    draft.newest !== null && el("textarea.input.mono", { id: `${field}-now`, rows: 8, readonly: true }, draft.newest),
    el("div.bar.bar--end", {},
      open && el("p.quiet.small.start-of-bar", {}, `The history will say: proposed by ${inFull(one.proposer)}, accepted with edits by you.`),
      el("button.btn.btn--s.btn--plain", { type: "button", "data-act": "edit-close", "data-id": one.id }, open ? "Cancel" : "Close"),
      open && el("button.btn.btn--s.btn--go", {}, draft.newest === null ? "Accept with edits" : `Accept over version ${draft.version}`)));
}

/** @param {Store} store @param {Item} one */
function rejectForm(store, one) {
  if (!one.may.reject) return null;
  return el("form.prop__edit", { id: `pr-${one.id}`, hidden: !store.unfolded.has(one.id), "data-form": "reject", "data-id": one.id },
    el("label.label", { for: `prt-${one.id}` }, "Why? The proposer reads it."),
    el("input.input", { id: `prt-${one.id}`, name: "reason", maxlength: 500, autocomplete: "off" }),
    el("div.bar.bar--end", {},
      el("button.btn.btn--s.btn--plain", { type: "button", "data-act": "reject-close", "data-id": one.id }, "Cancel"),
      el("button.btn.btn--s", {}, "Reject")));
}

/** What who accepted it changed on top of it. @param {Store} store @param {Item} one */
function edits(store, one) {
  if (!one.edits) return null;
  return el("div.prop__edits", {},
    el("p.label", {}, `With edits by ${nameFor(one.resolver, store.viewer.id)}`),
    one.edits.title && el("p.small", {}, `Called ${one.edits.title}.`),
    diff(one, one.edits.diff));
}

/** @param {Store} store @param {Item} one */
function closedFoot(store, one) {
  const [look, mark] = ENDS[one.state] ?? ["", "minus"];
  const by = one.resolver ? `by ${nameFor(one.resolver, store.viewer.id)}${one.edits ? ", with edits" : ""}` : "";
  return el("footer.prop__foot", { tabindex: "-1", id: `pe-${one.id}` },
    el("p.row", {},
      el(`span.tag${look}`, {}, icon(mark, "s"), one.state),
      el("span", {}, one.reason ? `${by}: “${one.reason}”` : by),
      one.resolved_at && time(one.resolved_at)));
}
