/** A pending action: exactly what would be done, for whom it waits and how long, and how it ended. */

import { definitions } from "./definitions.js";
import { el, icon, unseen } from "./dom.js";
import { outcomeOf } from "./render_call.js";
import { refusal, time } from "./render_message.js";
import { isSource, sourceName } from "./render_source.js";
import { isLate, minutesTold, whenToldAnew } from "./server_clock.js";
import { clock, isViewer, nameFor } from "./words.js";

/** @typedef {import("./store.js").Item} Item */
/** @typedef {import("./store.js").Store} Store */

/** What marks an action whose decliner writes why. @param {string} id */
export const declineKey = (id) => `decline-${id}`;

/** @param {Store} store @param {Item} one */
export function actionCard(store, one) {
  const open = one.state === "open";
  return el(open ? "article.ask" : "article.ask.ask--closed", { id: `a-${one.id}`, "aria-labelledby": `an-${one.id} ah-${one.id}`, tabindex: "-1", "data-stop": true },
    head(store, one, open),
    el("ol.steps", {}, one.steps.map((/** @type {any} */ step) => stepRow(store, step, one.state === "approved"))),
    open && el("p.ask__why", {}, why(store, one)),
    open ? openFoot(store, one) : closedFoot(store, one),
    open && declineForm(store, one),
    refusal(store, one.id));
}

/** @param {Store} store @param {Item} one @param {boolean} open */
function head(store, one, open) {
  return el("header.ask__head", {},
    el("span.ask__id", { id: `an-${one.id}` }, `A${one.number}`),
    el("h3", { id: `ah-${one.id}` }, open ? asks(store, one) : ended(store, one)),
    open ? countdown(one, { role: "timer", "aria-label": `Time left for A${one.number}` })
      : [el("span.spacer"), el(`span.tag${one.state === "approved" ? ".tag--ok" : one.state === "failed" ? ".tag--no" : ""}`, {}, one.state)]);
}

/** @param {Store} store @param {Item} one */
const asks = (store, one) => (isViewer(one.for, store.viewer.id) ? one.title.replace(` asks ${one.for.name} to approve `, " asks you to approve ") : one.title);

/** The time left. @param {Item} one @param {Record<string, string>} told how it is read aloud */
export function countdown(one, told) {
  const whole = Date.parse(one.expires_at) - Date.parse(one.asked_at);
  return el(isLate(one.expires_at) ? "accord-countdown.clock.clock--late" : "accord-countdown.clock", { until: one.expires_at, of: whole, ...told });
}

/** A step in words, its values boxed; the whole of what is shortened; what became of it. @param {Store} store @param {any} step @param {boolean} approved */
function stepRow(store, step, approved) {
  const parts = step.parts?.length ? step.parts : [["words", step.text]];
  const long = step.arguments.filter((/** @type {any} */ argument) => argument.whole);
  return el("li", {}, el("div", {},
    parts.map((/** @type {[string, string]} */ [kind, text]) => (kind === "value" ? el("span.arg", {}, text) : text)),
    long.map((/** @type {any} */ argument) => wholeOf(store, `whole-${step.call}-${argument.name}`, argument)),
    approved && cameTo(store, step)));
}

/** The whole of a value that is shortened. @param {Store} store @param {string} key @param {any} argument */
function wholeOf(store, key, argument) {
  const shown = store.unfolded.has(key);
  return el("div.whole", { "data-key": key },
    el("button.link-btn", { type: "button", "data-act": shown ? "hide" : "show", "data-part": key, "aria-expanded": String(shown) }, shown ? "Show less" : "Show all", unseen(` of ${argument.name}`)),
    shown && el("pre.code", { tabindex: "0" }, argument.whole));
}

/** @param {Store} store @param {any} step */
function cameTo(store, step) {
  if (!step.outcome || step.outcome === "pending_confirmation") return null;
  const [look, mark, word] = outcomeOf(step.outcome);
  return el(`div.came.call--${look}`, {},
    el("p.row", {}, icon(mark, "s"), el("span", {}, word), step.outcome !== "done" && step.because && el("span", {}, step.because)),
    step.result && step.outcome === "done" && brought(store, `brought-${step.call}`, step.result));
}

/** What came back, unfolded where the viewer asks for it. @param {Store} store @param {string} key @param {string} result */
function brought(store, key, result) {
  const shown = store.unfolded.has(key);
  return el("div.whole", { "data-key": key },
    el("button.link-btn", { type: "button", "data-act": shown ? "hide" : "show", "data-part": key, "aria-expanded": String(shown) }, "What came back"),
    shown && definitions(result));
}

/** Why it is asked, and why of this person. @param {Store} store @param {Item} one */
function why(store, one) {
  const you = isViewer(one.for, store.viewer.id);
  const [whom, are] = you ? ["You", "are"] : [one.for.name, "is"];
  const after = isSource(one.origin) ? `Asked after an event from ${sourceName(store, one.origin)}.` : `Asked in a turn for ${nameFor(one.origin, store.viewer.id)}.`;
  const whose = you ? "yours" : `${one.for.name}’s`;
  if (!isSource(one.origin)) return `${after} ${whom} ${are} asked because the turn is ${whose}.`;
  const because = one.origin.verified === "own clock" ? `the timer is ${whose}` : `what it is about was done for ${you ? "you" : one.for.name}`;
  return `${after} ${whom} ${are} asked because ${because}.`;
}

/** @param {Store} store @param {Item} one */
function openFoot(store, one) {
  const { ok, because } = one.may.approve;
  if (!ok) {
    const closed = isViewer(one.for, store.viewer.id) ? because : `Only ${one.for.name} can answer A${one.number}, before ${clock(one.expires_at)}.`;
    return el("footer.ask__foot", {}, el("p", {}, `${closed} A yes in the chat approves nothing.`));
  }
  const key = declineKey(one.id);
  const declining = store.unfolded.has(key);
  return el("footer.ask__foot", { hidden: declining },
    el("p", {}, `Approve runs exactly ${one.steps.length > 1 ? "these steps" : "this step"}, once, in a new turn for you. A yes in the chat approves nothing.`),
    el("div.bar.guard", {},
      el("button.btn", { type: "button", "data-act": "show", "data-id": one.id, "data-part": key, "data-focus": `ad-${one.id}`, "aria-expanded": String(declining), "aria-controls": `af-${one.id}` }, "Decline…"),
      el("button.btn.btn--go", { type: "button", "data-act": "approve", "data-id": one.id }, approves(one.steps.length))));
}

/** @param {number} steps */
const approves = (steps) => (steps === 1 ? "Approve" : steps === 2 ? "Approve both steps" : `Approve all ${steps} steps`);

/** @param {Store} store @param {Item} one */
function declineForm(store, one) {
  const key = declineKey(one.id);
  if (!one.may.decline.ok || !store.unfolded.has(key)) return null;
  return el("form.prop__edit", { id: `af-${one.id}`, "data-form": "decline", "data-id": one.id },
    el("label.label", { for: `ad-${one.id}` }, "Why? Everyone here reads it. It may stay empty."),
    el("input.input", { id: `ad-${one.id}`, name: "reason", maxlength: 500, autocomplete: "off" }),
    el("div.bar.bar--end", {},
      el("button.btn.btn--s.btn--plain", { type: "button", "data-act": "hide", "data-id": one.id, "data-part": key, "data-focus": `a-${one.id}` }, "Cancel"),
      el("button.btn.btn--s", {}, `Decline A${one.number}`)));
}

/** @param {Store} store @param {Item} one */
function ended(store, one) {
  const who = one.decided_by && isViewer(one.decided_by, store.viewer.id) ? "You" : one.decided_by?.name ?? "Nobody";
  switch (one.state) {
    case "approved": return `${who} approved`;
    case "declined": return `${who} declined`;
    case "expired": return one.approved_turn || /start/.test(one.reason) ? "It could not start in time" : "Nobody answered in time";
    case "superseded": return /^A\d+ /.test(one.reason) ? "A newer ask took its place" : "It is set aside";
    default: return "It could not start";
  }
}

/** @param {Store} store @param {Item} one */
function closedFoot(store, one) {
  return el("footer.ask__foot", { id: `ar-${one.id}`, tabindex: "-1" }, el("p", {}, sentences(store, one)));
}

/** @param {Store} store @param {Item} one @returns {(Node | string)[]} */
function sentences(store, one) {
  const at = one.decided_at ? time(one.decided_at) : "";
  const who = one.decided_by && isViewer(one.decided_by, store.viewer.id) ? "You" : one.decided_by?.name ?? "Nobody";
  switch (one.state) {
    case "approved": return [`${who} approved at `, at, `. ${runs(store, one)}`];
    case "declined": return [`${who} declined at `, at, one.reason ? `: “${one.reason}”` : ".", " Nothing was done."];
    case "expired": return ["Ran out at ", at, `. ${one.reason} Nothing was done.`];
    default: return [one.reason, " Nothing was done. ", at];
  }
}

/** @param {Store} store @param {Item} one */
function runs(store, one) {
  const turn = store.get("turn", one.approved_turn);
  if (!one.approved_turn) return "Its steps run next.";
  if (!turn) return "";
  return `${turn.status === "running" ? "It runs" : "Ran"} in T${turn.number} for ${nameFor(turn.for, store.viewer.id)}.`;
}

/** What a screen reader is told as the time of the viewer’s own actions runs out. @param {Store} store */
export function timeLeft(store) {
  return yours(store).map((one) => [one, minutesTold(one.expires_at)]).filter(([, minutes]) => minutes)
    .map(([one, minutes]) => `${minutes} minute${minutes === 1 ? "" : "s"} left for A${one.number}.`).join(" ");
}

/** The open actions that the viewer may approve. @param {Store} store @returns {Item[]} */
export const yours = (store) => store.all("action").filter((one) => one.state === "open" && one.may.approve.ok);

/** Draw anew when the last minutes begin, and when they end. @param {Store} store */
export function redrawAsTimeRuns(store) {
  whenToldAnew(store.all("action").filter((one) => one.state === "open").map((one) => one.expires_at), () => store.changed());
}
