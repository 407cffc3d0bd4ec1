/** The timeline: the server's rendering of the log, fetched again when an event comes in. */

import { refresh } from "./actions.js";
import { connectionLine } from "./connection_line.js";
import { watchDialogs } from "./dialogs.js";
import { watchKeys } from "./keys.js";
import { Connection } from "./socket.js";
import { socketUrl } from "./sockets.js";
import { Store } from "./store.js";
import { localTimes } from "./times.js";

const FETCH_AFTER_MS = 300;
const NEAR = 80;

const data = document.getElementById("thread-data");
const events = /** @type {HTMLElement} */ (document.getElementById("events"));
const store = new Store(JSON.parse(data?.textContent ?? ""));
const connection = new Connection(socketUrl(`/ws/threads/${store.threadId}/`), store);

const list = /** @type {HTMLElement} */ (document.getElementById("tl"));
const atEnd = () => list.scrollHeight - list.scrollTop - list.clientHeight < NEAR;
const toEnd = () => { list.scrollTop = list.scrollHeight; };

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
connection.addEventListener("event", () => {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    const follow = atEnd();
    await refresh(events, location.href);
    if (follow) toEnd();
  }, FETCH_AFTER_MS);
});
connection.addEventListener("state", () => {
  if (connection.state === "closed") events.replaceChildren();
});

watchDialogs();
watchKeys();
localTimes(document);
if (!location.hash) toEnd();
connectionLine(connection, /** @type {HTMLElement} */ (document.getElementById("connection")));
connection.open();
