/** Dialogs, and the small-screen menu: they hold the focus, close on Esc and give it back. */

/** Open a dialog. @param {string} id */
export function openDialog(id) {
  const dialog = /** @type {HTMLDialogElement | null} */ (document.getElementById(id));
  if (!dialog || dialog.open) return;
  dialog.showModal();
  /** @type {HTMLElement | null} */ (dialog.querySelector("[autofocus]"))?.focus();
}

/** Make every control that opens or closes a dialog work. */
export function watchDialogs() {
  /** @type {EventTarget | null} where the press that a click ends has begun: text selected to beyond a dialog closes none */
  let pressed = null;
  document.addEventListener("pointerdown", (event) => { pressed = event.target; }, true);
  document.addEventListener("click", (event) => {
    const target = /** @type {Element} */ (event.target);
    const opener = target.closest("[data-dialog]");
    if (opener) openDialog(opener.getAttribute("data-dialog") ?? "");
    if (target.closest("[data-close]")) target.closest("dialog")?.close();
    if (target instanceof HTMLDialogElement && target === pressed) target.close();
    if (target.closest("[data-menu-button]")) toggleMenu();
    else if (document.body.hasAttribute("data-menu") && (!target.closest(".side") || target.closest("[data-open-document]"))) toggleMenu(false);
    const copy = target.closest("[data-copy]");
    if (copy) copyText(copy);
  });
  document.addEventListener("keydown", (event) => {
    if (!document.body.hasAttribute("data-menu")) return;
    if (event.key === "Escape") toggleMenu(false);
    if (event.key === "Tab") keepInside(event, /** @type {HTMLElement} */ (document.querySelector(".side")));
  });
  watchGoTo();
}

/** @param {boolean} [open] */
function toggleMenu(open = !document.body.hasAttribute("data-menu")) {
  document.body.toggleAttribute("data-menu", open);
  const button = /** @type {HTMLElement | null} */ (document.querySelector("[data-menu-button]"));
  button?.setAttribute("aria-expanded", String(open));
  if (open) /** @type {HTMLElement | null} */ (document.querySelector(".side a"))?.focus();
  else button?.focus();
}

/** @param {KeyboardEvent} event @param {HTMLElement} box */
function keepInside(event, box) {
  const stops = /** @type {HTMLElement[]} */ ([...box.querySelectorAll("a[href], button")]);
  const [first, last] = [stops[0], stops[stops.length - 1]];
  if (event.shiftKey && document.activeElement === first) { event.preventDefault(); last.focus(); }
  else if (!event.shiftKey && document.activeElement === last) { event.preventDefault(); first.focus(); }
}

/** @param {Element} button */
async function copyText(button) {
  const field = /** @type {HTMLInputElement | null} */ (document.getElementById(button.getAttribute("data-copy") ?? ""));
  if (!field) return;
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    button.textContent = "Copied";
  } catch {
    // Only a page with a secure address may; the link is selected.
    button.textContent = "Press Ctrl C";
  }
}

/** A row of the list. @param {string} href @param {string} text */
function goRow(href, text) {
  const row = document.createElement("li");
  const link = document.createElement("a");
  link.href = href;
  link.textContent = text;
  row.append(link);
  return row;
}

/** Where what is typed is searched for. @param {string} typed */
function searchRows(typed) {
  const search = /** @type {HTMLAnchorElement | null} */ (document.querySelector(".side [data-search]"));
  return search && typed ? [goRow(`${search.href}?${new URLSearchParams({ q: typed })}`, `Search for “${typed}”`)] : [];
}

/** "Go to…": the sidebar's own links, narrowed by what is typed; then a search for it. */
function watchGoTo() {
  const dialog = /** @type {HTMLDialogElement | null} */ (document.getElementById("go-to"));
  const [field, list] = [dialog?.querySelector("input"), dialog?.querySelector("ul")];
  if (!dialog || !field || !list) return;
  const fill = () => {
    const typed = field.value.trim();
    const wanted = typed.toLocaleLowerCase();
    const links = /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll(".side [data-go]")]);
    const named = links.filter((link) => (link.dataset.go ?? "").toLocaleLowerCase().includes(wanted));
    list.replaceChildren(...named.map((link) => goRow(link.href, link.dataset.go ?? "")), ...searchRows(typed));
  };
  field.addEventListener("input", fill);
  dialog.addEventListener("focusin", () => { if (!list.childElementCount && !field.value) fill(); });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); list.querySelector("a")?.click(); }
  });
}
