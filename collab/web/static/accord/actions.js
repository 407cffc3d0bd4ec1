/** What the buttons of the log and the strip do: one listener, one command each; a refusal is said beside the button. */

import { declineKey } from "./render_action.js";
import { asksToShare, checkedKey } from "./render_call.js";

/**
 * @typedef {{store: import("./store.js").Store, connection: import("./socket.js").Connection,
 *            composer: import("./composer.js").Composer, place: import("./scroll.js").Place, draw: () => void}} Page
 */

/** Which command a button sends. @type {Record<string, (data: DOMStringMap) => [string, Record<string, unknown>]>} */
const COMMANDS = {
  accept: ({ id }) => ["proposal_accept", { proposal: id }],
  withdraw: ({ id }) => ["proposal_withdraw", { proposal: id }],
  cancel: ({ id }) => ["message_cancel", { message: id }],
  stop: ({ id }) => ["turn_stop", { turn: id }],
  answer: ({ id, value }) => ["question_answer", { question: id, answer: value }],
  dismiss: ({ id }) => ["question_dismiss", { turn: id }],
  "ask-again": ({ id }) => ["turn_ask_again", { turn: id }],
  share: ({ id }) => ["call_share", { call: id }],
  approve: ({ id }) => ["action_approve", { action: id }],
  check: ({ id }) => ["call_check", { call: id }],
  repeat: ({ id }) => ["call_repeat", { call: id }],
  undo: ({ id }) => ["call_undo", { call: id }],
  mean: ({ id, value }) => ["message_mean", { message: id, meant: value }],
  "delegation-end": () => ["delegation_end", {}],
};

/** Where the focus goes once an act's event has come in and its button is gone. */
let wanted = "";

/** What was sent and is not answered yet: its button, drawn anew meanwhile, sends nothing more. @type {Set<string>} */
const sent = new Set();

/** Make the page's buttons work. @param {Page} page */
export function watchActions(page) {
  page.store.subscribe(giveFocus);
  for (const moves of ["keydown", "pointerdown"]) document.addEventListener(moves, () => { wanted = ""; }, true);
  document.addEventListener("click", (event) => {
    const button = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-act]"));
    if (!button) return;
    const { act = "" } = button.dataset;
    if (act in COMMANDS) send(page, button);
    else if (act === "show" || act === "hide") toggle(page, button.dataset, act === "show");
    else local(page, act, button.dataset.id ?? "");
  });
  document.addEventListener("submit", (event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    const { form: name, id = "" } = form.dataset;
    if (name !== "reject" && name !== "decline") return;
    event.preventDefault();
    const reason = new FormData(form).get("reason")?.toString() ?? "";
    if (name === "reject") settle(page, id, "proposal_reject", { proposal: id, reason });
    else settle(page, id, "action_decline", { action: id, reason }, declineKey(id));
  });
}

/** @param {Page} page @param {HTMLElement} button */
async function send(page, button) {
  const { act = "", id = "", part } = button.dataset;
  const [name, args] = COMMANDS[act](button.dataset);
  const next = act === "cancel" ? afterCancel(button) : null;
  const answer = await settle(page, id, name, args, part);
  if (answer?.ok && next) next();
  if (answer?.ok && act === "check") page.store.refuse(checkedKey(id), answer.data.outcome === "unknown" ? "Checked just now: it is still not known." : "");
}

/**
 * Send a command about an entity, say why where it is refused, and put the focus on what came of it. While one is not
 * answered, the same sends nothing.
 * @param {Page} page @param {string} id @param {string} name @param {Record<string, unknown>} args
 * @param {string} [part] what is folded again once it is done
 */
export async function settle(page, id, name, args, part = id) {
  const key = `${name} ${id}`;
  if (sent.has(key)) return null;
  sent.add(key);
  page.store.refuse(id, "");
  const answer = await page.connection.command(name, args);
  sent.delete(key);
  // Pressed twice, the second time is told that it was done: that is no refusal to show.
  const done = answer.ok || answer.code === "already_yours";
  if (done) page.store.unfold(part, false);
  else page.store.refuse(id, answer.because);
  if (done) wanted = resultOf(name, id);
  return answer;
}

/** Where what came of a command is said. @param {string} name @param {string} id */
function resultOf(name, id) {
  switch (name.slice(0, name.indexOf("_"))) {
    case "proposal": return `pe-${id}`;
    case "action": return `ar-${id}`;
    case "call": return `ci-${id}`;
    default: return name === "question_answer" ? `q-${id}` : name === "message_cancel" ? "" : "say";
  }
}

/** Only a focus that was lost is given: nobody is pulled away from what they do meanwhile. */
function giveFocus() {
  const target = wanted && document.getElementById(wanted);
  if (!target || document.activeElement !== document.body) return;
  wanted = "";
  target.focus();
}

/** Where the focus goes after Cancel: the next waiting message of one's own, or the message box. @param {HTMLElement} button */
function afterCancel(button) {
  const buttons = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-act='cancel']")]);
  const next = buttons[buttons.indexOf(button) + 1]?.dataset.id;
  return () => /** @type {HTMLElement | null} */ (next && document.querySelector(`#w-${next} button`) || document.getElementById("say"))?.focus();
}

/** @param {Page} page @param {string} act @param {string} id */
function local(page, act, id) {
  switch (act) {
    case "latest": return page.place.latest();
    case "retry": return page.connection.retry();
    case "send-as-comment": return page.composer.sendAsComment();
    case "earlier": return earlier(page);
    case "reject-open": return unfold(page, id, true, `prt-${id}`);
    case "reject-close": return unfold(page, id, false, "");
    case "call-open": return unfold(page, id, true, `co-${id}`);
    case "call-close": return unfold(page, id, false, `co-${id}`);
    case "share-open": return unfold(page, asksToShare(id), true, `cx-${id}`);
    case "share-close": return unfold(page, asksToShare(id), false, `cs-${id}`);
  }
}

/** Show or hide a part of something. @param {Page} page @param {DOMStringMap} data @param {boolean} open */
function toggle(page, { part = "", focus = "" }, open) {
  page.store.unfold(part, open);
  page.draw();
  if (focus) document.getElementById(focus)?.focus();
}

/** @param {Page} page @param {string} id @param {boolean} open @param {string} focus */
function unfold(page, id, open, focus) {
  page.store.unfold(id, open);
  page.draw();
  const back = document.querySelector(`#p-${id} [data-act="reject-open"]`);
  /** @type {HTMLElement | null} */ (focus ? document.getElementById(focus) : back)?.focus();
}

/** @param {Page} page */
async function earlier(page) {
  const { store, place } = page;
  const answer = await fetch(`/t/${store.threadId}/items/?before=${store.firstSeq}`, { headers: { Accept: "application/json" } }).catch(() => null);
  if (!answer?.ok) return store.refuse("earlier", "What came before can’t be loaded now. Try again.");
  store.refuse("earlier", "");
  store.older(await answer.json());
  place.hold(page.draw);
}
