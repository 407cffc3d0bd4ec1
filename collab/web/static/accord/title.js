/** The page's title: how much waits for the viewer, whether something is unread, and what is open. */

const MOST = 99;
const NUMBER = /^\((\d+)\+?\) /;

let waits = Number(NUMBER.exec(document.title)?.[1] ?? 0);
let name = document.title.replace(NUMBER, "");
let unread = false;

/** A number as the page shows it. @param {number} number */
export const shortly = (number) => (number > MOST ? `${MOST}+` : String(number));

/** Say what is open. @param {string} open @param {boolean} hasUnread whether there is something in it that was not seen */
export function setTitle(open, hasUnread) {
  [name, unread] = [open, hasUnread];
  show();
}

/** Say how much waits. @param {number} number */
export function setWaits(number) {
  waits = number;
  show();
}

function show() {
  const title = `${waits ? `(${shortly(waits)}) ` : ""}${unread ? "• " : ""}${name}`;
  if (document.title !== title) document.title = title;
}
