/** A proposal: the change, whether this viewer may accept it and why not, and how it ended. */

import { el, icon, unseen } from "./dom.js";
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
      el("h3", { id: `ph-${one.id}` }, title(one)),
      el("span.for", { "data-hue": hueOf(one.proposer) }, inFull(one.proposer)),
      time(one.at)),
    one.rationale && el("p.prop__why", {}, one.rationale),
    diff(one),
    open ? [openFoot(store, one), rejectForm(store, one)] : closedFoot(store, one),
    refusal(store, one.id));
}

/** @param {Item} one */
const title = (one) => `${VERBS[one.change] ?? "Change"} ${one.title}`;

/** @param {Item} one */
function diff(one) {
  if (!one.diff?.length) return null;
  const base = one.base_version ? `, version ${one.base_version}` : "";
  return el("div.diff", { role: "group", "aria-label": `Change to ${one.title}${base}` }, one.diff.map(diffLine));
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

/** @param {Store} store @param {Item} one */
function openFoot(store, one) {
  const may = one.may?.accept ?? { ok: false, because: "" };
  const button = (/** @type {string} */ look, /** @type {string} */ act, /** @type {string} */ word, extra = {}) =>
    el(`button.btn.btn--s${look}`, { type: "button", "data-act": act, "data-id": one.id, ...extra }, word);
  return el("footer.prop__foot.guard", {},
    el(may.ok ? "p.may.may--yes" : "p.may.may--no", {}, icon(may.ok ? "check" : "lock"), el("span", {}, may.because)),
    one.may?.withdraw && button("", "withdraw", "Withdraw"),
    may.ok && button(".btn--plain.btn--no", "reject-open", "Reject…", { "aria-expanded": String(store.unfolded.has(one.id)), "aria-controls": `pr-${one.id}` }),
    may.ok && button(".btn--go", "accept", "Accept"));
}

/** @param {Store} store @param {Item} one */
function rejectForm(store, one) {
  if (!one.may?.accept?.ok) return null;
  return el("form.prop__edit", { id: `pr-${one.id}`, hidden: !store.unfolded.has(one.id), "data-form": "reject", "data-id": one.id },
    el("label.label", { for: `prt-${one.id}` }, "Why? The proposer reads it."),
    el("input.input", { id: `prt-${one.id}`, name: "reason", maxlength: 500, autocomplete: "off" }),
    el("div.bar.bar--end", {},
      el("button.btn.btn--s.btn--plain", { type: "button", "data-act": "reject-close", "data-id": one.id }, "Cancel"),
      el("button.btn.btn--s", {}, "Reject")));
}

/** @param {Store} store @param {Item} one */
function closedFoot(store, one) {
  const [look, mark] = ENDS[one.state] ?? ["", "minus"];
  const by = one.resolver ? `by ${nameFor(one.resolver, store.viewer.id)}` : "";
  return el("footer.prop__foot", { tabindex: "-1", id: `pe-${one.id}` },
    el("p.row", {},
      el(`span.tag${look}`, {}, icon(mark, "s"), one.state),
      el("span", {}, one.reason ? `${by}: “${one.reason}”` : by),
      one.resolved_at && time(one.resolved_at)));
}
