/** Names, times and sentences: how the page says things. Pure. */

/** @typedef {import("./store.js").Actor} Actor */

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const two = (/** @type {number} */ n) => String(n).padStart(2, "0");

/** The time of day, 24 hours. @param {string} iso */
export function clock(iso) {
  const at = new Date(iso);
  return `${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** A day's key, in the reader's time zone. @param {string} iso */
export function dayKey(iso) {
  const at = new Date(iso);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** A day as people say it. @param {string} iso @param {Date} [now] */
export function dayName(iso, now = new Date()) {
  const at = new Date(iso);
  const name = `${DAYS[at.getDay()]} ${at.getDate()} ${MONTHS[at.getMonth()]}`;
  if (dayKey(iso) === dayKey(now.toISOString())) return `Today, ${name}`;
  return at.getFullYear() === now.getFullYear() ? name : `${name} ${at.getFullYear()}`;
}

/** A moment, for lists: today only the time. @param {string} iso @param {Date} [now] */
export function when(iso, now = new Date()) {
  return dayKey(iso) === dayKey(now.toISOString()) ? clock(iso) : `${dayName(iso, now)}, ${clock(iso)}`;
}

/** The time of day to the second. @param {string} iso */
export const fullClock = (iso) => `${clock(iso)}:${two(new Date(iso).getSeconds())}`;

/** A length of time: 8:35, or 1:02:09. @param {number} seconds */
export function length(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/**
 * Someone's name, or "you" for the viewer.
 * @param {Actor | null} actor @param {string} viewer the viewer's id
 */
export function nameFor(actor, viewer) {
  if (!actor) return "no one";
  return isViewer(actor, viewer) ? "you" : actor.name;
}

/** Whether an actor is the viewer in person. @param {Actor | null} actor @param {string} viewer */
export const isViewer = (actor, viewer) => actor?.kind === "person" && actor.id === viewer;

/** Whom an actor's act is for, as "Robin for Ana". @param {Actor} actor */
export const inFull = (actor) => (actor.for ? `${actor.name} for ${actor.for.name}` : actor.name);

/** The hue an actor's rail and badge have: that of whom it acts for. @param {Actor | null} actor @returns {number} */
export const hueOf = (actor) => (actor ? (actor.for ? hueOf(actor.for) : actor.hue) : 0);

/**
 * Whether two actors count as one author: the same person, the same client of the same person, or neither for anyone.
 * @param {Actor | null} a @param {Actor | null} b
 */
export const sameAuthor = (a, b) => authorKey(a) === authorKey(b);

/** @param {Actor | null} actor @returns {string} */
function authorKey(actor) {
  if (!actor || actor.kind === "system") return "no one";
  if (actor.kind === "agent") return authorKey(actor.for);
  return `${actor.kind}:${actor.id}:${actor.for?.id ?? ""}`;
}

/** A sentence about someone, said to them: "Vera may only view Plan" reads "you may only view Plan". @param {string} sentence @param {string} name */
export const toYou = (sentence, name) => (sentence.startsWith(`${name} may `) ? `you${sentence.slice(name.length)}` : sentence);

/** "Ana", "Ana and Ben", "Ana, Ben and Vera". @param {string[]} names */
export function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}
