/**
 * How much waits for the viewer, on every page: in the title, beside "Inbox" and beside each thread. The server tells it
 * again whenever it changes; what the page was loaded with stands until then.
 */

import { el, unseen } from "./dom.js";
import { LOST_AFTER_MS, PING_AFTER_MS, PROTOCOL, SIGNED_OUT, socketUrl, waitMs } from "./sockets.js";
import { setWaits, shortly } from "./title.js";

/** @typedef {{type: string, count: number, threads: Record<string, number>}} Frame */

let attempts = 0;
let heard = 0;
let frames = 0;
/** @type {WebSocket | undefined} */
let socket;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

function open() {
  clearTimeout(timer);
  const opened = new WebSocket(socketUrl("/ws/inbox/"), PROTOCOL);
  socket = opened;
  frames = 0;
  opened.onopen = () => { heard = Date.now(); };
  opened.onmessage = (message) => {
    if (opened === socket) take(JSON.parse(message.data));
  };
  opened.onclose = (event) => {
    if (opened === socket) lost(event.code);
  };
}

/** @param {Frame} frame */
function take(frame) {
  heard = Date.now();
  frames += 1;
  if (frame.type !== "inbox") return;
  attempts = 0;
  show(frame);
  socket?.send(JSON.stringify({ type: "ack", seq: 0, frames }));
}

/** @param {Frame} frame */
function show({ count, threads }) {
  setWaits(count);
  for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-waits]"))) {
    const number = link.dataset.waits ? threads[link.dataset.waits] ?? 0 : count;
    link.querySelector(".count--accent")?.remove();
    if (number) link.append(el("span.count.count--accent", {}, shortly(number), unseen(" waiting for you")));
  }
  document.dispatchEvent(new CustomEvent("waits"));
}

/** @param {number} code why the socket was closed */
function lost(code) {
  if (code === SIGNED_OUT) return;
  timer = setTimeout(open, waitMs(attempts, code));
  attempts += 1;
}

function tick() {
  if (socket?.readyState !== WebSocket.OPEN) return;
  if (Date.now() - heard > LOST_AFTER_MS) socket.close();
  else if (Date.now() - heard > PING_AFTER_MS) socket.send(JSON.stringify({ type: "ping" }));
}

window.addEventListener("offline", () => socket?.close());
window.addEventListener("online", () => { if (socket?.readyState === WebSocket.CLOSED) open(); });
setInterval(tick, PING_AFTER_MS / 5);
open();
