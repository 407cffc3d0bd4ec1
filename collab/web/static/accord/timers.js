/** The timers of a thread: those that wait, each with its next moment, and a form that sets one. */

import { el, icon, morphChildren, unseen } from "./dom.js";
import { refusal } from "./render_message.js";
import { avatar } from "./render_people.js";
import { visible } from "./render_source.js";
import { clock, dayName, isViewer, nameFor } from "./words.js";

/** @typedef {import("./store.js").Item} Item */
/** @typedef {import("./store.js").Store} Store */

/** @type {Record<string, string>} */
const REPEATS = { daily: "every day", weekdays: "on weekdays", weekly: "every week", monthly: "every month" };

/** Which field a refusal belongs to, by a word in it. @type {[RegExp, string][]} */
const FIELDS = [
  [/time zone/, "zone"],
  [/what the timer says/, "text"],
  [/passed|moment|years ahead|day and a time/, "at"],
  [/start a turn|agent/, "does"],
];

/** The reader's own time zone. */
const here = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

export class Timers {
  /** @param {HTMLDialogElement} dialog @param {Store} store @param {import("./socket.js").Connection} connection */
  constructor(dialog, store, connection) {
    this.dialog = dialog;
    this.store = store;
    this.connection = connection;
    this.list = /** @type {HTMLElement} */ (dialog.querySelector("[data-timers]"));
    this.form = /** @type {HTMLFormElement} */ (dialog.querySelector("form"));
    this.opener = /** @type {HTMLElement} */ (document.querySelector("[data-dialog='timers']"));
    this.said = /** @type {HTMLElement} */ (dialog.querySelector("[data-said]"));
    this.more = /** @type {HTMLElement} */ (dialog.querySelector("[data-set]"));
    this.opener.addEventListener("click", () => this.opened());
    this.more.addEventListener("click", () => this.unfold(true));
    dialog.querySelector("[data-unset]")?.addEventListener("click", () => this.unfold(false));
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.set(); });
    this.list.addEventListener("click", (event) => this.pressed(/** @type {Element} */ (event.target)));
    this.zones();
  }

  /** The time zones there are, to choose from while one is typed. */
  zones() {
    const zones = Intl.supportedValuesOf?.("timeZone") ?? [];
    this.dialog.querySelector("datalist")?.replaceChildren(...["UTC", ...zones].map((zone) => el("option", { value: zone })));
  }

  opened() {
    this.said.textContent = "";
    this.unfold(false);
  }

  /** The timers that wait, the next first. @returns {Item[]} */
  get waiting() {
    return this.store.all("timer").filter((timer) => timer.state === "waiting").sort((a, b) => Date.parse(a.due_at) - Date.parse(b.due_at) || a.number - b.number);
  }

  render() {
    const { store, waiting } = this;
    const may = store.may("comment").ok && !store.thread?.archived;
    this.opener.hidden = !store.thread;
    this.opener.setAttribute("aria-label", waiting.length ? `Timers (${waiting.length})` : "Timers");
    morphChildren(this.opener, el("span", {}, icon("clock"), waiting.length ? el("span.count", { "aria-hidden": "true" }, String(waiting.length)) : null));
    morphChildren(this.list, el("ul", {}, waiting.length ? waiting.map((timer) => this.row(timer)) : el("li.nothing", { "data-key": "none" }, el("b", {}, "No timer waits"),
      may ? "A timer tells people something at a moment, or asks the agent." : "Who may write here can set one.")));
    if (!may) this.form.hidden = true;
    this.more.hidden = !may;
    /** @type {HTMLElement} */ (this.more.parentElement).hidden = !this.form.hidden;
    const asks = /** @type {HTMLInputElement | null} */ (this.form.querySelector("[name='does'][value='asks']"));
    if (asks) asks.disabled = !store.may("start_turn").ok || !store.thread?.agent;
    if (asks?.disabled && asks.checked) /** @type {HTMLInputElement} */ (this.form.querySelector("[name='does'][value='tells']")).checked = true;
  }

  /** @param {Item} timer */
  row(timer) {
    const { store } = this;
    const sure = store.unfolded.has(`timer-${timer.id}`);
    const agent = store.thread?.agent?.name ?? "the agent";
    const whose = isViewer(timer.owner, store.viewer.id) ? "yours" : `${timer.owner.name}’s`;
    const setBy = timer.set_by.kind === "person" ? "" : `, set by ${nameFor(timer.set_by, store.viewer.id)}`;
    return el("li.timer", { id: `ti-${timer.id}`, tabindex: "-1" },
      avatar(timer.owner, { size: "s" }),
      el("div.timer__in", {},
        el("p.timer__when", {}, el("b", {}, inItsZone(timer.due_at, timer.zone)), timer.repeats === "never" ? "" : `, ${REPEATS[timer.repeats]}`, el("span.quiet", {}, ` ${timer.zone}`)),
        el("p", {}, visible(timer.text)),
        el("p.quiet.small", {}, `Timer ${timer.number}, ${whose}${setBy}. ${timer.does === "asks" ? `It asks ${agent}, for no one.` : "It tells the people here."}${timer.subject ? ` It is about ${visible(timer.subject)}.` : ""}`),
        sure && el("div.call__sure", { role: "group", "aria-labelledby": `tw-${timer.id}`, "data-key": "sure" },
          el("p", { id: `tw-${timer.id}` }, timer.repeats === "never" ? "It will not fire." : "It will fire no more."),
          el("div.bar.bar--end.guard", {},
            el("button.btn.btn--s.btn--plain", { type: "button", id: `tk-${timer.id}`, "data-keep": timer.id }, "Keep it"),
            el("button.btn.btn--s.btn--no", { type: "button", "data-cancel": timer.id }, `Cancel timer ${timer.number}`))),
        refusal(store, `timer-${timer.id}`)),
      timer.may_cancel && !sure && el("button.btn.btn--s.btn--plain", { type: "button", id: `tc-${timer.id}`, "data-sure": timer.id }, "Cancel…", unseen(` timer ${timer.number}`)));
  }

  /** @param {Element} target */
  pressed(target) {
    const { sure, keep, cancel } = /** @type {HTMLElement | null} */ (target.closest("button"))?.dataset ?? {};
    if (sure) this.ask(sure, true, `tk-${sure}`);
    if (keep) this.ask(keep, false, `tc-${keep}`);
    if (cancel) this.cancel(cancel);
  }

  /** Ask whether it is to be cancelled, or leave it. @param {string} id @param {boolean} on @param {string} focus */
  ask(id, on, focus) {
    this.store.refuse(`timer-${id}`, "");
    this.store.unfold(`timer-${id}`, on);
    this.render();
    document.getElementById(focus)?.focus();
  }

  /** @param {string} id */
  async cancel(id) {
    const number = this.store.get("timer", id)?.number;
    const answer = await this.connection.command("timer_cancel", { timer: id });
    if (!answer.ok) return this.store.refuse(`timer-${id}`, answer.because);
    this.store.unfold(`timer-${id}`, false);
    this.tell(`Timer ${number} is cancelled.`);
  }

  /** Say what was done, where the focus goes. @param {string} words */
  tell(words) {
    this.said.textContent = words;
    this.said.focus();
  }

  /** @param {boolean} on */
  unfold(on) {
    this.form.hidden = !on;
    if (on) {
      this.form.reset();
      this.field("zone").value = here();
      this.refuse("", "");
      this.said.textContent = "";
    }
    this.render();
    if (on) this.field("text").focus();
  }

  /** @param {string} name */
  field(name) {
    return /** @type {HTMLInputElement} */ (this.form.elements.namedItem(name));
  }

  async set() {
    const data = new FormData(this.form);
    const args = Object.fromEntries(["text", "at", "zone", "repeats", "does", "subject"].map((name) => [name, data.get(name)?.toString().trim() ?? ""]));
    if (!args.text) return this.refuse("text", "Write what it says.");
    if (!args.at) return this.refuse("at", "Choose a day and a time.");
    if (this.form.ariaBusy === "true") return;
    this.form.ariaBusy = "true";
    const answer = await this.connection.command("timer_set", args);
    this.form.ariaBusy = null;
    if (!answer.ok) return this.refuse(FIELDS.find(([words]) => words.test(answer.because))?.[1] ?? "", answer.because);
    this.unfold(false);
    this.tell(`Timer ${answer.data.number} is set.`);
  }

  /** Say beside a field, or at the end of the form, why nothing was set; nothing for all is well. @param {string} name @param {string} because */
  refuse(name, because) {
    for (const note of /** @type {NodeListOf<HTMLElement>} */ (this.form.querySelectorAll("[data-note]"))) {
      const says = because && note.dataset.note === name ? because : "";
      note.hidden = !says;
      note.replaceChildren(...(says ? [icon("ban"), el("span", {}, says)] : []));
      const field = note.dataset.note && this.form.elements.namedItem(note.dataset.note);
      if (field instanceof HTMLElement) field.toggleAttribute("aria-invalid", Boolean(says));
    }
    if (because && name && this.form.elements.namedItem(name) instanceof HTMLElement) this.field(name).focus();
  }
}

/** A moment as clocks in its time zone show it; as the reader's do, where their browser does not know the zone. @param {string} iso @param {string} zone */
function inItsZone(iso, zone) {
  try {
    const [there, today] = [wallClock(new Date(iso), zone), wallClock(new Date(), zone)];
    return `${dayName(there.toISOString(), today)}, ${clock(there.toISOString())}`;
  } catch {
    return `${dayName(iso)}, ${clock(iso)} your time`;
  }
}

/** The local date that reads as a moment does in a time zone. @param {Date} at @param {string} zone */
function wallClock(at, zone) {
  const parts = new Intl.DateTimeFormat("en-GB", { timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" }).formatToParts(at);
  const [year, month, day, hour, minute] = ["year", "month", "day", "hour", "minute"].map((type) => Number(parts.find((part) => part.type === type)?.value));
  return new Date(year, month - 1, day, hour, minute);
}
