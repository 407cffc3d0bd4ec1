/**
 * The message box. A text stays in it until the server has answered; sent again after a break or a reload it keeps its
 * id, so it is posted once.
 */

import { el, fitHeight, icon } from "./dom.js";
import { nameFor, sameAuthor, toYou } from "./words.js";

/** @typedef {{text: string, kind: string, id: string | null}} Draft */

/** @type {Record<string, string>} What a message of its own author does to the turn that runs, by its policy. */
const IN_FLIGHT = {
  merge: "Joins your running turn",
  queue: "Waits for the next turn",
  restart: "Your turn starts over with it",
  classify: "Your turn first asks what it means for it",
};

export class Composer {
  /**
   * @param {import("./store.js").Store} store @param {import("./socket.js").Connection} connection
   * @param {HTMLFormElement} form @param {HTMLElement} barred
   */
  constructor(store, connection, form, barred) {
    this.store = store;
    this.connection = connection;
    this.form = form;
    this.barred = barred;
    this.field = /** @type {HTMLTextAreaElement} */ (form.querySelector("textarea"));
    this.button = /** @type {HTMLButtonElement} */ (form.querySelector(".send"));
    this.hint = /** @type {HTMLElement} */ (form.querySelector(".composer__hint"));
    this.refusal = /** @type {HTMLElement} */ (form.querySelector("[data-refusal]"));
    // By the person too: who signs in after another in the same tab sends nothing of theirs.
    this.key = `accord.draft.${store.viewer.id}.${store.threadId}`;
    /** @type {string | null} the id of the command that is not answered yet */
    this.sending = null;
    form.addEventListener("submit", (event) => { event.preventDefault(); this.send(); });
    form.addEventListener("change", () => this.render());
    this.field.addEventListener("input", () => { fitHeight(this.field); this.keep(); });
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.send(); }
    });
    connection.addEventListener("state", () => this.render());
    // Where there is no key to press, none is named.
    if (matchMedia("(hover: none)").matches) this.field.placeholder = "Write to everyone here";
    this.restore();
  }

  get kind() {
    return new FormData(this.form).get("kind")?.toString() ?? "message";
  }

  restore() {
    /** @type {Draft | null} */
    const draft = JSON.parse(sessionStorage.getItem(this.key) ?? "null");
    if (!draft) return;
    this.field.value = draft.text;
    this.choose(draft.kind);
    fitHeight(this.field);
    if (draft.id) this.send(draft.id);
  }

  keep() {
    const draft = { text: this.field.value, kind: this.kind, id: this.sending };
    if (draft.text) sessionStorage.setItem(this.key, JSON.stringify(draft));
    else sessionStorage.removeItem(this.key);
  }

  /** @param {string} kind */
  choose(kind) {
    const radio = /** @type {HTMLInputElement | null} */ (this.form.querySelector(`[name="kind"][value="${kind}"]`));
    if (radio && !radio.disabled) radio.checked = true;
  }

  /** Post what is in the box. @param {string} [id] */
  async send(id = crypto.randomUUID()) {
    const text = this.field.value;
    if (this.sending || !text.trim()) return;
    this.sending = id;
    this.refuse("");
    this.keep();
    this.render();
    const answer = await this.connection.command("message_post", { text, kind: this.kind }, id);
    this.sending = null;
    if (answer.ok) this.field.value = "";
    else this.refuse(answer.because);
    fitHeight(this.field);
    this.keep();
    this.render();
  }

  /** Say why nothing was sent, beside the box. @param {string} because */
  refuse(because) {
    const mayComment = this.kind === "message" && this.store.may("comment").ok;
    this.refusal.hidden = !because;
    this.refusal.replaceChildren(...(because ? [
      icon("ban"),
      el("span", {}, `Not sent: ${toYou(because, this.store.viewer.name)} Your text is still in the box. `,
        mayComment && el("button.link-btn", { type: "button", "data-act": "send-as-comment" }, "Send as a comment")),
    ] : []));
  }

  sendAsComment() {
    this.choose("comment");
    this.send();
  }

  render() {
    const [comment, start, thread] = [this.store.may("comment"), this.store.may("start_turn"), this.store.thread];
    const closed = this.connection.state === "closed" || !thread;
    const because = closed ? "" : thread.archived ? "This thread is archived: you can read along, not write." : comment.ok ? "" : `You can read along, not write: ${toYou(comment.because, this.store.viewer.name)}`;
    this.form.hidden = closed || Boolean(because);
    this.barred.hidden = !because;
    this.barred.replaceChildren(icon("lock"), el("span", {}, because));
    this.limit(start.ok && Boolean(thread?.agent), start.because);
    this.field.readOnly = Boolean(this.sending);
    this.button.setAttribute("aria-disabled", String(Boolean(this.sending)));
    this.hint.textContent = this.words();
  }

  /** Only comments, where no turn may be started. @param {boolean} may @param {string} because */
  limit(may, because) {
    const message = /** @type {HTMLInputElement} */ (this.form.querySelector('[name="kind"][value="message"]'));
    message.disabled = !may;
    message.closest("label")?.setAttribute("title", may ? `${this.store.thread?.agent?.name} answers` : because);
    if (!may) this.choose("comment");
  }

  /** What sending does now. */
  words() {
    const agent = this.store.thread?.agent?.name ?? "";
    const turn = this.store.current;
    if (this.sending) return this.connection.state === "offline" ? "Kept here; sent once, when you are back" : "Sending…";
    if (this.kind === "comment") return agent ? `People read it; ${agent} reads it with the next turn` : "Everyone here reads it";
    if (turn?.status === "paused") return `Answers the question; ${agent} then works for you`;
    if (this.store.thread?.answers === "when mentioned") return `${agent} answers when you write @${agent}`;
    if (!turn) return `${agent} answers, working for you`;
    const mine = { kind: "person", id: this.store.viewer.id, name: "", hue: 0, for: null };
    if (!sameAuthor(turn.for, mine)) return `Waits: ${agent} works for ${nameFor(turn.for, this.store.viewer.id)}`;
    const joins = !this.store.waiting.some((message) => !sameAuthor(message.author, mine));
    return (joins && IN_FLIGHT[turn.in_flight]) || "Waits for the next turn";
  }
}
