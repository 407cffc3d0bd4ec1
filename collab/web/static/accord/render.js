/** Draws the log: the layout's blocks, a heading for each day, in place. */

import { delegation, delegationInShort, delegationLine, redrawWhenOver } from "./delegated.js";
import { el, icon, morphChildren } from "./dom.js";
import { layout } from "./layout.js";
import { acceptAll } from "./render_accept_all.js";
import { actionCard } from "./render_action.js";
import { first, follow, notice, refusal } from "./render_message.js";
import { avatar } from "./render_people.js";
import { proposal } from "./render_proposal.js";
import { isSource, visible } from "./render_source.js";
import { turnArticle } from "./render_turn.js";
import { setTitle } from "./title.js";
import { dayKey, dayName, hueOf, listed, sameAuthor } from "./words.js";

/** @typedef {import("./store.js").Item} Item */
/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./layout.js").Exchange} Exchange */

/**
 * Bring the log up to date with the store.
 * @param {Store} store @param {HTMLElement} root
 */
export function renderLog(store, root) {
  const fresh = el("div");
  if (store.firstSeq > 1) fresh.append(el("button.btn.btn--plain.btn--s.earlier", { type: "button", "data-act": "earlier", "data-key": "earlier" }, "Earlier"), refusal(store, "earlier") ?? "");
  let day = "";
  for (const block of layout(store)) {
    const key = dayKey(block.at);
    if (key !== day) fresh.append(el("h2.day", { "data-key": `day-${key}` }, el("span", {}, dayName(block.at))));
    day = key;
    fresh.append(drawn(store, block));
  }
  const all = acceptAll(store, "thread");
  if (all) fresh.append(all);
  if (!fresh.childElementCount && store.thread) fresh.append(nothing(store));
  morphChildren(root, fresh);
}

/** @param {Store} store @param {import("./layout.js").Block} block */
function drawn(store, block) {
  const node = block.type === "exchange" ? exchange(store, block)
    : block.type === "proposal" ? proposalAside(store, block.entity)
      : block.type === "action" ? actionAside(store, block.entity)
        : single(store, block.entity);
  node.setAttribute("data-key", block.key);
  return node;
}

/** @param {Store} store @param {Exchange} block */
function exchange(store, block) {
  const running = block.parts.some(({ turn }) => turn.status === "running");
  const classes = `section.exchange${block.for ? "" : ".exchange--none"}${running ? ".exchange--live" : ""}`;
  return el(classes, { "data-hue": hueOf(block.for), "aria-label": exchangeName(block, running), tabindex: "-1", "data-stop": true },
    block.parts.map(({ turn, took }) => [...messages(store, took), turnArticle(store, turn)]).flat());
}

/** @param {Exchange} block @param {boolean} running */
function exchangeName(block, running) {
  const authors = block.parts.flatMap(({ took }) => took.map(({ author }) => (isSource(author) ? `Event from ${visible(author.name)}` : author.name)));
  const [{ turn }] = block.parts;
  const work = `${turn.agent.name} (T${turn.number}) for ${turn.for ? turn.for.name : "no one"}${running ? ", running" : ""}`;
  return authors.length ? `${listed([...new Set(authors)])}, and ${work}` : work;
}

/** @param {Store} store @param {Item[]} took */
function messages(store, took) {
  return took.map((message, place) => (place && sameAuthor(took[place - 1].author, message.author) ? follow(store, message) : first(store, message)));
}

/** @param {Store} store @param {Item} message */
function single(store, message) {
  if (message.kind === "notice") return notice(store, message);
  return el("div.exchange.exchange--plain", { "data-hue": hueOf(message.author), tabindex: "-1", "data-stop": true }, first(store, message));
}

/** @param {Store} store @param {Item} one */
function proposalAside(store, one) {
  return el("div.aside", { "data-hue": hueOf(one.proposer), tabindex: "-1", "data-stop": true },
    avatar(one.proposer, { size: "m" }), proposal(store, one));
}

/** An action whose turn is not shown. @param {Store} store @param {Item} one */
function actionAside(store, one) {
  return el("div.aside", {}, el("span.av.av--source.av--m", { "aria-hidden": "true" }, icon("clock", "s")), actionCard(store, one));
}

/** @param {Store} store */
function nothing(store) {
  const agent = store.thread?.agent?.name;
  return el("div.nothing", { "data-key": "nothing" },
    el("b", {}, "Nothing here yet"),
    agent ? `Write to everyone here. ${agent} works for one person at a time, and may do only what that person may do.` : "Write to everyone here.");
}

/**
 * Bring the head up to date: title, how the agent changes documents, what the page is called.
 * @param {Store} store @param {Document} page
 */
export function renderHead(store, page) {
  const thread = store.thread;
  setTitle(`${thread ? thread.title : "Closed"} · Accord`, store.unread > 0);
  if (!thread) return;
  page.querySelectorAll("[data-thread-title]").forEach((node) => { node.textContent = thread.title; });
  const sub = page.querySelector("[data-thread-mode]");
  const given = delegation(store);
  const words = given && thread.agent ? delegationInShort(thread.agent.name, given) : modeWords(thread);
  if (sub) morphChildren(sub, el("p", {}, el("span", {}, words), thread.archived && el("span.tag", {}, icon("lock", "s"), "archived")));
  const below = page.querySelector("[data-delegated]");
  if (below) morphChildren(below, el("div", {}, delegationLine(store), refusal(store, store.threadId)));
  redrawWhenOver(store);
}

/** @param {Item} thread */
function modeWords(thread) {
  const agent = thread.agent?.name;
  if (!agent) return "People only, no agent";
  const writes = thread.mode === "suggest" ? `${agent} suggests changes; a person accepts them` : `${agent} may change documents`;
  return thread.answers === "when mentioned" ? `${writes}; answers when named` : writes;
}
