/**
 * A document's past, inside its pane: a version as it was, a comparison, older versions. Each has a page of its own, and
 * the pane shows that page's part; without scripts the links lead there.
 */

import { el, icon, levelHeadings } from "./dom.js";
import { localTimes } from "./times.js";

const NOT_NOW = "This can’t be shown now.";

export class Parts {
  /** @param {HTMLElement} root the pane @param {() => void} shown called when a part is to be seen */
  constructor(root, shown) {
    this.root = root;
    this.shown = shown;
    /** What is shown in the place of the history. @type {HTMLElement | null} */
    this.part = null;
    root.addEventListener("click", (event) => this.click(event));
    root.addEventListener("submit", (event) => this.compare(event));
  }

  get panel() {
    return this.root.querySelector("#doc-history");
  }

  /** @param {MouseEvent} event */
  click(event) {
    const target = /** @type {Element} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = /** @type {HTMLAnchorElement | null} */ (target.closest("a[data-part], a[data-older]"));
    if (link) event.preventDefault();
    if (link?.hasAttribute("data-part")) this.open(link.href);
    else if (link) this.older(link);
    if (target.closest("[data-part-back]")) this.close(true);
  }

  /** @param {SubmitEvent} event */
  compare(event) {
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (!form.matches("form[data-part]")) return;
    event.preventDefault();
    const asked = new URLSearchParams(/** @type {any} */ (new FormData(form)));
    this.open(`${form.action}?${asked}`);
  }

  /** Show a page's part in the place of the history. @param {string} url */
  async open(url) {
    const { part, because } = await read(url);
    const said = part ? [...part.childNodes] : [refused(because)];
    const back = el("button.btn.btn--s.btn--plain", { type: "button", "data-part-back": true }, icon("left", "s"), "History");
    this.part?.remove();
    this.part = el("div.doc__part", { "data-key": "part" }, el("div.bar", {}, back, el("h3", {}, part?.dataset.title ?? "Not shown")), said);
    localTimes(this.part);
    this.part.querySelectorAll(".paper").forEach(levelHeadings);
    this.put();
    this.shown();
    back.focus();
  }

  /** Show what is to be seen in the pane, or in what the pane is to become. @param {HTMLElement} [root] */
  put(root = this.root) {
    const { part } = this;
    const panel = root.querySelector("#doc-history");
    if (!panel || !part) return;
    for (const child of panel.children) /** @type {HTMLElement} */ (child).hidden = true;
    panel.prepend(root === this.root ? part : part.cloneNode(true));
  }

  /** Show the history again. @param {boolean} [focus] */
  close(focus = false) {
    this.part?.remove();
    this.part = null;
    for (const child of this.panel?.children ?? []) /** @type {HTMLElement} */ (child).hidden = false;
    if (focus) /** @type {HTMLElement | null} */ (this.panel)?.focus();
  }

  /** Add the next step of the history. @param {HTMLAnchorElement} link */
  async older(link) {
    const { part, because } = await read(link.href);
    if (!part) return link.parentElement?.replaceChildren(link, refused(because));
    localTimes(part);
    const rows = [...(part.querySelector("[data-revs]")?.children ?? [])];
    this.root.querySelector("[data-revs]")?.append(...rows);
    const next = part.querySelector("[data-older]")?.parentElement;
    if (next) link.parentElement?.replaceWith(next);
    else link.parentElement?.remove();
    /** @type {HTMLElement | null} */ (rows[0]?.querySelector("a"))?.focus();
  }
}

/** Why a part is not shown. @param {string} because */
const refused = (because) => el("p.refusal", { role: "alert" }, icon("ban"), el("span", {}, because));

/**
 * Fetch a page's part, or the sentence that says why there is none.
 * @param {string} url
 * @returns {Promise<{part: HTMLElement | null, because: string}>}
 */
async function read(url) {
  try {
    const answer = await fetch(url);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const part = page.getElementById("part");
    return { part: part && document.adoptNode(part), because: page.querySelector(".lead")?.textContent ?? NOT_NOW };
  } catch {
    return { part: null, because: NOT_NOW };
  }
}

/**
 * Ask for a pane, unless it is still as the mark says.
 * @param {string} url @param {string} mark
 * @returns {Promise<string | null>} the fragment; "" where nothing changed or nothing is known, null where it can no longer be shown
 */
export async function freshPane(url, mark) {
  const address = new URL(url, location.href);
  if (mark) address.searchParams.set("known", mark);
  // Without a network it stays as it is: what says so is the connection's line.
  const answer = await fetch(address).catch(() => null);
  if (!answer || answer.status === 204 || answer.status >= 500) return "";
  return answer.ok && !answer.redirected ? answer.text() : null;
}

/** The mark of the fragment a pane shows. @param {HTMLElement} root */
export const markOf = (root) => /** @type {HTMLElement | null} */ (root.querySelector("[data-mark]"))?.dataset.mark ?? "";
