/** What every socket of a page has in common: where it is, how long it may be silent, when it is tried again. */

export const PROTOCOL = "accord.v1";
export const PING_AFTER_MS = 25000;
export const LOST_AFTER_MS = 60000;
export const SIGNED_OUT = 4401;
export const MAY_NOT_SEE = 4403;

const TOO_MANY = 4429;
const LONGEST_WAIT_S = 20;

/** The address of a socket. @param {string} path */
export const socketUrl = (path) => `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;

/** How long to wait before trying again: longer each time, and never all at once. @param {number} attempts @param {number} code why it was closed */
export const waitMs = (attempts, code) => 1000 * Math.min(LONGEST_WAIT_S, 2 ** attempts) * (code === TOO_MANY ? 2 : 1) * (0.5 + Math.random() / 2);
