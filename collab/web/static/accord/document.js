/**
 * The document pane: the server's fragment of a document, fetched again when it changes, and a form to write in.
 * A save names the version it was written on; where that one is past, the text stays and the current one is shown.
 */

import { Editing } from "./document_editing.js";
import { Parts, freshPane, markOf } from "./document_parts.js";
import { el, levelHeadings, morphChildren } from "./dom.js";
import { showTab } from "./tabs.js";
import { localTimes } from "./times.js";

const FETCH_AFTER_MS = 120;
const WAIT_MS = 1000;
const LOOK_EVERY_MS = 10_000;

/** Which command a form of the pane sends. @type {Record<string, (data: FormData) => [string, Record<string, unknown>]>} */
const COMMANDS = {
  save: (data) => ["document_save", {
    text: data.get("text"), base_version: Number(data.get("base_version")), rationale: data.get("rationale") ?? "", propose: data.has("propose"),
  }],
  archive: () => ["document_archive", {}],
  "bring back": () => ["document_restore", {}],
  restore: (data) => ["document_restore_version", {
    version: Number(data.get("version")), base_version: Number(data.get("base_version")), propose: data.has("propose"),
  }],
  policy: (data) => ["document_policy_set", { policy: data.get("policy") }],
};

export class Pane {
  /**
   * @param {HTMLElement} root @param {import("./store.js").Store} store
   * @param {import("./socket.js").Connection} connection
   */
  constructor(root, store, connection) {
    this.root = root;
    this.store = store;
    this.connection = connection;
    this.shown = root.dataset.document ?? "";
    this.focus = store.thread?.focus ?? null;
    this.known = this.signature();
    this.tab = "now";
    this.drawn = this.shown;
    this.sending = false;
    this.writers = new Editing(connection, () => this.live());
    this.parts = new Parts(root, () => this.show("history"));
    localTimes(root);
    root.querySelectorAll(".paper").forEach(levelHeadings);
    root.addEventListener("click", (event) => this.click(/** @type {Element} */ (event.target)));
    root.addEventListener("keydown", (event) => this.key(event));
    root.addEventListener("submit", (event) => this.submit(event));
    document.addEventListener("click", (event) => this.open(event));
    connection.addEventListener("document", (event) => {
      if (/** @type {CustomEvent} */ (event).detail.document === this.shown) this.later();
    });
    store.subscribe(() => this.look());
    setInterval(() => this.lookElsewhere(), LOOK_EVERY_MS);
  }

  get form() {
    return /** @type {HTMLFormElement | null} */ (this.root.querySelector("form[data-form='save']"));
  }

  get editing() {
    return Boolean(this.form && !this.form.hidden);
  }

  /** What the fragment shows, in short: when it differs, the fragment is old. */
  signature() {
    const { version, title, archived, policy, open_proposals: open } = this.store.get("document", this.shown) ?? {};
    return JSON.stringify([this.shown, version, title, archived, policy, open, this.store.thread?.focus, this.store.thread?.archived]);
  }

  look() {
    const focus = this.store.thread?.focus ?? null;
    if (!this.store.thread) return this.root.replaceChildren();
    if (focus && focus !== this.focus && (!this.shown || this.shown === this.focus)) this.shown = focus;
    this.focus = focus;
    if (this.signature() !== this.known) this.later();
  }

  /** Fetch soon, once for a burst of changes. @param {number} [ms] */
  later(ms = FETCH_AFTER_MS) {
    this.known = this.signature();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.fetch(), ms);
  }

  url() {
    return `/documents/${this.shown}/pane/?thread=${this.store.threadId}`;
  }

  /** A document that the thread does not follow rings no bell here: ask for it now and then. */
  async lookElsewhere() {
    if (!this.shown || !this.store.thread || document.hidden || this.root.querySelector("[data-follows], details[open]")) return;
    this.draw(this.shown, await freshPane(this.url(), markOf(this.root)));
  }

  async fetch() {
    const { shown } = this;
    if (shown) this.draw(shown, await freshPane(this.url(), ""));
  }

  /** @param {string} shown the document the fragment is of @param {string | null} html */
  draw(shown, html) {
    if (shown !== this.shown || html === "") return;
    if (this.editing) return this.note("It changed meanwhile. Saving tells you how.");
    // Nothing moves under the hand: with a menu open it is drawn once that is closed.
    if (shown === this.drawn && this.root.querySelector("details[open]")) return this.later(WAIT_MS);
    if (shown !== this.drawn) this.parts.close();
    this.drawn = shown;
    const fresh = el("div");
    fresh.innerHTML = html ?? "<p class=\"nothing\">This document can’t be shown.</p>";
    localTimes(fresh);
    fresh.querySelectorAll(".paper").forEach(levelHeadings);
    this.parts.put(fresh);
    morphChildren(this.root, fresh);
    this.live();
    this.show(this.tab);
  }

  /** Say who else writes in it. */
  live() {
    this.writers.render(/** @type {HTMLElement | null} */ (this.root.querySelector("[data-live]")), this.shown);
  }

  /** A link to a document opens it here. @param {MouseEvent} event */
  open(event) {
    const link = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-open-document]"));
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || this.editing) return;
    event.preventDefault();
    this.shown = link.dataset.openDocument ?? "";
    this.later();
    document.body.classList.add("app--doc");
    press("document");
  }

  /** @param {Element} target */
  click(target) {
    const tab = /** @type {HTMLElement | null} */ (target.closest("[data-tab]"));
    if (tab) this.show(tab.dataset.tab ?? "now");
    const act = /** @type {HTMLElement | null} */ (target.closest("[data-pane]"))?.dataset.pane;
    if (act === "edit") this.edit(true);
    if (act === "cancel") this.edit(false);
    if (act === "focus") this.offer(/** @type {HTMLElement} */ (target.closest("p")));
  }

  /** Show this document to everyone. @param {HTMLElement} line which offers it, and says why not */
  async offer(line) {
    const answer = await this.connection.command("thread_focus_set", { document: this.shown });
    this.note(answer.ok ? "" : answer.because, line);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const tab = /** @type {Element} */ (event.target).closest("[role='tab']");
    if (!tab || !["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    this.show(this.tab === "now" ? "history" : "now", true);
  }

  /** @param {string} name @param {boolean} [focus] */
  show(name, focus = false) {
    this.tab = name;
    showTab(this.root, name, focus);
  }

  /** @param {boolean} on */
  edit(on) {
    const form = this.form;
    if (!form) return;
    const leaves = form.contains(document.activeElement);
    form.hidden = !on;
    this.root.toggleAttribute("data-editing", on);
    this.writers.say(on ? this.shown : null);
    if (on) {
      this.show("now");
      form.querySelector("textarea")?.focus();
    } else {
      form.reset();
      if (leaves) /** @type {HTMLElement | null} */ (this.root.querySelector("[data-pane='edit']"))?.focus();
      this.later();
    }
  }

  /** Every form of the pane is a command; a refusal is said in the form. @param {SubmitEvent} event */
  async submit(event) {
    const form = /** @type {HTMLFormElement} */ (event.target);
    const { form: act = "" } = form.dataset;
    if (!(act in COMMANDS)) return;
    event.preventDefault();
    if (this.sending) return;
    const [name, args] = COMMANDS[act](new FormData(form, event.submitter));
    this.note("", form);
    this.sending = true;
    const answer = await this.connection.command(name, { document: this.shown, ...args });
    this.sending = false;
    if (answer.ok) return act === "save" ? this.edit(false) : this.done(act);
    this.note(act === "save" ? `Not saved: ${answer.because}` : answer.because, form);
    if (act === "save" && answer.code === "conflict") await this.conflict(form);
  }

  /** Fold what asked for an act, and show what came of it. @param {string} act */
  done(act) {
    this.root.querySelectorAll("details[open]").forEach((one) => one.removeAttribute("open"));
    if (act === "restore") {
      this.parts.close();
      this.show("now");
    }
    /** @type {HTMLElement | null} */ (this.root.querySelector("h2"))?.focus();
    this.later();
  }

  /** Show the current text beside what was written; saving again is on that one. @param {HTMLFormElement} form */
  async conflict(form) {
    const html = await freshPane(this.url(), "");
    if (!html) return;
    const page = new DOMParser().parseFromString(html, "text/html");
    const current = /** @type {HTMLFormElement | null} */ (page.querySelector("form[data-form='save']"));
    if (!current) return;
    const base = /** @type {HTMLInputElement} */ (form.elements.namedItem("base_version"));
    form.dataset.version = base.value = current.dataset.version ?? "";
    const field = el("textarea.input.mono", { readonly: true, rows: 8, "aria-label": "The current text" });
    /** @type {HTMLTextAreaElement} */ (field).value = current.querySelector("textarea")?.value ?? "";
    form.querySelector("[data-current]")?.replaceChildren(el("p.label", {}, `The current text, version ${current.dataset.version}`), field);
    const save = form.querySelector("[data-save]");
    if (save) save.textContent = `Save over version ${current.dataset.version}`;
  }

  /** @param {string} text @param {HTMLElement | null} [form] */
  note(text, form = this.form) {
    const line = /** @type {HTMLElement | null | undefined} */ (form?.querySelector("[data-note]"));
    if (!line) return;
    line.textContent = text;
    line.hidden = !text;
  }
}

/** Press a tab of the small screens, which hides the conversation or the document. @param {string} view */
function press(view) {
  /** @type {HTMLElement | null} */ (document.querySelector(`[data-show='${view}']`))?.click();
}

/** The document pane on wide screens, the tabs on small ones; a link into the conversation shows it there. */
export function watchViews() {
  document.addEventListener("click", (event) => {
    const target = /** @type {Element} */ (event.target);
    const show = /** @type {HTMLElement | null} */ (target.closest("[data-show]"))?.dataset.show ?? (target.closest("a[href^='#']") && "conversation");
    if (show) {
      document.body.dataset.view = show;
      document.querySelectorAll("[data-show]").forEach((tab) => {
        if (tab.getAttribute("data-show") === show) tab.setAttribute("aria-current", "page");
        else tab.removeAttribute("aria-current");
      });
    }
    if (target.closest("[data-act='toggle-document']")) {
      const on = document.body.classList.toggle("app--doc");
      target.closest("[data-act='toggle-document']")?.setAttribute("aria-pressed", String(on));
    }
  });
}
