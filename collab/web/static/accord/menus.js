/** Menus that are <details>: they close on Esc, on a press elsewhere, and when another opens. */

const OPEN = "details.menu[open]";

/** Make every menu of the page close. */
export function watchMenus() {
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll(OPEN)) {
      if (!menu.contains(/** @type {Node} */ (event.target))) menu.removeAttribute("open");
    }
  });
  document.addEventListener("keydown", (event) => {
    const menu = document.querySelector(OPEN);
    if (event.key !== "Escape" || !menu) return;
    event.stopImmediatePropagation();
    menu.removeAttribute("open");
    menu.querySelector("summary")?.focus();
  });
}
