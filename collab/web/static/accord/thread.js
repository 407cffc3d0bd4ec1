/** The thread page: reads what the server embedded, connects, and keeps the page equal to what it knows. */

import { watchActions } from "./actions.js";
import { Composer } from "./composer.js";
import { connectionLine } from "./connection_line.js";
import { watchDialogs } from "./dialogs.js";
import { Pane, watchViews } from "./document.js";
import { morphChildren, el } from "./dom.js";
import { watchKeys } from "./keys.js";
import { watchMenus } from "./menus.js";
import { Pin } from "./pin.js";
import { watchProposals } from "./proposal_acts.js";
import { renderHead, renderLog } from "./render.js";
import { redrawAsTimeRuns, timeLeft } from "./render_action.js";
import { faces, facesLabel } from "./render_people.js";
import { renderStrip } from "./render_strip.js";
import { Place } from "./scroll.js";
import { watchSettings } from "./settings.js";
import { renderSide } from "./side.js";
import { Connection } from "./socket.js";
import { socketUrl } from "./sockets.js";
import { Store } from "./store.js";
import { Timers } from "./timers.js";

const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

const store = new Store(JSON.parse(byId("thread-data").textContent ?? ""));
const connection = new Connection(socketUrl(`/ws/threads/${store.threadId}/`), store);
const composer = new Composer(store, connection, /** @type {HTMLFormElement} */ (byId("composer")), byId("barred"));
const place = new Place(byId("log"), store, connection);
const pin = new Pin(byId("pin"), byId("log"), store);
const timers = new Timers(/** @type {HTMLDialogElement} */ (byId("timers")), store, connection);

function draw() {
  renderLog(store, byId("entries"));
  renderStrip(store, byId("strip"));
  renderHead(store, document);
  renderSide(store);
  const people = el("ul", {}, faces(store));
  morphChildren(byId("faces"), people);
  byId("faces").setAttribute("aria-label", facesLabel(store));
  composer.render();
  timers.render();
  place.follow();
  pin.render();
  say(timeLeft(store));
  redrawAsTimeRuns(store);
}

/** Say to who listens how long the viewer’s actions stand, when that changes. @param {string} left */
function say(left) {
  if (byId("left").textContent !== left) byId("left").textContent = left;
}

watchDialogs();
watchMenus();
watchKeys();
watchViews();
watchSettings(/** @type {HTMLDialogElement} */ (document.getElementById("settings")), store, connection);
connection.addEventListener("state", () => document.body.toggleAttribute("data-closed", connection.state === "closed"));
connectionLine(connection, byId("connection"));
new Pane(byId("pane"), store, connection);
store.subscribe(draw);
watchActions({ store, connection, composer, place, draw });
watchProposals({ store, connection, composer, place, draw });
place.untold(draw);
connection.open();
document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
