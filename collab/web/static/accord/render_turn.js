/** A turn: whom it works for, what it called, what it says, what it asks, how it ended. */

import { el, icon, prose } from "./dom.js";
import { callRow } from "./render_call.js";
import { acceptAll } from "./render_accept_all.js";
import { actionCard } from "./render_action.js";
import { refusal, time } from "./render_message.js";
import { avatar, forWhom } from "./render_people.js";
import { proposal } from "./render_proposal.js";
import { clock, isViewer, nameFor, toYou } from "./words.js";

/** @typedef {import("./store.js").Item} Item */
/** @typedef {import("./store.js").Store} Store */

/** @param {Store} store @param {Item} turn */
export function turnArticle(store, turn) {
  const running = turn.status === "running";
  return el("article.turn", { id: `t-${turn.id}`, "aria-busy": running ? "true" : null },
    avatar(turn.agent, { for: turn.for }),
    el("div.turn__body", {},
      el("div", {}, head(store, turn), calls(store, turn)),
      says(store, turn),
      store.all("question").filter((question) => question.turn === turn.id).map((question) => questionCard(store, turn, question)),
      store.all("action").filter((one) => one.turn === turn.id).map((one) => actionCard(store, one)),
      store.all("proposal").filter((one) => one.turn === turn.id).map((one) => proposal(store, one)),
      acceptAll(store, turn.id),
      ending(store, turn),
      refusal(store, turn.id)));
}

/** @param {Store} store @param {Item} turn */
function head(store, turn) {
  return el("header.turn__head", {},
    el("span.who", {}, turn.agent.name),
    forWhom(turn.for),
    el("a.turn__id", { href: `/t/${store.threadId}/timeline/#T${turn.number}` }, name(store, turn)),
    turn.status === "running" ? el("span.live", { "data-hue": turn.for?.hue ?? 0 }, doing(store, turn)) : time(turn.started_at));
}

/** @param {Store} store @param {Item} turn */
function name(store, turn) {
  const action = turn.trigger === "approval" && store.all("action").find((one) => one.approved_turn === turn.id);
  if (action) return `T${turn.number}, runs A${action.number}`;
  for (const [verb, of] of [["resumes", turn.resumes], ["continues", turn.continues], ["restarts", turn.restarts], ["revises", turn.revises]]) {
    const earlier = store.get("turn", of);
    if (earlier) return `T${turn.number}, ${verb} T${earlier.number}`;
  }
  return `T${turn.number}`;
}

/** @param {Store} store @param {Item} turn */
function doing(store, turn) {
  if (turn.stop_asked_by) return "stopping";
  return spoken(store, turn).length ? "writing" : "reading";
}

/** A call that only waits for an answer is told by its question. @param {Store} store @param {Item} turn */
function calls(store, turn) {
  const made = store.all("call").filter((call) => call.turn === turn.id && (call.outcome || turn.status !== "paused"));
  return made.length ? el("ul.calls", {}, made.map((call) => callRow(store, call, turn))) : null;
}

/** The blocks a turn has said so far, where they are not posted. @param {Store} store @param {Item} turn @returns {string[]} */
function spoken(store, turn) {
  return store.live.get(turn.id)?.html ?? turn.html ?? [];
}

/** What a turn says: the reply once it is posted, else what it streams. @param {Store} store @param {Item} turn */
function says(store, turn) {
  const reply = store.all("message").find((message) => message.turn === turn.id && message.state !== "cancelled");
  if (reply) return [el("div.reply", { id: `m-${reply.id}` }, prose(reply.html), reply.interrupted && cutOff())];
  const blocks = spoken(store, turn);
  if (!blocks.length) return null;
  const text = el("div.prose", { "data-key": `say-${turn.id}` }, ...blocks.map((html) => prose(html, "div.block")));
  if (turn.status === "running") lastLine(text).append(el("span.caret", { "aria-hidden": "true" }));
  return turn.status === "running" || turn.status === "paused" ? text : [text, cutOff()];
}

/** The innermost block at the end, where the next word will be. @param {Element} node @returns {Element} */
function lastLine(node) {
  const last = node.lastElementChild;
  return last?.matches("div, p, ul, ol, li, blockquote") ? lastLine(last) : node;
}

const cutOff = () => el("p.row", {}, el("span.tag", {}, "interrupted"), "The text ends here.");

/** @param {Store} store @param {Item} turn @param {Item} question */
function questionCard(store, turn, question) {
  const open = question.state === "open";
  return el(open ? "article.quest.quest--open" : "article.quest", {
    id: `q-${question.id}`, tabindex: "-1", "data-hue": question.answered_by?.for?.hue ?? question.answered_by?.hue ?? null, "aria-label": "Question",
  },
    el("p.quest__head", {}, icon("help", "s"), questionState(store, turn, question)),
    el("p.quest__text", {}, question.text),
    open ? openChoices(store, turn, question) : settledChoices(question),
    refusal(store, question.id));
}

/** @param {Store} store @param {Item} turn @param {Item} question */
function questionState(store, turn, question) {
  if (question.state === "open") return `${turn.agent.name} asks, and waits`;
  if (question.state === "dismissed") return "Question, nobody answered";
  return `Question, answered by ${nameFor(question.answered_by, store.viewer.id)} at ${clock(question.at)}`;
}

/** @param {Store} store @param {Item} turn @param {Item} question */
function openChoices(store, turn, question) {
  const may = store.may("start_turn");
  const dismiss = isViewer(turn.for, store.viewer.id) || store.may("manage").ok;
  const buttons = [
    ...(may.ok ? question.choices : []).map((/** @type {string} */ choice) =>
      el("button.btn.btn--s", { type: "button", "data-act": "answer", "data-id": question.id, "data-value": choice }, choice)),
    dismiss && el("button.btn.btn--s.btn--plain", { type: "button", "data-act": "dismiss", "data-id": turn.id }, "Dismiss"),
  ];
  const says = may.ok ? `Or write your answer below. ${turn.agent.name} then works for whoever answers.` : `You can’t answer: ${toYou(may.because, store.viewer.name)}`;
  return [
    may.ok || dismiss ? el("div.bar.guard", {}, buttons) : el("div.choices", {}, question.choices.map((/** @type {string} */ choice) => el("span.choice", {}, choice))),
    el("p.quiet.small", {}, says),
  ];
}

/** @param {Item} question */
function settledChoices(question) {
  const given = question.answer && !question.choices.includes(question.answer) ? [question.answer] : [];
  const all = [...question.choices, ...given];
  if (!all.length) return null;
  return el("div.choices", {}, all.map((choice) => (choice === question.answer
    ? el("span.choice.choice--yes", {}, icon("check", "s"), choice) : el("span.choice", {}, choice))));
}

/** @param {Store} store @param {Item} turn */
function ending(store, turn) {
  if (turn.status !== "failed" && turn.status !== "stopped") return null;
  const stopped = turn.status === "stopped";
  const goesOn = store.all("turn").find((other) => other.continues === turn.id || other.resumes === turn.id);
  const words = goesOn && !stopped ? `${turn.because} It continues as T${goesOn.number}.` : turn.because;
  const again = !goesOn && isViewer(turn.for, store.viewer.id) && store.may("start_turn").ok;
  return el("p.row", {},
    el("span.turn__id", {}, `T${turn.number}`),
    el(stopped ? "span.tag" : "span.tag.tag--no", {}, icon(stopped ? "stop" : "x", "s"), turn.status),
    words,
    again && el("button.btn.btn--s", { type: "button", "data-act": "ask-again", "data-id": turn.id }, "Ask again"));
}
