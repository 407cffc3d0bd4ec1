/** Messages, comments and notices. */

import { el, icon, prose, unseen } from "./dom.js";
import { avatar } from "./render_people.js";
import { datum, isSource, notice as noticeOf } from "./render_source.js";
import { clock } from "./words.js";

/** @typedef {import("./store.js").Item} Item */

/** @param {string} at */
export const time = (at) => el("time", { datetime: at }, clock(at));

/** Why an act on this entity was refused, beside it. @param {import("./store.js").Store} store @param {string} id */
export function refusal(store, id) {
  const because = store.refusals.get(id);
  return because ? el("p.refusal", { role: "alert", "data-key": `no-${id}` }, icon("ban"), el("span", {}, because)) : null;
}

/** A message with its author. @param {import("./store.js").Store} store @param {Item} message */
export function first(store, message) {
  const author = message.author;
  if (isSource(author)) return datum(store, message, message.state === "passed_over" ? message.because ?? "" : "");
  return el("article.msg", { id: `m-${message.id}` },
    avatar(author),
    el("div", {},
      el("header.msg__head", {},
        el("span.who", {}, author.name),
        author.kind === "client" && author.for && el("span.for", { "data-hue": author.for.hue }, `for ${author.for.name}`),
        tag(message),
        time(message.at)),
      prose(message.html),
      message.state === "passed_over" && passedOver(message)));
}

/** A further message of the same author, under the first. @param {import("./store.js").Store} store @param {Item} message */
export function follow(store, message) {
  if (isSource(message.author)) return first(store, message);
  const steer = message.taken_as === "steer";
  return el("article.msg.msg--follow", { id: `m-${message.id}` },
    el("span.msg__gutter", { "aria-hidden": "true" }, steer && icon("join", "s")),
    el("div", {},
      unseen(`${message.author.name}: `),
      prose(message.html),
      el("p.joined", {}, time(message.at), steer && "joined the running turn")));
}

/** @param {Item} message */
function tag(message) {
  if (message.kind === "comment") return el("span.tag", {}, icon("comment", "s"), "comment");
  return null;
}

/** @param {Item} message */
function passedOver(message) {
  return el("p.row", {}, el("span.tag", {}, icon("ban", "s"), "passed over"), message.because ?? "");
}

/** What a source or the system tells people. @param {import("./store.js").Store} store @param {Item} message */
export const notice = (store, message) => noticeOf(store, message, prose(message.html, "div.notice__text"));
