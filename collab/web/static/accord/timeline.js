/** The timeline: the server's rendering of the log, fetched again when an event comes in. */

import { connectionLine } from "./connection_line.js";
import { watchDialogs } from "./dialogs.js";
import { morphChildren } from "./dom.js";
import { watchKeys } from "./keys.js";
import { Connection } from "./socket.js";
import { socketUrl } from "./sockets.js";
import { Store } from "./store.js";
import { localTimes } from "./times.js";

const FETCH_AFTER_MS = 300;
const NEAR = 80;

const data = document.getElementById("thread-data");
/** What is brought up to date: how many events there are, and the events. */
const parts = ["count", "events"].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));
const store = new Store(JSON.parse(data?.textContent ?? ""));
const connection = new Connection(socketUrl(`/ws/threads/${store.threadId}/`), store);

const list = /** @type {HTMLElement} */ (document.getElementById("tl"));
const atEnd = () => list.scrollHeight - list.scrollTop - list.clientHeight < NEAR;
const toEnd = () => { list.scrollTop = list.scrollHeight; };

async function refresh() {
  const answer = await fetch(location.href).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const follow = atEnd();
  for (const part of parts) {
    const fresh = page.getElementById(part.id);
    if (!fresh) continue;
    localTimes(fresh);
    morphChildren(part, document.adoptNode(fresh));
  }
  if (follow) toEnd();
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
connection.addEventListener("event", () => {
  clearTimeout(timer);
  timer = setTimeout(refresh, FETCH_AFTER_MS);
});
connection.addEventListener("state", () => {
  if (connection.state === "closed") parts.forEach((part) => part.replaceChildren());
});

watchDialogs();
watchKeys();
localTimes(document);
if (!location.hash) toEnd();
connectionLine(connection, /** @type {HTMLElement} */ (document.getElementById("connection")));
connection.open();
