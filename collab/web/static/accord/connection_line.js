/** One line under the head that says when the page is not live. */

import { el, icon } from "./dom.js";

const BACK_SHOWN_MS = 4000;

/**
 * Show the connection's state.
 * @param {import("./socket.js").Connection} connection @param {HTMLElement} root an element with role="status"
 */
export function connectionLine(connection, root) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let hide;
  let shown = "";
  connection.addEventListener("state", () => {
    const line = said(connection);
    if (line.key === shown) return tick(connection, root);
    shown = line.key;
    clearTimeout(hide);
    root.replaceChildren(...(line.node ? [line.node] : []));
    tick(connection, root);
    if (connection.state === "back") hide = setTimeout(() => { shown = ""; root.replaceChildren(); }, BACK_SHOWN_MS);
  });
}

/** @param {import("./socket.js").Connection} connection */
function said(connection) {
  switch (connection.state) {
    case "offline":
      return { key: "offline", node: el("p.conn", {}, icon("off"),
        el("span", {}, el("b", {}, "Offline."), " What you write is kept here and sent once, when you are back. ", el("span.num", { "data-retry": true, "aria-hidden": "true" })),
        el("span.spacer"), el("button.btn.btn--plain.btn--s", { type: "button", "data-act": "retry" }, "Try now")) };
    case "back":
      return { key: "back", node: el("p.conn.conn--ok", {}, icon("check"), el("span", {}, el("b", {}, "Back."), ` ${missed(connection.missed)}`)) };
    case "closed":
      return { key: "closed", node: el("p.conn.conn--no", {}, icon("lock"), el("span", {}, el("b", {}, "You can no longer see this thread."), " Ask an owner of the workspace.")) };
    default:
      return { key: "", node: null };
  }
}

/** @param {number} events */
function missed(events) {
  if (!events) return "Nothing happened while you were away.";
  return events === 1 ? "1 event came in while you were away." : `${events} events came in while you were away.`;
}

/** @param {import("./socket.js").Connection} connection @param {HTMLElement} root */
function tick(connection, root) {
  const seconds = Math.max(0, Math.ceil((connection.retryAt - Date.now()) / 1000));
  const at = root.querySelector("[data-retry]");
  if (at) at.textContent = seconds ? `Reconnecting in ${seconds} s.` : "Reconnecting.";
}
