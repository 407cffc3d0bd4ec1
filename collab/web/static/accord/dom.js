/**
 * Building elements, and bringing a tree up to date in place. Text is always set as text; the one place where HTML
 * from the server enters the page is `prose`.
 */

/**
 * Build an element. Null and false children and attributes are left out; `true` is an empty attribute.
 * @param {string} tag may carry classes: "p.row.quiet"
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes]
 * @param {...(Node | string | null | false | undefined | (Node | string | null | false | undefined)[])} children
 * @returns {HTMLElement}
 */
export function el(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const node = document.createElement(name);
  if (classes.length) node.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/**
 * An icon: a mask in the stylesheet, never read aloud.
 * @param {string} name @param {string} [size] "s" for the small one
 */
export const icon = (name, size = "") => el(`i.i${size && ".i--s"}.i-${name}`, { "aria-hidden": "true" });

/** Words for screen readers only. @param {string} text */
export const unseen = (text) => el("span.vh", {}, text);

/**
 * Text that the server rendered and sanitised (collab/web/markdown.py).
 * @param {string} html @param {string} [tag]
 */
export function prose(html, tag = "div.prose") {
  const node = el(tag);
  node.innerHTML = html;
  levelHeadings(node);
  return node;
}

/**
 * Let no heading of a text skip a level, whatever its author wrote: it stands below a heading of the page.
 * @param {ParentNode} node
 */
export function levelHeadings(node) {
  let last = 2;
  for (const heading of node.querySelectorAll("h3, h4, h5, h6")) {
    const level = Number(heading.tagName[1]);
    last = Math.min(level, last + 1);
    if (last !== level) heading.setAttribute("aria-level", String(last));
  }
}

/**
 * Bring `old` to equal `fresh`, keeping what did not change: focus, selection and what someone is typing stay.
 * Children with an id or a data-key are matched by it, others by their place.
 * @param {Node} old @param {Node} fresh
 */
function morph(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== Node.ELEMENT_NODE || old.nodeName !== fresh.nodeName) {
    old.replaceWith(fresh);
    return;
  }
  morphAttributes(/** @type {Element} */ (old), /** @type {Element} */ (fresh));
  morphChildren(/** @type {Element} */ (old), /** @type {Element} */ (fresh));
}

/** @param {Element} parent @param {Element} fresh */
export function morphChildren(parent, fresh) {
  const stays = new Set([...fresh.children].map(keyOf));
  // What goes, goes first: moving what stays before it would take the focus from it.
  for (const child of [...parent.children]) if (keyOf(child) && !stays.has(keyOf(child))) child.remove();
  const keyed = new Map([...parent.children].map((child) => [keyOf(child), child]));
  let at = parent.firstChild;
  for (const child of [...fresh.childNodes]) {
    const key = keyOf(child);
    // Text before what stays goes, rather than what stays being moved, which would take the focus too.
    while (key && keyed.has(key) && at?.nodeType === Node.TEXT_NODE) at = gone(at);
    const match = key ? keyed.get(key) : at && !keyOf(at) && at.nodeName === child.nodeName ? at : null;
    if (!match) {
      parent.insertBefore(child, at);
      continue;
    }
    if (match === at) at = at.nextSibling;
    else parent.insertBefore(match, at);
    morph(match, child);
  }
  while (at) at = gone(at);
}

/** Remove a node, and return the one after it. @param {ChildNode} node */
function gone(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

/** The order is kept too, so that a page that lived and one that was just loaded read the same. @param {Element} old @param {Element} fresh */
function morphAttributes(old, fresh) {
  const names = (/** @type {Element} */ node) => node.getAttributeNames().join(" ");
  if (names(old) !== names(fresh)) old.getAttributeNames().forEach((name) => old.removeAttribute(name));
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
}

/** @param {Node} node */
const keyOf = (node) => (node instanceof Element ? node.id || node.getAttribute("data-key") : null);

/**
 * Keep a text field as tall as its text, where the browser does not do it by itself.
 * @param {HTMLTextAreaElement} field
 */
export function fitHeight(field) {
  if (CSS.supports("field-sizing", "content")) return;
  field.rows = Math.min(12, field.value.split("\n").length);
}
