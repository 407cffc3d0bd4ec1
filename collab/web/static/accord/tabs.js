/** The two tabs of a document: one is shown, one is in the tab order. */

/**
 * Show a tab's panel.
 * @param {HTMLElement} root @param {string} name @param {boolean} [focus] put the focus on the tab
 */
export function showTab(root, name, focus = false) {
  for (const tab of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-tab]"))) {
    const on = tab.dataset.tab === name;
    tab.setAttribute("aria-selected", String(on));
    tab.tabIndex = on ? 0 : -1;
    if (on && focus) tab.focus();
    const panel = document.getElementById(tab.getAttribute("aria-controls") ?? "");
    if (panel) panel.hidden = !on;
  }
}
